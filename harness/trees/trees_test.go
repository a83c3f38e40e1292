package trees

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// A merge keeps what the user did meanwhile, is one step that an undo reverts, and can be repeated after that.
func TestMerge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, err := b.StartWorktree(t.Context(), b.dir, "fix")
	b.ok(err)
	if w.Branch != "lathe/fix" || w.Session == "" || b.read(w.Path, "b.txt") != "b\nuncommitted\n" {
		t.Fatalf("%+v", w)
	}
	b.write(w.Path, "a.txt", "ONE\ntwo\nthree\nfour\nfive\n")
	b.write(w.Path, "new.txt", "new\n")
	b.ok(os.Remove(filepath.Join(w.Path, "b.txt")))
	b.write(b.dir, "a.txt", "one\ntwo\nthree\nfour\nFIVE\n") // meanwhile
	r, err := b.ApplyWorktree(t.Context(), b.dir, "fix", api.WorktreeMerge{DryRun: true})
	if err != nil || r.Changed != 3 || len(r.Conflicts) != 0 || b.read(b.dir, "a.txt") != "one\ntwo\nthree\nfour\nFIVE\n" {
		t.Fatalf("dry run %+v, %v", r, err)
	}
	merged := func() bool {
		_, gone := os.Lstat(filepath.Join(b.dir, "b.txt"))
		_, added := os.Lstat(filepath.Join(b.dir, "new.txt"))
		return b.read(b.dir, "a.txt") == "ONE\ntwo\nthree\nfour\nFIVE\n" && gone != nil && added == nil
	}
	for range 2 {
		r, err = b.ApplyWorktree(t.Context(), b.dir, "fix", api.WorktreeMerge{})
		if err != nil || !merged() || r.Session == "" || !strings.Contains(r.Text, "Also changed in your checkout meanwhile: a.txt") {
			t.Fatalf("%+v, %v", r, err)
		}
		if again, err := b.ApplyWorktree(t.Context(), b.dir, "fix", api.WorktreeMerge{}); err != nil || again.Changed != 0 {
			t.Fatalf("merged twice: %+v, %v", again, err)
		}
		_, _ = b.Engine.Wait(t.Context(), r.Session) // its actor may not be idle yet
		_, err = b.Engine.Undo(t.Context(), r.Session, lathe.Undo{})
		b.ok(err)
		if b.read(b.dir, "a.txt") != "one\ntwo\nthree\nfour\nFIVE\n" || b.read(b.dir, "b.txt") != "b\nuncommitted\n" {
			t.Fatal("the undo left changes")
		}
	}
}

// Conflicts are shown, in the file or in the report, and never decided.
func TestMerge_Conflicts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(b.dir, "data.bin", "\x00old")
	b.write(b.dir, "gone.txt", "text\n")
	w, err := b.StartWorktree(t.Context(), b.dir, "fix")
	b.ok(err)
	for _, dir := range []string{w.Path, b.dir} {
		b.write(dir, "a.txt", "one\n"+filepath.Base(dir)+"\nthree\nfour\nfive\n")
		b.write(dir, "data.bin", "\x00"+filepath.Base(dir))
		b.write(dir, "same.txt", "both wrote this\n")
	}
	b.write(w.Path, "gone.txt", "changed\n")
	b.ok(os.Remove(filepath.Join(b.dir, "gone.txt")))
	r, err := b.ApplyWorktree(t.Context(), b.dir, "fix", api.WorktreeMerge{})
	b.ok(err)
	if want := []string{"a.txt", "data.bin", "gone.txt"}; !slices.Equal(r.Conflicts, want) {
		t.Errorf("conflicts %q; want %q\n%s", r.Conflicts, want, r.Text)
	}
	if got, want := b.read(b.dir, "a.txt"), "one\n<<<<<<< your checkout\napp\n=======\nfix\n>>>>>>> worktree fix\nthree\nfour\nfive\n"; got != want {
		t.Errorf("a.txt %q; want %q", got, want)
	}
	if b.read(b.dir, "data.bin") != "\x00app" {
		t.Error("a binary file was decided")
	}
	if _, err := os.Lstat(filepath.Join(b.dir, "gone.txt")); err == nil {
		t.Error("a deleted file came back")
	}
	page, err := b.Engine.Messages(t.Context(), r.Session, lathe.Position{}, 0)
	b.ok(err)
	if len(page.Messages) != 2 {
		t.Errorf("the session of the merge has %d messages", len(page.Messages))
	}
	if _, err := b.DropWorktree(t.Context(), b.dir, "fix", false); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("a worktree with open conflicts was dropped: %v", err)
	}
}

