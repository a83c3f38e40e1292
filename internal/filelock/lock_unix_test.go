//go:build unix

package filelock

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A process that has a copy of the file, as each has before it runs its program, keeps no lock that was given back.
func TestRelease_CopyOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f, other := open(), open()
	defer other.Close()
	if err := TryLock(f); err != nil {
		t.Fatal(err)
	}
	cat := exec.Command("cat")
	cat.ExtraFiles = []*os.File{f}
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cat.Wait() }()
	if err := Release(f); err != nil {
		t.Fatal(err)
	}
	if err := TryLock(other); err != nil {
		t.Errorf("after the release: %v", err)
	}
}
