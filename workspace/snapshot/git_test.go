package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// Our tree of a directory is the one git makes of it, whatever is in it, and stays so while it changes.
func TestTrack_DifferentialToGit(t *testing.T) {
	git := newGit(t)
	trees := 0
	rapid.Check(t, func(rt *rapid.T) {
		if trees > 100 && os.Getenv("LATHE_CAMPAIGN") == "" {
			return // git takes its time
		}
		dir, err := os.MkdirTemp(gittest.RealTemp(t), "git")
		must(t, err)
		b := newBench(t, dir)
		names := []string{"a", "a-b", "a.b", "a/b", "a0", "z/deep/er/x", "z/.gitignore", ".gitignore", ".git.x", "ünï/ß", ":x", "sp ace/ta\tb", "-dash", "[x]*", "z/deep/k.o"}
		change := func() {
			name := rapid.SampledFrom(names).Draw(rt, "name")
			path := b.path(name)
			_ = os.RemoveAll(path) // whatever is there
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return // a file is in the way
			}
			switch rapid.IntRange(0, 6).Draw(rt, "what") {
			case 0:
			case 1:
				must(t, os.Symlink(rapid.SampledFrom([]string{"a", "../x", "/nowhere", "."}).Draw(rt, "target"), path))
			case 2:
				must(t, os.WriteFile(path, []byte("run"), 0o755))
			case 3:
				must(t, os.Mkdir(path, 0o755))
			default:
				text := rapid.SampledFrom([]string{"", "x\n", "*.o\n", "a\n!a/b\n", "/z/deep/\n", "crlf\r\n", "deep/**/x\n", "\x00\x01"}).Draw(rt, "text")
				must(t, os.WriteFile(path, []byte(text), 0o644))
			}
		}
		for range rapid.IntRange(0, 12).Draw(rt, "files") {
			change()
		}
		if rapid.Bool().Draw(rt, "repository") {
			git.repo(dir)
			settle(t, dir)
		} else {
			git.Run(dir, "init", "-q")
		}
		b = newBench(t, dir)
		for range 4 {
			got, err := b.work.Track(t.Context())
			must(t, err)
			if want := git.writeTree(dir); got != want {
				rt.Fatalf("our tree %s, git's %s of %q\n%s", got, want, b.files(), git.Run(dir, "--git-dir="+filepath.Join(dir, ".git"), "ls-tree", "-r", want))
			}
			trees++
			for range rapid.IntRange(1, 3).Draw(rt, "changes") {
				change()
			}
		}
		must(t, b.store.Close())
		must(t, os.RemoveAll(dir))
	})
	t.Logf("%d trees compared with git", trees)
	if trees == 0 {
		t.Error("none was compared")
	}
}

// What git reads from our objects is what we meant.
func TestObjects_ReadByGit(t *testing.T) {
	git := newGit(t)
	b := newBench(t, gittest.RealTemp(t))
	b.write("dir/a", "content\n")
	st := b.step()
	b.tool(st, "dir/a", func() { b.write("dir/a", "other\n") })
	done := b.end(st)
	bare := filepath.Join(gittest.RealTemp(t), "bare")
	git.Run(b.dir, "init", "-q", "--bare", bare)
	o := b.work.t.objects
	for id := range o.where {
		name := id.String()
		must(t, os.MkdirAll(filepath.Join(bare, "objects", name[:2]), 0o755))
		must(t, os.WriteFile(filepath.Join(bare, "objects", name[:2], name[2:]), must2(o.body(id))(t), 0o644))
	}
	if got := git.Run(bare, "cat-file", "blob", done.Before+":dir/a"); got != "content" {
		t.Errorf("before is %q", got)
	}
	if got := git.Run(bare, "cat-file", "blob", done.After+":dir/a"); got != "other" {
		t.Errorf("after is %q", got)
	}
	git.Run(bare, "fsck", "--strict", "--no-dangling")
	if objects := len(o.where); objects < 6 {
		t.Errorf("%d objects", objects)
	}
}

// Two linked worktrees of one repository have nothing in common.
func TestWork_LinkedWorktrees(t *testing.T) {
	git := newGit(t)
	b := newBench(t, gittest.RealTemp(t))
	b.write("f", "main\n")
	git.repo(b.dir)
	linked := filepath.Join(gittest.RealTemp(t), "linked")
	git.Run(b.dir, "worktree", "add", "-q", "-b", "other", linked)
	b = newBench(t, b.dir)
	c := &bench{t: t, dir: linked, store: b.store}
	c.work = c.at(linked)
	if c.work.t == b.work.t || c.work.t.dir == b.work.t.dir {
		t.Fatal("linked worktrees share a store")
	}
	st, su := b.step(), c.work.Step("msg_linked")
	b.tool(st, "f", func() { b.write("f", "changed in main\n") })
	c.tool(su, "f", func() { c.write("f", "changed in linked\n") })
	one, two := b.end(st), c.end(su)
	b.undo("ses", one)
	if got := fmt.Sprint(b.files()["f"], c.files()["f"]); got != "main\nchanged in linked\n" {
		t.Errorf("after undo in main: %q", got)
	}
	c.undo("ses", two)
	if got := c.files()["f"]; got != "main\n" {
		t.Errorf("after undo in linked: %q", got)
	}
	if got, want := must2(c.work.Track(t.Context()))(t), git.writeTree(linked); got != want {
		t.Errorf("tree of linked %s, git has %s", got, want)
	}
}

