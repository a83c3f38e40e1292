package snapshot

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gittest"
)

// What the user did to a file is never lost: a conflict, or a stop at the user's version.
func TestUndo_UserEdits(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	for _, name := range []string{"after", "between", "within", "deleted", "same"} {
		b.write(name, "first\n")
	}
	one := b.step()
	for _, name := range []string{"after", "between", "within", "deleted", "same"} {
		b.tool(one, name, func() { b.write(name, "agent 1\n") })
	}
	b.write("within", "user\n")
	b.tool(one, "within", func() { b.write("within", "user and agent\n") })
	first := b.end(one)
	b.write("between", "user\n")
	two := b.step()
	b.tool(two, "between", func() { b.write("between", "user and agent\n") })
	second := b.end(two)
	b.write("after", "user\n")
	b.remove("deleted")
	b.write("same", "first\n") // the user took it back by hand

	plan := must2(b.work.Undo(t.Context(), []StepRef{first, second}))(t)
	got := map[string]string{}
	for _, c := range plan.Changes {
		got[b.rels([]string{c.Path})[0]] = c.Conflict + c.Note
	}
	note := "someone else edited it between the steps, so it goes back to that edit and no further"
	want := map[string]string{"after": whyChanged, "deleted": whyChanged, "between": note, "within": note}
	if !maps.Equal(got, want) {
		t.Errorf("plan %q, want %q", got, want)
	}
	b.apply("ses", plan)
	files := map[string]string{"after": "user\n", "between": "user\n", "within": "user\n", "same": "first\n"}
	if got := b.files(); !maps.Equal(got, files) {
		t.Errorf("after undo %q, want %q", got, files)
	}
	// Conflicts stay conflicts, and nothing else is left to do.
	plan = must2(b.work.Undo(t.Context(), []StepRef{first, second}))(t)
	for _, c := range plan.Changes {
		if c.Conflict == "" {
			t.Errorf("a second undo would change %+v", c)
		}
	}
}

// Changes that were undone before the next step, as by a rewind of the files, are no edits of someone else.
func TestUndo_UndoneBefore(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "first\n")
	b.write("b", "first\n")
	write := func(name, text string) StepRef {
		st := b.step()
		b.tool(st, name, func() { b.write(name, text) })
		return b.end(st)
	}
	steps := []StepRef{write("a", "1\n"), write("a", "2\n"), write("b", "1\n"), write("b", "2\n")}
	b.write("a", "1\n")
	b.write("b", "user\n")
	steps = append(steps, write("a", "3\n"), write("b", "3\n"))
	plan := must2(b.work.Undo(t.Context(), steps))(t)
	b.apply("ses", plan)
	if got, want := b.files(), map[string]string{"a": "first\n", "b": "user\n"}; !maps.Equal(got, want) {
		t.Errorf("after undo %q, want %q", got, want)
	}
}

// A file that changes between the plan and its doing is left alone, and the others are not.
func TestApply_LooksAgain(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "first\n")
	b.write("b", "first\n")
	st := b.step()
	b.tool(st, "a", func() { b.write("a", "agent\n") })
	b.tool(st, "b", func() { b.write("b", "agent\n") })
	plan := must2(b.work.Undo(t.Context(), []StepRef{b.end(st)}))(t)
	b.write("a", "user\n")
	applied := b.apply("ses", plan)
	if applied.Changes[0].Conflict == "" || applied.Changes[1].Conflict != "" {
		t.Errorf("applied %+v", applied.Changes)
	}
	if got := b.files(); got["a"] != "user\n" || got["b"] != "first\n" {
		t.Errorf("after undo %q", got)
	}
	if !strings.Contains(applied.Diff, "-agent\n+first") || strings.Contains(applied.Diff, "user") {
		t.Errorf("diff %q", applied.Diff)
	}
	// Also between that look and the replacing.
	b.write("a", "agent\n")
	plan = must2(b.work.Undo(t.Context(), []StepRef{{Key: st.key}}))(t)
	b.store.disk.before = func(op, path string) {
		if op == "stage" {
			b.write(path, "user again\n")
		}
	}
	applied = b.apply("ses", plan)
	b.store.disk.before = nil
	if got := b.files()["a"]; got != "user again\n" || applied.Changes[0].Conflict == "" {
		t.Errorf("after undo %q, %+v", got, applied.Changes)
	}
}

