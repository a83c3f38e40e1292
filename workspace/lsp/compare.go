package lsp

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// MaxLines limits the errors that one report shows.
const MaxLines = 20

// Finding is an error at a place, for people and models.
type Finding struct {
	Path    string // real
	Line    int    // from 1
	Message string
	Server  string
}

// Report is what servers say about changes.
type Report struct {
	// New are errors that were not there before, nearest to the change first; More were left out.
	New  []Finding
	More int
	// Unknown says which results are missing and why, one sentence for each server.
	Unknown []string
	// Clean are the servers that had no answer before and now report no new error.
	Clean []string
	// Diagnostics are all current errors of the changed files, by real path.
	Diagnostics map[string][]Diagnostic
}

// IsEmpty reports whether there is nothing to say.
func (r Report) IsEmpty() bool { return len(r.New) == 0 && len(r.Unknown) == 0 && len(r.Clean) == 0 }

// Text says it to a model. Paths are shown from a directory.
func (r Report) Text(dir string) string {
	var out []string
	if len(r.New) > 0 {
		out = append(out, "New errors since this change:")
		for _, f := range r.New {
			out = append(out, f.text(dir))
		}
		if r.More > 0 {
			out = append(out, fmt.Sprintf("… and %d more", r.More))
		}
	}
	for _, id := range r.Clean {
		out = append(out, id+" has finished: no new errors.")
	}
	return strings.Join(append(out, r.Unknown...), "\n")
}

// text shows a finding in the form that compilers use, which models know well.
func (f Finding) text(dir string) string {
	return fmt.Sprintf("%s:%d: %s", Project{Directory: dir}.rel(f.Path), f.Line, f.Message)
}

// shift moves errors behind a change of lines to where they are after it. Those in the changed lines stay nearby.
func shift(list []Diagnostic, first, removed, added int) []Diagnostic {
	out := slices.Clone(list)
	for i := range out {
		if line := out[i].Range.Start.Line; line >= first+removed {
			out[i].Range.Start.Line += added - removed
			out[i].Range.End.Line += added - removed
		}
	}
	return out
}

// surplus returns the errors of now that have no counterpart among those before: the same message, at the same line
// if there is one, else anywhere in the file.
func surplus(before, now []Diagnostic) []Diagnostic {
	used := make([]bool, len(before))
	match := func(d Diagnostic, sameLine bool) bool {
		for i, b := range before {
			if !used[i] && b.Message == d.Message && (!sameLine || b.Range.Start.Line == d.Range.Start.Line) {
				used[i] = true
				return true
			}
		}
		return false
	}
	rest := slices.Clone(now)
	for _, sameLine := range []bool{true, false} {
		rest = slices.DeleteFunc(rest, func(d Diagnostic) bool { return match(d, sameLine) })
	}
	return rest
}

// byDistance sorts findings: those in the changed files first, nearest to the change, then those of the same folder.
func byDistance(list []Finding, changed map[string]int) {
	rank := func(f Finding) (group, distance int) {
		if line, ok := changed[f.Path]; ok {
			return 0, max(f.Line-line, line-f.Line)
		}
		for path := range changed {
			if filepath.Dir(path) == filepath.Dir(f.Path) {
				return 1, 0
			}
		}
		return 2, 0
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		ga, da := rank(a)
		gb, db := rank(b)
		return cmp.Or(cmp.Compare(ga, gb), cmp.Compare(da, db), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
}

// limit leaves at most MaxLines findings, each once.
func (r *Report) limit(changed map[string]int) {
	byDistance(r.New, changed)
	r.New = slices.CompactFunc(r.New, func(a, b Finding) bool { return a.Path == b.Path && a.Line == b.Line && a.Message == b.Message })
	if over := len(r.New) - MaxLines; over > 0 {
		r.New, r.More = r.New[:MaxLines], r.More+over
	}
}

// unknown is the sentence about results that are missing.
func unknown(id, why string) string {
	return fmt.Sprintf("diagnostics not known yet: %s %s", id, strings.TrimRight(clean(why, maxText), ". "))
}
