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

// BenchmarkCreate measures a tree of 20,000 files against the raw write of the same files, in turns: a noisy machine
// slows both. The best of each counts.
func BenchmarkCreate(b *testing.B) {
	repo := manyFiles(b)
	var raw, tree time.Duration
	best := func(old, now time.Duration) time.Duration {
		if old == 0 {
			return now
		}
		return min(old, now)
	}
	for b.Loop() {
		folder, err := os.MkdirTemp(filepath.Dir(repo.dir), "raw")
		must(b, err)
		raw = best(raw, rawWrite(repo, folder))
		began := time.Now()
		made := repo.create("")
		tree = best(tree, time.Since(began))
		_, err = made.Drop(b.Context(), false)
		must(b, err)
		must(b, os.RemoveAll(folder))
	}
	b.ReportMetric(tree.Seconds()*1000, "tree-ms")
	b.ReportMetric(raw.Seconds()*1000, "raw-ms")
	b.ReportMetric(tree.Seconds()/raw.Seconds(), "raws")
}
