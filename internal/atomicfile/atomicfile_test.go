package atomicfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "file")
	for _, text := range []string{"one", "", strings.Repeat("x", 1<<20)} {
		if err := atomicfile.Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("%d bytes, %v; want %d", len(got), err, len(text))
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left %v %v", left, err)
	}
}

// What cannot be put in place leaves nothing behind, and what was there as it was.
func TestWrite_Fails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v %v", left, err)
	}
}

// Many who write at once leave the whole of one of theirs.
func TestWrite_AtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var all sync.WaitGroup
	for _, c := range "abcdefgh" {
		all.Go(func() {
			for range 20 {
				if err := atomicfile.Write(path, []byte(strings.Repeat(string(c), 5000))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 5000 || strings.Count(string(got), string(got[0])) != 5000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
