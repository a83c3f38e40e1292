package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// makeTrees makes worktrees of a repository in the project folder.
func makeTrees(t *testing.T, b *box, names ...string) (out []*worktree.Tree) {
	t.Helper()
	at, err := workspace.Locate(t.Context(), b.base+"/project", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		tree, release, err := worktree.Root{Dir: b.base + "/data" + workspace.TreesSuffix}.Create(t.Context(), at, worktree.Options{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		release()
		out = append(out, tree)
	}
	return out
}

func newRepository(t *testing.T, b *box) {
	t.Helper()
	git := gittest.New(t)
	if err := os.WriteFile(b.base+"/project/file", []byte("of the project\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git.Run(b.base+"/project", "init", "-q", "-b", "main")
	git.Run(b.base+"/project", "add", "-A")
	git.Run(b.base+"/project", "commit", "-q", "-m", "first")
}

// A command in a worktree writes there and commits, and reaches neither the checkout nor other worktrees. A command in
// the checkout sees no worktree.
func TestConfineWorktree(t *testing.T) {
	t.Parallel()
	confinable(t)
	b := newBox(t, nil)
	newRepository(t, b)
	trees := makeTrees(t, b, "one", "two")
	one, two, project := trees[0], trees[1], b.base+"/project"
	attack := "echo hit >> " + project + "/file; echo hit >> " + two.Path + "/file; cat " + two.Path + "/file; ls " + filepath.Dir(one.Path) +
		"; echo hit > " + filepath.Dir(one.Path) + "/.lathe/two/record.json; rm -rf " + two.Path
	read := func(path string) string { data, _ := os.ReadFile(path); return string(data) }

	res, out := b.in(one.Path, "build", attack+"; echo mine >> file; git -c user.name=A -c user.email=a@b commit -qam work && git log --format=%s", config.Config{})
	if read(project+"/file") != "of the project\n" || read(two.Path+"/file") != "of the project\n" || strings.Contains(out, "of the project") || strings.Contains(out, "two\n") {
		t.Errorf("%+v: %s", res.Sandbox, out)
	}
	if read(one.Path+"/file") != "of the project\nmine\n" || !strings.Contains(out, "work\nfirst") {
		t.Errorf("its own files: %s", out)
	}
	if _, out := b.in(project, "build", "cat "+one.Path+"/file 2>&1 | grep mine; ls "+b.base+"/data-worktrees", config.Config{}); strings.Contains(out, "mine") || strings.Contains(out, "project-") {
		t.Errorf("the checkout sees worktrees: %s", out)
	}
	if _, out := b.in(one.Path, "build", attack, config.Config{Sandbox: config.Sandbox{Mode: "off"}}); read(project+"/file") != "of the project\nhit\n" || !strings.Contains(out, "of the project\nhit\n") {
		t.Errorf("without a sandbox nothing happens either: %s", out)
	}
}

// A worktree that appears while a command runs is not taken for the work of the command. One that the command forges is.
func TestConfineWorktree_MadeMeanwhile(t *testing.T) {
	t.Parallel()
	confinable(t)
	b := newBox(t, nil)
	newRepository(t, b)
	project := b.base + "/project"
	forge := "mkdir -p .git/worktrees/evil && echo ../.. > .git/worktrees/evil/commondir && echo " + b.base + "/home/.git > .git/worktrees/evil/gitdir; "
	done := make(chan string, 1)
	go func() {
		_, out, err := b.run(t.Context(), project, project, "build", forge+"touch begun; until [ -e go ]; do sleep 0.02; done", config.Config{}, bash.Line{})
		if err != nil {
			out = err.Error()
		}
		done <- out
	}()
	deadline := time.Now().Add(30 * time.Second)
	for !exists(project+"/begun") && time.Now().Before(deadline) {
		<-time.After(10 * time.Millisecond)
	}
	trees := makeTrees(t, b, "late")
	if err := os.WriteFile(project+"/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	out := <-done
	if admin := filepath.Join(trees[0].Common, "worktrees", trees[0].Admin); !exists(admin) {
		t.Errorf("the folder of the worktree was moved aside: %s", out)
	}
	if exists(project + "/.git/worktrees/evil") {
		t.Errorf("a forged work tree stayed: %s", out)
	}
}
