package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What another command takes away between two looks is still known as something that stood in.
func TestStandsIn_Gone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "name")
	if err := unix.Mkdir(path, folderMark); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || !standsIn(path, info) {
		t.Fatal("not known while it is there: ", err)
	}
	if err := os.Remove(path); err != nil || !standsIn(path, info) {
		t.Error("taken for somebody's own: ", err)
	}
}
