package worktree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/workspace"
)

// bench is a project and a folder for its trees.
type bench struct {
	testing.TB
	dir  string
	root Root
	git  gittest.Git
}

func newBench(t testing.TB) *bench {
	t.Helper()
	base := gittest.RealTemp(t)
	dir := filepath.Join(base, "app")
	must(t, os.Mkdir(dir, 0o755))
	return &bench{TB: t, dir: dir, root: Root{Dir: filepath.Join(base, "lathe-worktrees")}}
}

// newRepo is a bench with a repository: files that are committed, changed, deleted, new and ignored.
func newRepo(t testing.TB) *bench {
	t.Helper()
	b := newBench(t)
	b.git = gittest.New(t)
	b.git.Run(b.dir, "init", "-q", "-b", "main")
	b.write("a.txt", "one\ntwo\nthree\n")
	b.write("dir/b.txt", "b\n")
	b.write("gone.txt", "gone\n")
	b.write(".gitignore", "*.log\nbuild/\n")
	b.write("run.sh", "#!/bin/sh\n")
	must(t, os.Chmod(b.path("run.sh"), 0o755))
	must(t, os.Symlink("a.txt", b.path("link")))
	b.git.Run(b.dir, "add", "-A")
	b.git.Run(b.dir, "commit", "-q", "-m", "first")
	b.write("a.txt", "one\ntwo\nthree\nfour\n")
	b.write("dir/staged.txt", "staged\n")
	b.git.Run(b.dir, "add", "dir/staged.txt")
	must(t, os.Remove(b.path("gone.txt")))
	b.write("new/untracked.txt", "untracked\n")
	b.write("build/out.o", "object\n")
	b.write("trace.log", "log\n")
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) write(name, text string) { write(b, b.path(name), text) }

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func (b *bench) place() workspace.Place { return place(b, b.dir) }

func place(t testing.TB, dir string) workspace.Place {
	t.Helper()
	at, err := workspace.Locate(context.Background(), dir, nil)
	must(t, err)
	return at
}

func (b *bench) create(name string) *Tree {
	b.Helper()
	t, release, err := b.root.Create(context.Background(), b.place(), Options{Name: name})
	must(b, err)
	release()
	return t
}

// files are the files of a folder with their contents, without git's.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Name() == ".git" {
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			out[filepath.ToSlash(rel)] = "-> " + target
			return err
		case e.Type().IsRegular():
			data, err := os.ReadFile(path)
			out[filepath.ToSlash(rel)] = string(data)
			return err
		}
		return nil
	}))
	return out
}

func lines(s string) []string {
	out := strings.Split(strings.TrimSpace(s), "\n")
	slices.Sort(out)
	return out
}
