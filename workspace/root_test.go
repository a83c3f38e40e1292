package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gittest"
)

func TestFirstRoot_Deadline(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t), "one")
	c, ok := readCheckout(top)
	if !ok {
		t.Fatal("no checkout")
	}
	if root, err := c.firstRoot(t.Context(), 0); root != "" || err != nil {
		t.Errorf("out of time: root %q, error %v", root, err)
	}
	if root, err := c.firstRoot(t.Context(), time.Minute); root == "" || err != nil {
		t.Errorf("root %q, error %v", root, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user left")
	cancel(why)
	if _, err := c.firstRoot(ctx, time.Minute); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}

// Only what belongs to the project's history counts, and every checkout finds the same.
func TestFirstRoot_WhichRefs(t *testing.T) {
	git := newGit(t)
	base := gittest.RealTemp(t)
	top := git.repo(filepath.Join(base, "main"), "one")
	root := git.Run(top, "rev-parse", "HEAD")
	linked := filepath.Join(base, "linked")
	git.Run(top, "worktree", "add", "-q", "--detach", linked)
	// Make roots until one is smaller, so that it would win if it counted.
	other := smallerRoot(t, git, top, root)
	for _, ref := range []string{"refs/stash", "refs/notes/commits", "refs/original/x", "refs/replace/" + root} {
		git.Run(top, "update-ref", ref, other)
		if got := locate(t, top, nil).ProjectID; got != root {
			t.Errorf("%s counts: %s", ref, got)
		}
		git.Run(top, "update-ref", "-d", ref)
	}
	for _, ref := range []string{"refs/heads/other", "refs/remotes/x/y", "refs/tags/v1"} {
		git.Run(top, "update-ref", ref, other)
		for _, dir := range []string{top, linked} {
			if got := locate(t, dir, nil).ProjectID; got != other {
				t.Errorf("%s does not count in %s: %s", ref, dir, got)
			}
		}
		git.Run(top, "update-ref", "-d", ref)
	}
	// A detached HEAD of one checkout counts in all of them.
	git.Run(linked, "update-ref", "--no-deref", "HEAD", other)
	for _, dir := range []string{top, linked} {
		if got := locate(t, dir, nil).ProjectID; got != other {
			t.Errorf("HEAD of %s does not count in %s: %s", linked, dir, got)
		}
	}
}

func smallerRoot(t *testing.T, git gitRunner, top, than string) string {
	t.Helper()
	tree := git.Run(top, "rev-parse", "HEAD^{tree}")
	message := ""
	for {
		message += "x"
		if id := git.Run(top, "commit-tree", "-m", message, tree); id < than {
			return id
		}
	}
}

func TestFirstRoot_Formats(t *testing.T) {
	git := newGit(t)
	t.Run("sha256", func(t *testing.T) {
		top := gittest.RealTemp(t)
		if _, err := git.Try(top, "init", "-q", "--object-format=sha256"); err != nil {
			t.Skip("this git knows no sha256: ", err)
		}
		git.Run(top, "commit", "-q", "--allow-empty", "-m", "one")
		want := git.Run(top, "rev-parse", "HEAD")
		if got := locate(t, top, nil).ProjectID; got != want || len(got) != 64 {
			t.Errorf("id %s, want %s", got, want)
		}
	})
	t.Run("packed", func(t *testing.T) {
		top := git.repo(gittest.RealTemp(t), "one", "two", "three")
		git.Run(top, "gc", "-q")
		want := git.Run(top, "rev-list", "--max-parents=0", "HEAD")
		if got := locate(t, top, nil).ProjectID; got != want {
			t.Errorf("id %s, want %s", got, want)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		top := git.repo(gittest.RealTemp(t), "one")
		git.Run(top, "config", "extensions.refStorage", "reftable")
		if got := locate(t, top, nil); got.ProjectID != lathe.GlobalProject || got.VCS != "git" {
			t.Errorf("%+v", got)
		}
	})
}

// A history with a hole names nothing; the directory opens all the same.
func TestFirstRoot_Damaged(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t), "one", "two")
	root := git.Run(top, "rev-list", "--max-parents=0", "HEAD")
	object := filepath.Join(top, ".git", "objects", root[:2], root[2:])
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if got := locate(t, top, nil); got.ProjectID != lathe.GlobalProject {
		t.Errorf("%+v", got)
	}
	write(t, object, strings.Repeat("x", 100))
	if got := locate(t, top, nil); got.ProjectID != lathe.GlobalProject {
		t.Errorf("%+v", got)
	}
}

// Variables of a surrounding git are not ours.
func TestFirstRoot_Environment(t *testing.T) {
	git := newGit(t)
	outer := git.repo(gittest.RealTemp(t), "outer")
	inner := git.repo(filepath.Join(outer, "inner"), "inner")
	want := git.Run(inner, "rev-list", "--max-parents=0", "HEAD")
	t.Setenv("GIT_DIR", filepath.Join(outer, ".git"))
	if got := locate(t, inner, nil).ProjectID; got != want {
		t.Errorf("id %s, want %s", got, want)
	}
}
