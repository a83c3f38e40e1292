package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const overlayWord = "__sandbox-overlay"

// CanOverlay reports why no overlay can be made for a command whose changes go below a folder, nil
// if it can. It makes the folder, and starts a process that tries.
func CanOverlay(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	probe, err := os.MkdirTemp(dir, ".probe-")
	if err != nil {
		return err
	}
	defer func() { _ = RemoveTree(probe) }() // leftovers are empty
	for _, name := range []string{"lower", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(probe, name), 0o700); err != nil {
			return err
		}
	}
	said, saying, err := os.Pipe()
	if err != nil {
		return err
	}
	sys := &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	ownUsers(sys)
	p, err := os.StartProcess(Self(), []string{"lathe", overlayWord, probe}, &os.ProcAttr{Dir: "/", Env: []string{}, Files: []*os.File{nil, saying, nil}, Sys: sys})
	_ = saying.Close() // it is the child's
	defer func() { _ = said.Close() }()
	if err != nil {
		return err
	}
	text := make([]byte, 200)
	n, _ := said.Read(text) // nothing says that it worked
	if state, err := p.Wait(); err != nil || !state.Success() {
		return errors.Join(err, errors.New("no overlay can be made: "+strings.TrimSpace(string(text[:n]))))
	}
	return nil
}

// CanMount reports whether a command can have mounts of its own. A process tries, and ends at a
// program that does not exist.
func CanMount() bool {
	sys := &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS} // with which it mounts something, too
	ownUsers(sys)
	_, err := os.StartProcess("/proc/self/none", nil, &os.ProcAttr{Dir: "/", Env: []string{}, Sys: sys})
	return errors.Is(err, syscall.ENOENT)
}

// tryOverlay is the life of the process that tries.
func tryOverlay(dir string) int {
	at := func(name string) string { return filepath.Join(dir, name) }
	fd, err := overlay(Mount{Source: at("lower"), Upper: at("upper"), Work: at("work")})
	if err == nil {
		err = unix.Close(fd)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, err) // the caller may be gone
		return 1
	}
	return 0
}