// Eight trees edit one file: the checkout stays as it is, and each report names the others.
func TestMerge_EightOfOneFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.read(b.dir, "a.txt")
	done := make(chan error, 8)
	for i := range 8 {
		go func() {
			w, err := b.StartWorktree(t.Context(), b.dir, fmt.Sprintf("t%d", i))
			if err == nil {
				err = os.WriteFile(filepath.Join(w.Path, "a.txt"), []byte(strings.Replace(before, "one", fmt.Sprint("one ", i), 1)), 0o644)
			}
			done <- err
		}()
	}
	for range 8 {
		b.ok(<-done)
	}
	if b.read(b.dir, "a.txt") != before {
		t.Error("the checkout changed")
	}
	for i := range 8 {
		r, err := b.ApplyWorktree(t.Context(), b.dir, fmt.Sprintf("t%d", i), api.WorktreeMerge{})
		b.ok(err)
		if conflicts := min(i, 1); len(r.Conflicts) != conflicts || i < 7 && !strings.Contains(r.Text, "Also changed in worktree t7: a.txt") {
			t.Errorf("t%d: %s", i, r.Text)
		}
	}
	text := b.read(b.dir, "a.txt")
	for i := range 8 {
		if !strings.Contains(text, fmt.Sprint("one ", i)) {
			t.Errorf("the change of t%d is lost", i)
		}
	}
	b.git.Run(b.dir, "fsck", "--strict")
}

// The step of a merge belongs to a session in the same checkout.
func TestMerge_IntoSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, err := b.StartWorktree(t.Context(), b.dir, "fix")
	b.ok(err)
	b.write(w.Path, "a.txt", "changed\n")
	here, err := b.Engine.Create(t.Context(), b.dir, lathe.NewSession{})
	b.ok(err)
	if _, err := b.ApplyWorktree(t.Context(), b.dir, "fix", api.WorktreeMerge{Session: w.Session}); lathe.CodeOf(err) != lathe.Invalid {
		t.Errorf("merged as a step of the worktree's own session: %v", err)
	}
	r, err := b.ApplyWorktree(t.Context(), b.dir, "fix", api.WorktreeMerge{Session: here.ID})
	if err != nil || r.Session != here.ID || b.read(b.dir, "a.txt") != "changed\n" {
		t.Errorf("%+v, %v", r, err)
	}
}

// OpenCode's clients name directories, and take any text for a name.
func TestOpenCode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, err := b.MakeWorktree(t.Context(), b.dir, "My Feature: #1!", "")
	b.ok(err)
	two, err := b.MakeWorktree(t.Context(), b.dir, "my feature 1", "")
	b.ok(err)
	if one.Name != "my-feature-1" || two.Name != "my-feature-1-2" {
		t.Fatalf("%q and %q", one.Name, two.Name)
	}
	b.ok(b.Engine.Drain(t.Context()))
	b.write(one.Directory, "a.txt", "changed\n")
	wait := func(do func() error) error { // the setup of a tree may still hold it
		for {
			if err := do(); lathe.CodeOf(err) != lathe.Conflict || t.Context().Err() != nil {
				return err
			}
		}
	}
	b.ok(wait(func() error { return b.ResetWorktree(t.Context(), b.dir, one.Directory) }))
	if got := b.read(one.Directory, "a.txt"); got != b.read(b.dir, "a.txt") {
		t.Errorf("after the reset %q", got)
	}
	b.ok(wait(func() error { return b.RemoveWorktree(t.Context(), b.dir, one.Directory) }))
	if err := b.RemoveWorktree(t.Context(), b.dir, b.dir); lathe.CodeOf(err) != lathe.NotFound {
		t.Errorf("removed the checkout: %v", err)
	}
	if _, err := os.Lstat(b.dir + "/a.txt"); err != nil {
		t.Error(err)
	}
}
