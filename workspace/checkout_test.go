package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gittest"
)

func TestLocate_LinkedWorktree(t *testing.T) {
	git := newGit(t)
	base := gittest.RealTemp(t)
	top := git.repo(filepath.Join(base, "main"), "one")
	write(t, filepath.Join(top, ".git", "opencode"), "cached-id\n")
	linked := filepath.Join(base, "linked tree")
	git.Run(top, "worktree", "add", "-q", "--detach", linked)
	sub := mkdir(t, filepath.Join(linked, "sub"))
	want := Place{
		Directory: sub, Worktree: top, Sandbox: linked, VCS: "git",
		ProjectID: "cached-id", Cached: "cached-id", Path: "sub",
	}
	same(t, locate(t, sub, nil), want)

	// The same with relative links, as newer git writes them on request.
	name := filepath.Base(git.Run(linked, "rev-parse", "--git-dir"))
	write(t, filepath.Join(linked, ".git"), "gitdir: ../main/.git/worktrees/"+name+"\n")
	same(t, locate(t, sub, nil), want)

	git.Run(top, "remote", "add", "origin", "https://example.org/x")
	want.ProjectID, want.Remote = remoteID("example.org/x"), "example.org/x"
	same(t, locate(t, sub, nil), want)
}

// All checkouts of a repository read its history once between them.
func TestLocate_LinkedWorktreeSharesMemory(t *testing.T) {
	git := newGit(t)
	base := gittest.RealTemp(t)
	top := git.repo(filepath.Join(base, "main"), "one")
	linked := filepath.Join(base, "linked")
	git.Run(top, "worktree", "add", "-q", "--detach", linked)
	mem := notes{}
	a, b := locate(t, top, mem), locate(t, linked, mem)
	if a.ProjectID != b.ProjectID || a.ProjectID == lathe.GlobalProject || len(mem) != 1 {
		t.Errorf("ids %s and %s, memory %v", a.ProjectID, b.ProjectID, mem)
	}
}

func TestLocate_Bare(t *testing.T) {
	git := newGit(t)
	base := outside(t)
	source := git.repo(filepath.Join(base, "source"), "one")
	bare := filepath.Join(base, "project.git")
	git.Run(base, "clone", "-q", "--bare", source, bare)
	// There is no checkout to work in, so the bare repository itself is a plain directory.
	same(t, locate(t, bare, nil), nowhere(bare))

	// Its worktrees are checkouts, and it is what they share.
	linked := filepath.Join(base, "linked")
	git.Run(bare, "worktree", "add", "-q", linked)
	root := git.Run(bare, "rev-list", "--max-parents=0", "HEAD")
	same(t, locate(t, linked, nil), Place{
		Directory: linked, Worktree: bare, Sandbox: linked, VCS: "git", ProjectID: root,
	})
}

func TestLocate_Submodule(t *testing.T) {
	git := newGit(t)
	base := gittest.RealTemp(t)
	lib := git.repo(filepath.Join(base, "lib"), "library")
	root := git.Run(lib, "rev-list", "--max-parents=0", "HEAD")
	top := git.repo(filepath.Join(base, "app"), "application")
	git.Run(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "deps/lib")
	sub := filepath.Join(top, "deps", "lib")
	same(t, locate(t, sub, nil), Place{Directory: sub, Worktree: sub, Sandbox: sub, VCS: "git", ProjectID: root})

	// A linked worktree of a submodule finds the way back to it.
	linked := filepath.Join(base, "linked")
	git.Run(sub, "worktree", "add", "-q", linked)
	same(t, locate(t, linked, nil), Place{Directory: linked, Worktree: sub, Sandbox: linked, VCS: "git", ProjectID: root})
}

func TestLocate_SeparateGitDirectory(t *testing.T) {
	git := newGit(t)
	base := gittest.RealTemp(t)
	top := mkdir(t, filepath.Join(base, "work"))
	git.Run(top, "init", "-q", "--separate-git-dir", filepath.Join(base, "store"))
	git.Run(top, "remote", "add", "origin", "https://example.org/x")
	want := Place{
		Directory: top, Worktree: top, Sandbox: top, VCS: "git",
		ProjectID: remoteID("example.org/x"), Remote: "example.org/x",
	}
	same(t, locate(t, top, nil), want)

	if err := os.Remove(filepath.Join(top, ".git")); err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join("..", "store"), filepath.Join(top, ".git"))
	same(t, locate(t, top, nil), want)
}

func TestLocate_Symlinks(t *testing.T) {
	git := newGit(t)
	base := outside(t)
	top := git.repo(filepath.Join(base, "repo"), "one")
	git.Run(top, "remote", "add", "origin", "https://example.org/x")
	sub := mkdir(t, filepath.Join(top, "sub"))
	away := mkdir(t, filepath.Join(base, "away"))
	want := Place{
		Worktree: top, Sandbox: top, VCS: "git",
		ProjectID: remoteID("example.org/x"), Remote: "example.org/x",
	}

	toTop, toSub, out := filepath.Join(base, "to-top"), filepath.Join(base, "to-sub"), filepath.Join(top, "out")
	symlink(t, top, toTop)
	symlink(t, sub, toSub)
	symlink(t, away, out)

	want.Directory = toTop
	same(t, locate(t, toTop, nil), want)
	want.Directory, want.Path = filepath.Join(toTop, "sub"), "sub"
	same(t, locate(t, want.Directory, nil), want)
	want.Directory = toSub
	same(t, locate(t, toSub, nil), want)
	same(t, locate(t, out, nil), nowhere(away))
}

