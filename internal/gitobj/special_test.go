//go:build unix

package gitobj

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe waits for a writer. None may be opened, wherever it lies.
func TestRepo_Pipes(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	git.load(dir, history(rand.New(rand.NewPCG(21, 22)), 10), true)
	git.load(dir, history(rand.New(rand.NewPCG(23, 24)), 10), false)
	git.Run(dir, "pack-refs", "--all")
	r := open(t, dir, dir)
	head, err := r.Head()
	if err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*"))
	if err != nil || len(packs) < 2 {
		t.Fatalf("packs %q, %v", packs, err)
	}
	name := head.ID.String()
	for _, path := range append(packs,
		filepath.Join(dir, "objects", name[:2], name[2:]), filepath.Join(dir, "packed-refs"), filepath.Join(dir, "HEAD"),
		filepath.Join(dir, "refs", "heads", "main"), filepath.Join(dir, "refs", "heads", "pipe"), filepath.Join(dir, "shallow"),
		filepath.Join(dir, "objects", "info", "alternates"), filepath.Join(dir, "config"), filepath.Join(dir, "worktrees"),
		filepath.Join(dir, "objects", "pack")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			saved := path + ".saved"
			moved := os.Rename(path, saved)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Skip("no pipes here: ", err)
			}
			defer func() {
				_ = os.Remove(path)
				if moved == nil {
					_ = os.Rename(saved, path)
				}
			}()
			r, err := Open(dir, dir)
			if err != nil {
				return
			}
			defer r.Close()
			_, _ = r.Head()
			refs, _ := r.Refs(t.Context())
			_, _ = r.Roots(t.Context(), refs)
			_, _, _ = r.Object(head.ID)
		})
	}
}

// Some files of the system are regular, say that they are empty, and continue for ever.
func TestReadFile_Endless(t *testing.T) {
	const path = "/proc/self/pagemap"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there is no such file here: ", err)
	}
	if data, err := ReadFile(path, 1000); err == nil || len(data) > 1000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// Folders of refs may be links at the top, as some tools make them, and not below, where
// they could lead in circles.
func TestRefs_Links(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	git.load(dir, history(rand.New(rand.NewPCG(25, 26)), 10), false)
	r := open(t, dir, dir)
	want, err := r.Refs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"refs", "objects"} {
		if err := errors.Join(os.Rename(filepath.Join(dir, name), filepath.Join(dir, name+"-elsewhere")),
			os.Symlink(name+"-elsewhere", filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "HEAD")), os.Symlink("refs/heads/main", filepath.Join(dir, "HEAD"))); err != nil {
		t.Fatal(err)
	}
	agree(t, git, dir, dir, dir)
	if err := os.Symlink("..", filepath.Join(dir, "refs", "heads", "loop")); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, dir, dir).Refs(t.Context())
	if err != nil || len(got) != len(want) {
		t.Errorf("refs %v, %v; want %v", got, err, want)
	}
}
