package snapshot

import (
	"slices"
)

// fileChange is one change of a file by a step: from what it was to what the step left. A file that the user
// changed while the step went on has more than one, and what lies between them is the user's.
type fileChange struct {
	Before state `json:"b"`
	After  state `json:"a"`
	// Made is how many of the directories above the file were not there before.
	Made int `json:"d,omitempty"`
	// Time is when a tool was about to write it, in nanoseconds; 0 for what a frame found.
	Time int64 `json:"t,omitempty"`

	from, to uint64 // the numbers of the two moments
}

// trace is all that a step did to one file.
type trace struct {
	changes []fileChange
	open    *fileChange // captured and not yet written
}

// add puts a change among the others. Those that overlap in time become one, from the first look to
// the last: a tool and a command of one step may write the same file side by side.
func (tr *trace) add(s fileChange) {
	tr.changes = append(tr.changes, s)
	slices.SortStableFunc(tr.changes, func(a, b fileChange) int { return int(int64(a.from - b.from)) })
	merged := tr.changes[:1]
	for _, next := range tr.changes[1:] {
		last := &merged[len(merged)-1]
		if next.from >= last.to {
			merged = append(merged, next)
			continue
		}
		if next.to > last.to {
			last.After, last.to = next.After, next.to
		}
	}
	tr.changes = merged
}

// netChanges returns what counts: changes that follow each other without anything between are one, and what
// led back to where it began is none.
func netChanges(spans []fileChange) []fileChange {
	var out []fileChange
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && out[last].After.same(s.Before) {
			out[last].After = s.After
			if out[last].Before.same(s.After) {
				out = out[:last]
			}
			continue
		}
		if !s.Before.same(s.After) {
			out = append(out, s)
		}
	}
	return out
}
