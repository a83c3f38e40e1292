package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// gitRunner runs the real git with a known author and without anybody's configuration.
type gitRunner struct {
	t    testing.TB
	home string
}

func newGit(t testing.TB) gitRunner {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: ", err)
	}
	return gitRunner{t: t, home: t.TempDir()}
}

func (g gitRunner) try(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(g.t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), func(e string) bool { return strings.HasPrefix(strings.ToUpper(e), "GIT_") }),
		"HOME="+g.home, "XDG_CONFIG_HOME="+g.home, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
		"LC_ALL=C")
	out, err := cmd.Output()
	return string(out), err
}

func (g gitRunner) run(dir string, args ...string) string {
	g.t.Helper()
	out, err := g.try(dir, args...)
	if err != nil {
		if failed, ok := err.(*exec.ExitError); ok {
			g.t.Fatalf("git %q: %v\n%s", args, err, failed.Stderr)
		}
		g.t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(out)
}

// repo makes a repository at dir with one empty commit for each message.
func (g gitRunner) repo(dir string, messages ...string) string {
	g.t.Helper()
	mkdir(g.t, dir)
	g.run(dir, "init", "-q", "-b", "main")
	for _, message := range messages {
		g.run(dir, "commit", "-q", "--allow-empty", "-m", message)
	}
	return dir
}

// realTemp is a temporary directory without symlinks in its path.
func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
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