// A plan that was written down in between is as good as one that was not.
func TestApply_PlanFromElsewhere(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "first\n")
	st := b.step()
	b.tool(st, "a", func() { b.write("a", "agent\n") })
	b.tool(st, "n", func() { b.write("n", "agent\n") })
	plan := must2(b.work.Undo(t.Context(), []StepRef{b.end(st)}))(t)
	var bare Plan
	for _, c := range plan.Changes {
		bare.Changes = append(bare.Changes, Change{Path: c.Path, From: c.From, To: c.To})
	}
	b.apply("ses", bare)
	if got := b.files(); !maps.Equal(got, map[string]string{"a": "first\n"}) {
		t.Errorf("after undo %q", got)
	}
}

func TestRedo_AddsUp(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "0\n")
	var done []StepRef
	for i := 1; i <= 3; i++ {
		st := b.step()
		b.tool(st, "a", func() { b.write("a", fmt.Sprintf("%d\n", i)) })
		done = append(done, b.end(st))
	}
	b.undo("ses", done[2])
	b.undo("ses", done[1])
	if got := b.files()["a"]; got != "1\n" {
		t.Fatalf("after two undos %q", got)
	}
	applied := b.redo("ses")
	if got := b.files()["a"]; got != "3\n" {
		t.Errorf("after redo %q, %+v", got, applied)
	}
	if plan := must2(b.work.Redo(t.Context(), "ses"))(t); len(plan.Changes) != 0 {
		t.Errorf("nothing is left to redo: %+v", plan)
	}
	b.undo("ses", done...)
	must(t, b.work.Finalize(t.Context(), "ses"))
	if plan := must2(b.work.Redo(t.Context(), "ses"))(t); len(plan.Changes) != 0 {
		t.Errorf("redo of what is final: %+v", plan)
	}
	if got := b.files()["a"]; got != "0\n" {
		t.Errorf("in the end %q", got)
	}
}

// Old and imported sessions have trees and no records.
func TestUndo_WithoutRecords(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "first\n")
	st := b.step()
	b.tool(st, "a", func() { b.write("a", "agent\n") })
	b.tool(st, "new", func() { b.write("new", "agent\n") })
	done := b.end(st)
	must(t, os.Remove(b.work.t.recordPath(done.Key)))
	unknown := StepRef{Key: "x", Before: done.Before, Files: []string{b.work.t.abs("a"), "/elsewhere/f"}}
	plan := must2(b.work.Undo(t.Context(), []StepRef{unknown}))(t)
	var why []string
	for _, c := range plan.Changes {
		why = append(why, c.Conflict)
	}
	slices.Sort(why)
	if want := []string{whyOutside, whyUnknown}; !slices.Equal(why, want) {
		t.Errorf("conflicts %q, want %q", why, want)
	}
	gone := StepRef{Key: "x", Before: strings.Repeat("1", 40), After: done.After, Files: done.Files}
	if plan := must2(b.work.Undo(t.Context(), []StepRef{gone}))(t); plan.Changes[0].Conflict != whyNotStored {
		t.Errorf("plan %+v", plan)
	}
	b.undo("ses", done)
	if got := b.files(); !maps.Equal(got, map[string]string{"a": "first\n"}) {
		t.Errorf("after undo %q", got)
	}
}

// What a dead step captured long before the file was last written may be the user's.
func TestRecover_LateWrite(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "first\n")
	st := b.work.Step("msg_dead")
	must(t, st.Capture(t.Context(), b.path("a")))
	if got := must2(b.again().work.Recover(t.Context(), "msg_dead"))(t); len(got.Files) != 0 {
		t.Errorf("the step still runs: %+v", got)
	}
	must(t, st.journal.file.Close()) // dead
	b.write("a", "user\n")
	late := time.Now().Add(time.Hour)
	must(t, os.Chtimes(b.path("a"), late, late))
	c := b.again()
	p := must2(c.work.Recover(t.Context(), "msg_dead"))(t)
	plan := must2(c.work.Undo(t.Context(), []StepRef{{Key: "msg_dead", Before: p.Before, After: p.After, Files: p.Files}}))(t)
	if len(plan.Changes) != 1 || plan.Changes[0].Conflict == "" {
		t.Errorf("plan %+v", plan)
	}
	if got := must2(c.work.Recover(t.Context(), "msg_none"))(t); len(got.Files) != 0 || got.Before != "" {
		t.Errorf("nothing is known of it: %+v", got)
	}
}

