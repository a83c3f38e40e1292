package undo

import "github.com/lathe-agent/lathe"

// Limits for diff texts in a summary, because each update of its message sends them again.
// Counts are always there.
const (
	maxDiff  = 64 << 10  // of one file
	maxDiffs = 512 << 10 // of all
)

// Clip leaves out texts of changes that are too long.
func Clip(diffs []lathe.FileDiff) []lathe.FileDiff {
	out, total := make([]lathe.FileDiff, len(diffs)), 0
	for i, d := range diffs {
		if total += len(d.Patch); len(d.Patch) > maxDiff || total > maxDiffs {
			total -= len(d.Patch)
			d.Patch = ""
		}
		out[i] = d
	}
	return out
}

// Totals counts what diffs change.
func Totals(diffs []lathe.FileDiff) *lathe.SessionSummary {
	s := &lathe.SessionSummary{Files: len(diffs)}
	for _, d := range diffs {
		s.Additions += d.Additions
		s.Deletions += d.Deletions
	}
	return s
}
