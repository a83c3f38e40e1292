package gitguard

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// loosened is a file that the user's git has replaced while commands run, which then says text.
func loosened(t *testing.T, text string) (h *heldFiles, config string) {
	t.Helper()
	config = filepath.Join(t.TempDir(), ".git", "config")
	put(t, config, "[user]\n\tname = one\n")
	h = &heldFiles{aside: func(path string) error { return os.Rename(path, path+".aside") }}
	h.hold([]string{config})
	t.Cleanup(h.release)
	put(t, config+".new", text)
	if err := os.Rename(config+".new", config); err != nil {
		t.Fatal(err)
	}
	return h, config
}

// A command that can reach the file can also make git's lock, or a link in the place of the file. Neither
// keeps what it set.
func TestHeld_LockOfACommand(t *testing.T) {
	const evil = "[user]\n\tname = two\n[core]\n\tfsmonitor = evil\n"
	h, config := loosened(t, evil)
	put(t, config+".lock", "")
	h.look()
	if got := get(t, config); got == evil || get(t, config+".lock") != "" {
		t.Errorf("it says %q", got)
	}
	if found := h.take(); len(found) == 0 {
		t.Error("nobody is told")
	}
	put(t, filepath.Dir(config)+"/mine", evil)
	_ = os.Remove(config)
	if err := os.Symlink("mine", config); err != nil {
		t.Fatal(err)
	}
	h.look()
	if info, err := os.Lstat(config); err != nil || !info.Mode().IsRegular() || get(t, config) != "[user]\n\tname = one\n" {
		t.Errorf("the link is %v %v", info, err)
	}
}

// Git of the user does not meet a lock of ours where there is nothing to set back.
func TestHeld_NoLock(t *testing.T) {
	h, config := loosened(t, "[user]\n\tname = two\n")
	old := time.Unix(1e9, 0)
	if err := os.Chtimes(filepath.Dir(config), old, old); err != nil {
		t.Fatal(err)
	}
	h.look()
	if info, err := os.Stat(filepath.Dir(config)); err != nil || !info.ModTime().Equal(old) { // a lock would change it
		t.Errorf("%v %v", info.ModTime(), err)
	}
	if got := get(t, config); got != "[user]\n\tname = two\n" {
		t.Errorf("it says %q", got)
	}
}
