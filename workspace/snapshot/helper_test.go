package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/workspace"
)

// bench is a work tree with a store next to it.
type bench struct {
	t     testing.TB
	dir   string // the top
	store *Store
	work  *Worktree
	keys  int
}

func newBench(t testing.TB, dir string) *bench {
	t.Helper()
	b := &bench{t: t, dir: dir}
	b.open(filepath.Join(gittest.RealTemp(t), "store"))
	return b
}

func (b *bench) open(storeDir string) {
	b.t.Helper()
	b.store = New(Options{Dir: storeDir})
	b.t.Cleanup(func() { _ = b.store.Close() })
	b.work = b.at(b.dir)
}

func (b *bench) at(dir string) *Worktree {
	b.t.Helper()
	place, err := workspace.Locate(context.Background(), dir, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.store.Worktree(place)
}

// again is another process on the same store.
func (b *bench) again() *bench {
	b.t.Helper()
	c := &bench{t: b.t, dir: b.dir, keys: b.keys + 1000}
	c.open(b.store.o.Dir)
	return c
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.Remove(b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

// files reads the whole tree: text for files, "-> target" for links, "x " before what may run.
func (b *bench) files() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == b.dir {
			return err
		}
		rel := filepath.ToSlash(path[len(b.dir)+1:])
		if d.IsDir() {
			if d.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type()&os.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			out[rel] = "-> " + target
			return err
		}
		if !d.Type().IsRegular() {
			out[rel] = "special"
			return nil
		}
		data, err := os.ReadFile(path)
		info, err2 := d.Info()
		if err == nil {
			err = err2
		}
		if err == nil && info.Mode()&0o100 != 0 {
			data = append([]byte("x "), data...)
		}
		out[rel] = string(data)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) step() *Step {
	b.keys++
	return b.work.Step("msg_" + string(rune('a'+b.keys/26/26%26)) + string(rune('a'+b.keys/26%26)) + string(rune('a'+b.keys%26)) + strings.Repeat("x", b.keys/1000))
}

// tool writes by a file tool in a step.
func (b *bench) tool(st *Step, name string, write func()) {
	b.t.Helper()
	must(b.t, st.Capture(b.t.Context(), b.path(name)))
	write()
	must(b.t, st.RecordWrite(b.t.Context(), b.path(name)))
}

// command changes files in a window.
func (b *bench) command(st *Step, run func()) {
	b.t.Helper()
	f, err := st.BeginCommand(b.t.Context())
	must(b.t, err)
	run()
	must(b.t, f.End(b.t.Context()))
}

func (b *bench) end(st *Step) StepRef {
	b.t.Helper()
	p, err := st.End(b.t.Context())
	must(b.t, err)
	return StepRef{Key: st.key, Before: p.Before, After: p.After, Files: p.Files}
}

func (b *bench) undo(key string, steps ...StepRef) Applied {
	b.t.Helper()
	p, err := b.work.Undo(b.t.Context(), steps)
	must(b.t, err)
	return b.apply(key, p)
}

func (b *bench) redo(key string) Applied {
	b.t.Helper()
	p, err := b.work.Redo(b.t.Context(), key)
	must(b.t, err)
	return b.apply(key, p)
}

func (b *bench) apply(key string, p Plan) Applied {
	b.t.Helper()
	done, err := b.work.Apply(b.t.Context(), key, p)
	must(b.t, err)
	return done
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rels are the paths of a patch below the top.
func (b *bench) rels(files []string) []string {
	out := []string{}
	for _, f := range files {
		out = append(out, strings.TrimPrefix(f, filepath.ToSlash(b.dir)+"/"))
	}
	return out
}

// gitRunner runs the real git, which is the judge.
type gitRunner struct{ gittest.Git }

func newGit(t testing.TB) gitRunner {
	t.Helper()
	return gitRunner{gittest.New(t)}
}

// repo makes a repository with what is in the directory committed.
func (g gitRunner) repo(dir string) {
	g.Helper()
	g.Run(dir, "init", "-q", "-b", "main")
	g.commit(dir)
}

func (g gitRunner) commit(dir string) {
	g.Helper()
	g.Run(dir, "add", "-A")
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "first")
}

// writeTree is the tree git would make of the directory, by its own index.
func (g gitRunner) writeTree(dir string) string {
	g.Helper()
	apart := g.With("GIT_INDEX_FILE=" + filepath.Join(g.TempDir(), "index"))
	apart.Run(dir, "-c", "core.autocrlf=false", "add", "-A", ".")
	return apart.Run(dir, "write-tree")
}

// settle makes the index of a repository younger than all files, which is what git leaves after a while:
// no file that was written together with its index is trusted.
func settle(t testing.TB, dir string) {
	t.Helper()
	later := time.Now().Add(3 * time.Second)
	must(t, os.Chtimes(filepath.Join(dir, ".git", "index"), later, later))
}
