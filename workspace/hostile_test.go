//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gittest"
)

// trap is a script that a repository would like to have run; it leaves a mark.
func trap(t *testing.T) (script, mark string) {
	t.Helper()
	dir := gittest.RealTemp(t)
	script, mark = filepath.Join(dir, "trap"), filepath.Join(dir, "mark")
	write(t, script, "#!/bin/sh\n: > '"+mark+"'\nexit 1\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	return script, mark
}

func sprung(t *testing.T, mark string) bool {
	t.Helper()
	_, err := os.Stat(mark)
	return err == nil
}

// Opening a repository runs nothing it names.
func TestLocate_HostileConfig(t *testing.T) {
	git := newGit(t)
	script, mark := trap(t)
	top := git.repo(gittest.RealTemp(t), "one")
	hooks := mkdir(t, filepath.Join(top, "hooks"))
	for _, name := range []string{"post-checkout", "post-index-change", "reference-transaction"} {
		if err := os.Symlink(script, filepath.Join(hooks, name)); err != nil {
			t.Fatal(err)
		}
	}
	root := git.Run(top, "rev-list", "--max-parents=0", "HEAD")
	for key, value := range map[string]string{
		"core.fsmonitor": script, "core.hooksPath": hooks, "core.pager": script, "pager.rev-list": script,
		"core.sshCommand": script, "core.askPass": script, "core.editor": script, "core.gitProxy": script,
		"core.alternateRefsCommand": script, "credential.helper": script, "gpg.program": script,
		"log.showSignature": "true", "diff.external": script, "alias.rev-list": "!" + script,
		"core.worktree": "/", "uploadpack.packObjectsHook": script,
	} {
		git.Run(top, "config", key, value)
	}
	same(t, locate(t, top, nil), Place{Directory: top, Worktree: top, Sandbox: top, VCS: "git", ProjectID: root})
	if sprung(t, mark) {
		t.Error("a command of the repository was run")
	}
}

// A repository that claims to be a partial clone makes git fetch what is missing, by the
// transport that its own configuration describes. We know no transport.
func TestLocate_HostilePartialClone(t *testing.T) {
	git := newGit(t)
	script, mark := trap(t)
	for name, settings := range map[string][]string{
		"helper": {"remote.evil.url=ext::" + script, "protocol.ext.allow=always"},
		"ssh":    {"remote.evil.url=ssh://host/x", "core.sshCommand=" + script, "ssh.variant=simple"},
		"upload": {"remote.evil.url=" + gittest.RealTemp(t), "remote.evil.uploadpack=" + script},
		"proxy":  {"remote.evil.url=git://host/x", "core.gitProxy=" + script},
	} {
		t.Run(name, func(t *testing.T) {
			top := git.repo(gittest.RealTemp(t), "one")
			head := git.Run(top, "rev-parse", "HEAD")
			for _, s := range append(settings,
				"core.repositoryFormatVersion=1", "extensions.partialClone=evil", "remote.evil.promisor=true") {
				key, value, _ := strings.Cut(s, "=")
				git.Run(top, "config", key, value)
			}
			object := filepath.Join(top, ".git", "objects", head[:2], head[2:])
			if err := os.Remove(object); err != nil {
				t.Fatal(err)
			}
			// The trap must work, or its silence would prove nothing.
			if _, err := git.Try(top, "rev-list", "--max-parents=0", "--all"); err == nil || !sprung(t, mark) {
				t.Logf("this git does not fall into the trap (%v)", err)
			}
			_ = os.Remove(mark)
			if got := locate(t, top, nil); got.ProjectID != lathe.GlobalProject || got.VCS != "git" {
				t.Errorf("%+v", got)
			}
			if sprung(t, mark) {
				t.Error("a command of the repository was run")
			}
		})
	}
}

// Git is not started, whatever names the project.
func TestLocate_NoProcess(t *testing.T) {
	git := newGit(t)
	script, mark := trap(t)
	top := git.repo(gittest.RealTemp(t), "one")
	bin := gittest.RealTemp(t)
	if err := os.Symlink(script, filepath.Join(bin, "git")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(top, ".git", "config")
	t.Setenv("PATH", bin)
	if got := locate(t, top, nil); !isObjectID(got.ProjectID) {
		t.Errorf("%+v", got)
	}
	write(t, config, "[remote \"origin\"]\nurl = https://example.org/x\n")
	locate(t, top, nil)
	write(t, config, "")
	write(t, filepath.Join(top, ".git", "opencode"), "cached")
	locate(t, top, nil)
	if sprung(t, mark) {
		t.Error("git was started")
	}
}

// Opening a pipe waits for a writer; none of ours may be opened.
func TestLocate_Pipes(t *testing.T) {
	for _, name := range []string{".git", ".git/HEAD", ".git/config", ".git/commondir"} {
		t.Run(name, func(t *testing.T) {
			top := outside(t)
			if name != ".git" {
				newGit(t).repo(top, "one")
			}
			path := filepath.Join(top, name)
			_ = os.Remove(path)
			pipe(t, path)
			same(t, locate(t, top, nil), nowhere(top))
		})
	}
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t), "one")
	pipe(t, filepath.Join(top, ".git", "opencode"))
	if got := locate(t, top, nil); got.Cached != "" || got.ProjectID == lathe.GlobalProject {
		t.Errorf("%+v", got)
	}
}

// Folders that the walk for a root enters can hold pipes too.
func TestFirstRoot_Pipes(t *testing.T) {
	git := newGit(t)
	for _, name := range []string{"packed-refs", "shallow", "refs/heads/pipe", "objects/info/alternates", "objects/pack/x.idx", "worktrees"} {
		top := git.repo(gittest.RealTemp(t), "one")
		pipe(t, filepath.Join(top, ".git", filepath.FromSlash(name)))
		if got := locate(t, top, nil); got.VCS != "git" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func pipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
}
