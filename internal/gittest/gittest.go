// Package gittest runs the real git for tests: to make repositories, and to compare package
// gitobj with. It uses one author, one time and no configuration of the user. Start with New.
package gittest

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Git is git in a test.
type Git struct {
	testing.TB
	env []string
}

// New finds git; without it the test is skipped. What is given of the environment comes on top of Env.
func New(t testing.TB, env ...string) Git {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: ", err)
	}
	return Git{t, append(Env(t.TempDir()), env...)}
}

// Env is the environment of a child of the test in which git does the same on every machine.
// Its global configuration is a file that does not exist, never the null device: git config
// --global replaces the file it names, and the administrator may replace that one.
func Env(home string) []string {
	env := slices.DeleteFunc(new(exec.Cmd).Environ(), func(e string) bool { return strings.HasPrefix(strings.ToUpper(e), "GIT_") })
	return append(env, "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_GLOBAL="+filepath.Join(home, "none.gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=file", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
		// Git tidies up in the background of a commit, and writes where a test takes its folder away.
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=gc.auto", "GIT_CONFIG_VALUE_0=0", "GIT_CONFIG_KEY_1=maintenance.auto", "GIT_CONFIG_VALUE_1=false")
}

// With is git with more in its environment.
func (g Git) With(env ...string) Git { return Git{g.TB, append(slices.Clip(g.env), env...)} }

// Pipe runs git with an input, and returns what it writes.
func (g Git) Pipe(dir string, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(context.WithoutCancel(g.Context()), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, g.env, bytes.NewReader(input)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %q: %w\n%s", args, err, complaint.Bytes())
	}
	return string(out), err
}

// Try runs git, which may fail.
func (g Git) Try(dir string, args ...string) (string, error) { return g.Pipe(dir, nil, args...) }

// Run runs git, which must not fail, and returns what it writes without the spaces around it.
func (g Git) Run(dir string, args ...string) string {
	g.Helper()
	out, err := g.Try(dir, args...)
	if err != nil {
		g.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// RealTemp is a temporary directory without symlinks in its path.
func RealTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