func TestDiffs(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("mod", "a\nb\nc\n")
	b.write("del", "x\ny\n")
	b.write("bin", "\x00\x01")
	b.write("broken", "1\n2\n")
	one := b.step()
	b.tool(one, "mod", func() { b.write("mod", "a\nB\nc\n") })
	b.tool(one, "new ü", func() { b.write("new ü", "n\n") })
	b.tool(one, "bin", func() { b.write("bin", "\x00\x02") })
	b.tool(one, "broken", func() { b.write("broken", "1\n2\n3\n") })
	b.tool(one, "back", func() { b.write("back", "b\n") })
	first := b.end(one)
	b.write("broken", "user\n1\n2\n3\n")
	two := b.step()
	b.command(two, func() { b.remove("del"); b.remove("back") })
	b.tool(two, "mod", func() { b.write("mod", "a\nB\nc\nd\n") })
	b.tool(two, "broken", func() { b.write("broken", "user\n1\n2\n") })
	second := b.end(two)
	got := must2(b.work.Diffs(t.Context(), []StepRef{first, second}))(t)
	want := []lathe.FileDiff{
		{File: "bin", Status: "modified"},
		{
			File: "broken", Additions: 1, Deletions: 1, Status: "modified",
			Patch: "--- a/broken\n+++ b/broken\n@@ -1,2 +1,3 @@\n 1\n 2\n+3\n--- a/broken\n+++ b/broken\n@@ -1,4 +1,3 @@\n user\n 1\n 2\n-3\n",
		},
		{File: "del", Deletions: 2, Status: "deleted", Patch: "--- a/del\n+++ b/del\n@@ -1,2 +0,0 @@\n-x\n-y\n"},
		{File: "mod", Additions: 2, Deletions: 1, Status: "modified", Patch: "--- a/mod\n+++ b/mod\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n"},
		{File: "new ü", Additions: 1, Status: "added", Patch: "--- a/new ü\n+++ b/new ü\n@@ -0,0 +1 @@\n+n\n"},
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// The operations by the names the wire's specification has for them.
func TestOperations(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "1\n")
	b.write("gone", "1\n")
	tree := must2(b.work.Track(t.Context()))(t)
	b.write("a", "2\n")
	b.write("new", "2\n")
	b.remove("gone")
	p := must2(b.work.Patch(t.Context(), tree))(t)
	if got := b.rels(p.Files); !slices.Equal(got, []string{"a", "gone", "new"}) || p.Before != tree {
		t.Errorf("patch %+v", p)
	}
	diff := must2(b.work.Diff(t.Context(), tree))(t)
	for _, want := range []string{"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n", "deleted file mode 100644", "new file mode 100644"} {
		if !strings.Contains(diff, want) {
			t.Errorf("diff %q has no %q", diff, want)
		}
	}
	full := must2(b.work.DiffFull(t.Context(), tree, p.After))(t)
	if len(full) != 3 || full[0].Status+full[1].Status+full[2].Status != "modifieddeletedadded" {
		t.Errorf("full %+v", full)
	}
	b.apply("restore", must2(b.work.Restore(t.Context(), tree))(t))
	if got := b.files(); !maps.Equal(got, map[string]string{"a": "1\n", "gone": "1\n", "new": "2\n"}) {
		t.Errorf("restore deletes nothing: %q", got)
	}
	b.redo("restore")
	b.apply("revert", must2(b.work.Revert(t.Context(), []Patch{p}))(t))
	if got := b.files(); !maps.Equal(got, map[string]string{"a": "1\n", "gone": "1\n"}) {
		t.Errorf("after revert %q", got)
	}
	if _, err := b.work.Patch(t.Context(), "nonsense"); err == nil {
		t.Error("a tree that is none")
	}
}

// A directory that took the place of a symlink is no conflict once the link is back.
func TestUndo_BelowRestoredLink(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("real/x", "first\n")
	must(t, os.Symlink("real", b.path("way")))
	st := b.step()
	b.command(st, func() {
		b.remove("way")
		b.write("way/x", "agent\n")
	})
	done := b.end(st)
	b.undo("ses", done)
	want := map[string]string{"real/x": "first\n", "way": "-> real"}
	if got := b.files(); !maps.Equal(got, want) {
		t.Fatalf("after undo %q", got)
	}
	for name, plan := range map[string]func() (Plan, error){
		"the same undo":  func() (Plan, error) { return b.work.Undo(t.Context(), []StepRef{done}) },
		"another rewind": func() (Plan, error) { return b.work.ReplanUndo(t.Context(), "ses", []StepRef{done}) },
	} {
		if p := must2(plan())(t); len(p.Changes) != 0 {
			t.Errorf("%s would change %+v", name, p.Changes)
		}
	}
	b.remove("way")
	must(t, os.Symlink("other", b.path("way"))) // a person's link is theirs
	if p := must2(b.work.Undo(t.Context(), []StepRef{done}))(t); len(p.Changes) != 2 || p.Changes[0].Conflict == "" || p.Changes[1].Conflict == "" {
		t.Errorf("with a person's link: %+v", p.Changes)
	}
}
