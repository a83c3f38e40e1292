//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestFile_Special(t *testing.T) {
	dir, _ := sandboxed(t)
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Skipf("no pipe here: %v", err)
	}
	short, err := os.MkdirTemp("", "s") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	socket := filepath.Join(short, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skipf("no socket here: %v", err)
	}
	defer l.Close()
	tests := map[string]string{fifo: "a pipe", socket: "a socket", "/dev/zero": "a device", "/dev/null": "a device", dir: "a directory"}
	if runtime.GOOS == "linux" {
		tests["/proc/self/status"] = "kernel file"
		tests["/proc/self/environ"] = "kernel file"
		tests["/proc/kmsg"] = "kernel file"
	}
	for path, says := range tests {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		f := resolved(t, "/", path)
		file, err := f.Open()
		if file != nil {
			file.Close()
		}
		if !errors.Is(err, ErrNotFile) || !strings.Contains(err.Error(), says) {
			if !errors.Is(err, fs.ErrPermission) { // not everyone may look at all of them
				t.Errorf("open %s: %v", path, err)
			}
		}
		if err := f.Write([]byte("x")); err == nil {
			t.Errorf("%s was written", path)
		}
		if f.Info == nil || f.Info.Mode().IsRegular() {
			continue
		}
		// One that takes the place of a file after it was judged does not make anyone wait.
		if _, err := (File{Path: f.Path}).Open(); err == nil {
			t.Errorf("%s was opened unseen", path)
		}
	}
	if err := (File{Path: dir}).Remove(); err == nil {
		t.Error("a directory was removed")
	}
}

// asUser runs f on a thread whose access to files is that of a user without any rights.
func asUser(t *testing.T, dir string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		if !dropRoot() {
			t.Log("this system has no access rights for one thread; not tried as root")
			return
		}
		f()
	}()
	<-done
}

func TestFile_WithoutRights(t *testing.T) {
	dir, _ := sandboxed(t)
	put(t, filepath.Join(dir, "secret"), "s")
	put(t, filepath.Join(dir, "fixed"), "keep")
	put(t, filepath.Join(dir, "closed/f"), "old")
	put(t, filepath.Join(dir, "hidden/f"), "deep")
	put(t, filepath.Join(dir, "closed/two"), "two")
	if err := os.Link(filepath.Join(dir, "closed/two"), filepath.Join(dir, "two")); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]fs.FileMode{"secret": 0, "fixed": 0o444, "closed/f": 0o666, "closed/two": 0o666, "closed": 0o555, "hidden/f": 0o644, "hidden": 0o711, "": 0o777} {
		if err := os.Chmod(filepath.Join(dir, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o755) })
	asUser(t, dir, func() {
		if _, err := resolved(t, dir, "secret").ReadAll(9); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("read: %v", err)
		}
		if err := resolved(t, dir, "fixed").Write([]byte("bad")); !errors.Is(err, fs.ErrPermission) || content(t, filepath.Join(dir, "fixed")) != "keep" {
			t.Errorf("a file that may only be read was replaced: %v", err)
		}
		// It cannot be replaced, since its directory is closed, but it can be written.
		if err := resolved(t, dir, "closed/f").Write([]byte("in place")); err != nil || content(t, filepath.Join(dir, "closed/f")) != "in place" {
			t.Errorf("in place: %v", err)
		}
		// Unless it has a second name, which may be anywhere.
		if err := resolved(t, dir, "closed/two").Write([]byte("bad")); err == nil || content(t, filepath.Join(dir, "two")) != "two" {
			t.Errorf("in place with two names: %v", err)
		}
		if err := resolved(t, dir, "closed/new").Write([]byte("bad")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("new file in a closed directory: %v", err)
		}
		// To search a directory is enough to read in it.
		if data, err := resolved(t, dir, "hidden/f").ReadAll(9); runtime.GOOS == "linux" && (err != nil || string(data) != "deep") {
			t.Errorf("read below a directory that cannot be listed: %q, %v", data, err)
		}
		if err := resolved(t, dir, "mine/new").Write([]byte("ok")); err != nil {
			t.Errorf("write: %v", err)
		}
	})
	leftovers(t, dir)
}

// A file of another user keeps its owner.
func TestFile_WriteKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir, _ := sandboxed(t)
	put(t, filepath.Join(dir, "f"), "x")
	if err := os.Chown(filepath.Join(dir, "f"), 65534, 65533); err != nil {
		t.Skip(err)
	}
	if err := resolved(t, dir, "f").Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 65534 || st.Gid != 65533 {
		t.Errorf("owner %d:%d", st.Uid, st.Gid)
	}
}