func must2[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// Files that a sparse checkout leaves out are not deleted ones.
func TestFrame_SparseCheckout(t *testing.T) {
	for _, sparse := range []string{"--no-sparse-index", "--sparse-index"} {
		t.Run(sparse, func(t *testing.T) {
			git := newGit(t)
			b := newBench(t, gittest.RealTemp(t))
			for _, name := range []string{"in/a", "out/b", "out/deep/c", "top"} {
				b.write(name, name+"\n")
			}
			git.repo(b.dir)
			want := git.Run(b.dir, "write-tree")
			git.Run(b.dir, "sparse-checkout", "set", "--cone", sparse, "in")
			b = newBench(t, b.dir)
			if got := must2(b.work.Track(t.Context()))(t); got != want {
				t.Errorf("tree %s, want %s", got, want)
			}
			st := b.step()
			b.command(st, func() {
				git.Run(b.dir, "sparse-checkout", "disable")
				b.write("in/a", "changed\n")
			})
			b.command(st, func() { git.Run(b.dir, "sparse-checkout", "set", "--cone", sparse, "in") })
			if got := b.rels(b.end(st).Files); fmt.Sprint(got) != "[in/a]" {
				t.Errorf("files %q", got)
			}
		})
	}
}

// A submodule is its commit, and what lies in it is its own.
func TestFrame_Submodule(t *testing.T) {
	git := newGit(t)
	inner := newBench(t, gittest.RealTemp(t))
	inner.write("x", "x\n")
	git.repo(inner.dir)
	b := newBench(t, gittest.RealTemp(t))
	b.write("f", "f\n")
	git.repo(b.dir)
	git.Run(b.dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "sub")
	git.commit(b.dir)
	want := git.Run(b.dir, "write-tree")
	b = newBench(t, b.dir)
	if got := must2(b.work.Track(t.Context()))(t); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
	st := b.step()
	b.command(st, func() {
		b.write("sub/x", "changed\n")
		b.write("nested/y", "y\n")
		git.Run(b.path("nested"), "init", "-q")
		b.write("f", "changed\n")
	})
	done := b.end(st)
	if got := b.rels(done.Files); fmt.Sprint(got) != "[f]" {
		t.Errorf("files %q", got)
	}
	b.undo("ses", done)
	if got := b.files(); got["f"] != "f\n" || got["sub/x"] != "changed\n" || got["nested/y"] != "y\n" {
		t.Errorf("after undo %q", got)
	}
}

// What a filter made of a file is not what was there: content is taken from the disk.
func TestSeed_Filters(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("line ends of files are different there anyway")
	}
	git := newGit(t)
	for _, attributes := range []string{"*.bat text eol=crlf\n", ""} {
		t.Run(fmt.Sprintf("%q", attributes), func(t *testing.T) {
			b := newBench(t, gittest.RealTemp(t))
			b.write("run.bat", "one\r\ntwo\r\n")
			if attributes != "" {
				b.write(".gitattributes", attributes)
			}
			git.Run(b.dir, "init", "-q", "-b", "main")
			git.Run(b.dir, "-c", "core.autocrlf=true", "add", "-A")
			git.Run(b.dir, "-c", "core.autocrlf=true", "commit", "-q", "-m", "first")
			settle(t, b.dir)
			b = newBench(t, b.dir)
			st := b.step()
			b.command(st, func() { b.write("run.bat", "changed\r\n") })
			b.undo("ses", b.end(st))
			if got := b.files()["run.bat"]; got != "one\r\ntwo\r\n" {
				t.Errorf("after undo %q", got)
			}
		})
	}
}

// The project's own repository is only read.
func TestProject_Untouched(t *testing.T) {
	git := newGit(t)
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "1\n")
	b.write("dir/b", "1\n")
	git.repo(b.dir)
	settle(t, b.dir)
	look := func() string {
		var all strings.Builder
		must(t, filepath.WalkDir(b.path(".git"), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			fmt.Fprintln(&all, path, info.Size(), info.Mode(), info.ModTime())
			return err
		}))
		return all.String()
	}
	before := look()
	b = newBench(t, b.dir)
	st := b.step()
	b.tool(st, "a", func() { b.write("a", "2\n") })
	b.command(st, func() { b.remove("dir/b"); b.write("c", "2\n") })
	b.undo("ses", b.end(st))
	must(t, b.store.Tidy(t.Context()))
	must(t, b.store.Close())
	if after := look(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if got := git.Run(b.dir, "status", "--porcelain"); got != "" {
		t.Errorf("git sees changes after the undo:\n%s", got)
	}
}
