package git_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/workspace/git"
)

// No process of a project runs, whatever its configuration names: each of these commands would
// leave a mark.
func TestHostile_NothingRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the marks are made with a shell")
	}
	c := begin(t)
	mark := filepath.Join(t.TempDir(), "mark")
	script := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >> "+mark+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write("a.txt", "1\n")
	c.write("b.txt", "1\n")
	c.write(".gitattributes", "* filter=evil diff=evil merge=evil text\n")
	c.commit()
	c.run("checkout", "--quiet", "-b", "work")
	sub := *c
	sub.dir = filepath.Join(c.dir, "sub")
	if err := os.Mkdir(sub.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	sub.run("init", "--quiet", "-b", "main")
	sub.write("in", "1\n")
	sub.commit()
	c.run("-c", "advice.addEmbeddedRepo=false", "add", "sub")
	c.run("commit", "--quiet", "-m", "x")
	sub.write("in", "2\n")
	evil := strings.ReplaceAll(`
[core]
	fsmonitor = EVIL
	hooksPath = HOOKS
	pager = EVIL
	editor = EVIL
	sshCommand = EVIL
	alternateRefsCommand = EVIL
	gitProxy = EVIL
	worktree = /etc
	excludesFile = /etc/passwd
	attributesFile = ATTR
[diff]
	external = EVIL
[diff "evil"]
	command = EVIL
	textconv = EVIL
	cachetextconv = true
[filter "evil"]
	clean = EVIL
	smudge = EVIL
	process = EVIL
	required = true
[merge "evil"]
	driver = EVIL
[alias]
	diff = !EVIL
	ls-files = !EVIL
	apply = !EVIL
	merge-base = !EVIL
[credential]
	helper = !EVIL
[remote "origin"]
	url = ext::EVIL
	promisor = true
	partialclonefilter = blob:none
	vcs = evil
[protocol]
	allow = always
[gpg]
	program = EVIL
[include]
	path = /etc/passwd
[extensions]
	partialClone = origin
	worktreeConfig = true
`, "EVIL", script)
	hooks := filepath.Join(c.dir, ".git", "hooks")
	evil = strings.NewReplacer("HOOKS", hooks, "ATTR", filepath.Join(c.dir, ".gitattributes")).Replace(evil)
	_ = os.MkdirAll(hooks, 0o755)
	for _, name := range []string{"post-index-change", "fsmonitor-watchman", "applypatch-msg", "pre-applypatch", "post-applypatch", "reference-transaction", "post-checkout"} {
		if err := os.Symlink(script, filepath.Join(hooks, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{c.dir, sub.dir} {
		path := filepath.Join(dir, ".git", "config")
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(old, evil...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.write("a.txt", "2\n")
	c.write("new.txt", "2\n")
	for _, m := range []git.Mode{git.Uncommitted, git.SinceBranch} {
		all := c.diff("", git.DiffOptions{Mode: m, Context: 3})
		if got := strings.Join(names(all), ","); !strings.Contains(got, "modified a.txt +-") || !strings.Contains(got, "added new.txt +") {
			t.Errorf("%s: %s", m, got)
		}
	}
	if _, err := c.git.Patch(t.Context(), c.at("")); err != nil {
		t.Error(err)
	}
	patch := "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-1\n+two\n"
	if err := c.git.Apply(t.Context(), c.at(""), patch); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(c.dir, "b.txt")); err != nil || string(got) != "two\n" {
		t.Errorf("%q, %v", got, err)
	}
	if b := git.Branch(c.at("")); b != "work" {
		t.Errorf("%q", b)
	}
	if said, err := os.ReadFile(mark); err == nil {
		t.Errorf("the project ran:\n%s", said)
	}
	// The marks work: plain git, as far as it reads such settings at all, runs them.
	text, err := os.ReadFile(filepath.Join(c.dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	mild := strings.NewReplacer("worktree = /etc", "", "path = /etc/passwd", "", "worktreeConfig = true", "").Replace(string(text))
	if err := os.WriteFile(filepath.Join(c.dir, ".git", "config"), []byte(mild), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = c.tryRun("diff")
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("plain git ran nothing, so this test shows nothing: %v", err)
	}
}

// A repository that claims to lack objects makes nothing be fetched.
func TestHostile_MissingObjects(t *testing.T) {
	c := begin(t)
	c.write("a", "1\n")
	c.commit()
	c.write("a", "2\n")
	id := c.run("rev-parse", "HEAD:a")
	if err := os.Remove(filepath.Join(c.dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	if _, err := c.git.Diff(t.Context(), c.at(""), git.DiffOptions{}); err == nil {
		t.Error("no error")
	}
}

// A filter that the user has set up, as that of LFS, is not run for a project that names it.
func TestHostile_FiltersOfTheUser(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the marks are made with a shell")
	}
	c := begin(t)
	mark := filepath.Join(t.TempDir(), "mark")
	c.write("a", "1\n")
	c.commit()
	c.run("config", "--global", "filter.mine.clean", "touch "+mark+"; cat")
	c.run("config", "--global", "filter.mine.smudge", "touch "+mark+"; cat")
	c.run("config", "--global", "filter.mine.required", "true")
	c.run("config", "--global", "diff.noprefix", "true")
	c.run("config", "--global", "core.excludesFile", filepath.Join(c.dir, "mine"))
	c.write("mine", "mine\nunseen\n")
	c.write("unseen", "")
	c.write(".gitattributes", "a filter=mine\nlock -diff\n")
	c.write("lock", "x\n")
	c.write("a", "2\n")
	all := c.diff("", git.DiffOptions{Context: 3})
	same(t, names(all), []string{"added .gitattributes ++", "modified a +-", "added lock +"})
	if !strings.HasPrefix(all[1].Patch, "diff --git a/a b/a\n") {
		t.Errorf("%s", all[1].Patch)
	}
	if err := c.git.Apply(t.Context(), c.at(""), "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-2\n+3\n"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the filter ran")
	}
}