// Without a repository a directory is named by its real path alone, so that it is one place
// however it is reached.
func TestLocate_SymlinksWithoutGit(t *testing.T) {
	base := outside(t)
	sub := mkdir(t, filepath.Join(mkdir(t, filepath.Join(base, "real")), "sub"))
	link := filepath.Join(base, "link")
	symlink(t, filepath.Join(base, "real"), link)
	same(t, locate(t, filepath.Join(link, "sub"), nil), nowhere(sub))
	same(t, locate(t, sub, nil), nowhere(sub))
}

// Whatever is wrong with .git, the directory opens: it belongs to what lies above.
func TestLocate_Broken(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, top string)
	}{
		{"empty directory", func(t *testing.T, top string) { mkdir(t, filepath.Join(top, ".git")) }},
		{"empty file", pointer("")},
		{"no path", pointer("gitdir: \n")},
		{"not a pointer", pointer("hello\n")},
		{"no space", pointer("gitdir:x\n")},
		{"missing target", pointer("gitdir: /nowhere/at/all\n")},
		{"itself", pointer("gitdir: .git\n")},
		{"a directory that is no repository", pointer("gitdir: .\n")},
		{"zero byte", pointer("gitdir: a\x00b\n")},
		{"huge", pointer("gitdir: " + strings.Repeat("x", 1<<20))},
		{"link in a circle", func(t *testing.T, top string) { symlink(t, ".git", filepath.Join(top, ".git")) }},
		{"no HEAD", damage("HEAD", "")},
		{"strange HEAD", damage("HEAD", "hello\n")},
		{"HEAD leads out", damage("HEAD", "ref: ../../etc/passwd\n")},
		{"no objects", damage("objects", "")},
		{"refs is a file", damage("refs", "x")},
		{"commondir leads nowhere", damage("commondir", "../nowhere\n")},
		{"commondir is empty", damage("commondir", "\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := outside(t)
			c.spoil(t, dir)
			same(t, locate(t, dir, nil), nowhere(dir))

			git := newGit(t)
			outer := git.repo(gittest.RealTemp(t), "one")
			git.Run(outer, "remote", "add", "origin", "https://example.org/x")
			inner := mkdir(t, filepath.Join(outer, "inner"))
			c.spoil(t, inner)
			same(t, locate(t, inner, nil), Place{
				Directory: inner, Worktree: outer, Sandbox: outer, VCS: "git",
				ProjectID: remoteID("example.org/x"), Remote: "example.org/x", Path: "inner",
			})
		})
	}
}

func pointer(text string) func(*testing.T, string) {
	return func(t *testing.T, top string) { write(t, filepath.Join(top, ".git"), text) }
}

// damage makes a repository and replaces one entry of its git directory.
func damage(name, text string) func(*testing.T, string) {
	return func(t *testing.T, top string) {
		newGit(t).repo(top, "one")
		entry := filepath.Join(top, ".git", name)
		if err := os.RemoveAll(entry); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			write(t, entry, text)
		}
	}
}

// A configuration with an error still names the origin if that comes before it.
func TestLocate_DamagedConfig(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t), "one")
	root := git.Run(top, "rev-parse", "HEAD")
	config := filepath.Join(top, ".git", "config")
	write(t, config, "[remote \"origin\"]\nurl = https://example.org/x\n<<<<<<<\n")
	if got := locate(t, top, nil).Remote; got != "example.org/x" {
		t.Errorf("remote %q", got)
	}
	write(t, config, "<<<<<<<\n[remote \"origin\"]\nurl = https://example.org/x\n")
	// Its history can be read without it.
	same(t, locate(t, top, nil), Place{Directory: top, Worktree: top, Sandbox: top, VCS: "git", ProjectID: root})
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	if got := locate(t, top, nil); got.VCS != "git" || got.ProjectID == lathe.GlobalProject {
		t.Errorf("a repository without configuration is one: %+v", got)
	}
}

func TestLocate_OldHead(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t))
	git.Run(top, "remote", "add", "origin", "https://example.org/x")
	head := filepath.Join(top, ".git", "HEAD")
	if err := os.Remove(head); err != nil {
		t.Fatal(err)
	}
	symlink(t, "refs/heads/main", head) // dangles: there is no commit
	if got := locate(t, top, nil).Remote; got != "example.org/x" {
		t.Errorf("remote %q", got)
	}
}

func TestLocate_Deep(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t))
	git.Run(top, "remote", "add", "origin", "https://example.org/x")
	const depth = 900 // Windows and macOS allow about a thousand bytes
	path := strings.Repeat("d/", min(depth, (1000-len(top))/2-20)) + "d"
	deep := filepath.Join(top, filepath.FromSlash(path))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Skip("the system allows no such depth: ", err)
	}
	if got := locate(t, deep, nil); got.Path != path || got.Sandbox != top {
		t.Errorf("path of %d bytes, sandbox %q", len(got.Path), got.Sandbox)
	}
}

func TestLocate_Unreadable(t *testing.T) {
	if os.Geteuid() <= 0 {
		t.Skip("root and Windows read everything")
	}
	git := newGit(t)
	top := git.repo(outside(t), "one")
	locked := mkdir(t, filepath.Join(top, "locked", "in"))
	chmod(t, filepath.Dir(locked), 0)
	if _, err := Locate(t.Context(), locked, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("below a closed directory: %v", err)
	}
	if got := locate(t, filepath.Dir(locked), nil); got.Sandbox != top || got.Path != "locked" {
		t.Errorf("a closed directory still belongs to its repository: %+v", got)
	}
	chmod(t, filepath.Join(top, ".git"), 0)
	same(t, locate(t, top, nil), nowhere(top))
}

// chmod restores the mode so that the directory can be removed.
func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Error(err)
		}
	})
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no symlinks here: ", err)
	}
}
