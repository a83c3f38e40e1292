package workspace

import (
	"os"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gittest"
)

type gitRunner struct{ gittest.Git }

func newGit(t testing.TB) gitRunner {
	t.Helper()
	return gitRunner{gittest.New(t)}
}

// repo makes a repository at dir with one empty commit for each message.
func (g gitRunner) repo(dir string, messages ...string) string {
	g.Helper()
	mkdir(g, dir)
	g.Run(dir, "init", "-q", "-b", "main")
	for _, message := range messages {
		g.Run(dir, "commit", "-q", "--allow-empty", "-m", message)
	}
	return dir
}

func mkdir(t testing.TB, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func locate(t testing.TB, dir string, mem Memory) Place {
	t.Helper()
	p, err := Locate(t.Context(), dir, mem)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// same compares whole places.
func same(t testing.TB, got, want Place) {
	t.Helper()
	if got != want {
		t.Errorf("\ngot  %+v\nwant %+v", got, want)
	}
}

// nowhere is the place of a directory outside any repository.
func nowhere(dir string) Place {
	root := volumeRoot(dir)
	return Place{Directory: dir, Worktree: root, Sandbox: root, ProjectID: lathe.GlobalProject, Path: slashPath(root, dir)}
}
