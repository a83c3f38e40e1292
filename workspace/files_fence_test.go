package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/fence"
)

// A node that lost its lease replaces and removes no file, and does both while it has the lease.
func TestFile_NothingChangesAfterTheFence(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	limit := fence.New()
	f := File{Path: path}.Within(fence.NewContext(t.Context(), limit))
	for _, err := range []error{f.Write([]byte("late")), f.Remove()} {
		if !errors.Is(err, fence.ErrExpired) {
			t.Errorf("after the fence: %v", err)
		}
	}
	if b, err := os.ReadFile(path); string(b) != "old" {
		t.Errorf("the file holds %q (%v)", b, err)
	}
	if left, err := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v is left (%v)", left, err)
	}
	limit.Extend(fence.Now() + time.Minute)
	if err := f.Write([]byte("new")); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "new" {
		t.Errorf("the file holds %q", b)
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
}
