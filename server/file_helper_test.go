package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace/git"
	"github.com/lathe-agent/lathe/workspace/terminal"
)

// withFiles adds the families that reach files and programs of this machine.
func (b backend) withFiles(to server.Backend) server.Backend {
	program, _ := exec.LookPath("git")
	to.Folders = server.Folders{Home: "/home/usr", State: "/state", Config: "/config"}
	to.Git = git.New(git.Options{Program: program, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere"}})
	to.Terminals = terminal.Open(terminal.Options{
		Runner: sandbox.Open(sandbox.Config{}), Env: []string{"PATH=" + os.Getenv("PATH"), "PS1=$ "}, Shell: "/bin/sh",
		IDs: lathe.NewIDs(), Publish: b.Publish, Max: 5,
	})
	return to
}

// git runs git in the fixture's directory as its user would; without git the test is skipped.
func (w *fixture) git(args ...string) {
	w.Helper()
	gittest.New(w.TB).Run(w.dir, args...)
}

// repository makes the fixture's directory a repository with one commit.
func (w *fixture) repository() {
	w.Helper()
	w.git("init", "--quiet", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "--quiet", "--allow-empty", "-m", "first")
}

// outside is a file beside the fixture's directory that no client may read.
func (w *fixture) outside() string {
	w.Helper()
	path := filepath.Join(w.data, "secret.txt")
	w.ok(os.WriteFile(path, []byte("SECRET"), 0o600))
	return path
}

// link makes a symlink in the fixture's directory.
func (w *fixture) link(to, name string) {
	w.Helper()
	w.ok(os.Symlink(to, filepath.Join(w.dir, name)))
}

// has holds that a text has a part.
func has(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("no %q in %s", part, text)
	}
}
