package worktree

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/lathe-agent/lathe"
)

// Report says what a tree changed, and what a merge does with it.
type Report struct {
	Name      string          `json:"name"`
	Branch    string          `json:"branch,omitempty"`
	Path      string          `json:"path"`
	Origin    string          `json:"origin"`
	Session   lathe.SessionID `json:"session,omitempty"` // that records the merge
	Files     []Merge         `json:"files"`
	Conflicts int             `json:"conflicts"`
	Tests     []TestRun       `json:"tests"`
	// Meanwhile are files of the tree that the user changed too since it was made.
	Meanwhile []string `json:"changed_meanwhile"`
	// Siblings are other trees with changes in the same files.
	Siblings map[string][]string `json:"siblings"`
}

// TestRun is a test command that ran in a tree. Exit is nil if it did not end.
type TestRun struct {
	Command string `json:"command"`
	Exit    *int   `json:"exit"`
}

// NewReport returns the report of a plan.
func NewReport(t *Tree, plan []Merge) Report {
	r := Report{Name: t.Name, Branch: t.Branch, Path: t.Path, Origin: t.Origin, Files: plan, Siblings: map[string][]string{}, Tests: []TestRun{}, Meanwhile: []string{}}
	if plan == nil {
		r.Files = []Merge{}
	}
	for _, m := range plan {
		if m.Outcome == Conflict {
			r.Conflicts++
		}
		if m.Outcome != Take {
			r.Meanwhile = append(r.Meanwhile, m.Path)
		}
	}
	return r
}

// AddSibling notes which of the files another tree changed too.
func (r *Report) AddSibling(name string, changes []Change) {
	own := map[string]bool{}
	for _, m := range r.Files {
		own[m.Path] = true
	}
	for _, c := range changes {
		if own[c.Path] {
			r.Siblings[name] = append(r.Siblings[name], c.Path)
		}
	}
}

// Text is the report for people and models.
func (r Report) Text() string {
	var b strings.Builder
	if len(r.Files) == 0 {
		return "Worktree " + r.Name + " has no changes.\n"
	}
	fmt.Fprintf(&b, "Worktree %s: %s, %s.\n", r.Name, count(len(r.Files), "changed file"), count(r.Conflicts, "conflict"))
	for _, m := range r.Files {
		fmt.Fprintf(&b, "  %-9s %s", m.Status, m.Path)
		switch {
		case m.Outcome == Conflict && m.Marked:
			fmt.Fprintf(&b, "  CONFLICT: %s; the file has conflict markers", m.Reason)
		case m.Outcome == Conflict:
			fmt.Fprintf(&b, "  CONFLICT: %s; your file is unchanged", m.Reason)
		case m.Outcome != Take:
			fmt.Fprintf(&b, "  (%s)", m.Outcome)
		}
		b.WriteString("\n")
	}
	for _, t := range r.Tests {
		exit := "did not end"
		if t.Exit != nil {
			exit = fmt.Sprintf("exit code %d", *t.Exit)
		}
		fmt.Fprintf(&b, "Test: %s (%s)\n", t.Command, exit)
	}
	if len(r.Meanwhile) > 0 {
		fmt.Fprintf(&b, "Also changed in your checkout meanwhile: %s\n", strings.Join(r.Meanwhile, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Siblings)) {
		fmt.Fprintf(&b, "Also changed in worktree %s: %s\n", name, strings.Join(r.Siblings[name], ", "))
	}
	return b.String()
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Diff shows what a tree changed since it was made, file by file.
func (t *Tree) Diff(ctx context.Context) ([]lathe.FileDiff, error) {
	changes, err := t.Changes(ctx)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(t.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out := []lathe.FileDiff{}
	for _, c := range changes {
		d := lathe.FileDiff{File: c.Path, Status: c.Status()}
		if patch, ok := t.patch(c, root); ok {
			d.Patch = patch
			d.Additions, d.Deletions = countLines(patch)
		}
		out = append(out, d)
	}
	return out, nil
}

// patch compares a file with its base; ok is false for contents that are not text.
func (t *Tree) patch(c Change, root *os.Root) (string, bool) {
	var base, now []byte
	var err error
	if c.Base.Mode != 0 {
		if base, err = t.baseContent(c.Base.ID); err != nil {
			return "", false
		}
	}
	if c.Now.Mode != 0 {
		if now, _, err = readAt(root, c.Path); err != nil {
			return "", false
		}
	}
	if isBinary(base) || isBinary(now) || len(base) > maxText || len(now) > maxText {
		return "", false
	}
	from, to := "a/"+c.Path, "b/"+c.Path
	if c.Base.Mode == 0 {
		from = "/dev/null"
	}
	if c.Now.Mode == 0 {
		to = "/dev/null"
	}
	return udiff.Unified(from, to, string(base), string(now)), true
}

// countLines counts added and deleted lines of a unified diff, without its file header.
func countLines(patch string) (added, deleted int) {
	body := false
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "@@"):
			body = true
		case body && line[0] == '+':
			added++
		case body && line[0] == '-':
			deleted++
		}
	}
	return added, deleted
}
