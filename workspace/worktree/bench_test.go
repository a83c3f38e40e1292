package worktree

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// manyFiles is a repository with 20,000 committed files of 2 KB in 400 folders.
func manyFiles(t testing.TB) *bench {
	b := newRepo(t)
	text := bytes.Repeat([]byte("0123456789abcde\n"), 128)
	for d := range 400 {
		dir := b.path(fmt.Sprintf("src/%02d/%02d", d/20, d%20))
		must(t, os.MkdirAll(dir, 0o755))
		for f := range 50 {
			must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%02d.go", f)), append(text, fmt.Sprintln(d, f)...), 0o644))
		}
	}
	b.git.Run(b.dir, "add", "-A")
	b.git.Run(b.dir, "commit", "-q", "-m", "many")
	old := time.Now().Add(-time.Hour) // a file as young as the index is read again
	must(t, filepath.WalkDir(b.path("src"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			err = os.Chtimes(path, old, old)
		}
		return err
	}))
	b.git.Run(b.dir, "update-index", "--refresh", "--force-write-index")
	return b
}

// rawWrite writes the same files as a copy of b would.
func rawWrite(b *bench, to string) time.Duration {
	all := files(b, b.dir)
	began := time.Now()
	made := map[string]bool{}
	for name, text := range all {
		path := filepath.Join(to, name)
		if dir := filepath.Dir(path); !made[dir] {
			must(b, os.MkdirAll(dir, 0o755))
			made[dir] = true
		}
		must(b, os.WriteFile(path, []byte(text), 0o644))
	}
	return time.Since(began)
}

// TestCreate_20kFiles measures a tree of 20,000 files against the raw write of the same files.
func TestCreate_20kFiles(t *testing.T) {
	if os.Getenv("LATHE_MEASURE") == "" {
		t.Skip("set LATHE_MEASURE=1 to measure")
	}
	b := manyFiles(t)
	for i := range 4 {
		raw := rawWrite(b, filepath.Join(t.TempDir(), "raw"))
		began := time.Now()
		tree := b.create("")
		took := time.Since(began)
		began = time.Now()
		b.git.Run(b.dir, "worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "git"))
		gitTook := time.Since(began)
		began = time.Now()
		changes, err := tree.Changes(t.Context())
		must(t, err)
		scan := time.Since(began)
		began = time.Now()
		st := b.git.Run(tree.Path, "status", "--porcelain")
		t.Logf("%d: raw write %v, tree %v (%.2f), git worktree add %v, changes %v (%d), git status %v %q", i, raw, took, float64(took)/float64(raw), gitTook, scan, len(changes), time.Since(began), st)
	}
}
