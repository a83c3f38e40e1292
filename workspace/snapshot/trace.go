package snapshot

import (
	"slices"
)

// fileChange is one change of a file by a step, from the state before to the state after. A file that
// the user edited during the step has several, and the edits between them are the user's.
type fileChange struct {
	Before state `json:"b"`
	After  state `json:"a"`
	// Made is how many parent directories of the file did not exist before.
	Made int `json:"d,omitempty"`
	// Time is when a tool was about to write it, in nanoseconds; 0 for changes by a command.
	Time int64 `json:"t,omitempty"`

	from, to uint64 // sequence numbers of the two states
}

// trace collects all changes of a step to one file.
type trace struct {
	changes []fileChange
	open    *fileChange // captured and not yet written
}

// add adds a change. Changes that overlap in time become one, because a tool and a command of one step
// may write the same file concurrently.
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

// withoutUndone drops changes that were undone before the next one began, as by a rewind of the files and a new prompt.
func withoutUndone(changes []fileChange) (out []fileChange) {
	for _, c := range changes {
		for i := len(out) - 1; i >= 0 && !out[len(out)-1].After.same(c.Before); i-- {
			if out[i].Before.same(c.Before) {
				out = out[:i]
				break
			}
			if i > 0 && !out[i-1].After.same(out[i].Before) {
				break // the states between the two are not known
			}
		}
		out = append(out, c)
	}
	return out
}

// netChanges joins changes that directly follow each other, and drops those that end where they began.
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
