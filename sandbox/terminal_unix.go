//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// terminal opens a pair of terminals and starts the program in one of them.
func (r *Runner) terminal(c Command, rows, cols int) (*Terminal, error) {
	opened, theirs, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer func() { _ = theirs.Close() }()
	ours, err := pollable(opened)
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	t := &Terminal{File: ours, grace: r.grace, done: make(chan struct{})}
	err = t.Resize(rows, cols)
	if err == nil {
		t.tree, err = r.startMonitored(c, streams{in: theirs, out: theirs, err: theirs})
	}
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	if tree, ok := t.tree.(interface{ command() int }); ok {
		t.pid = tree.command()
	}
	return t, nil
}

// pollable is the same file such that reading and writing it can be given up, which the package
// that opened it took away.
func pollable(f *os.File) (*os.File, error) {
	defer func() { _ = f.Close() }()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "terminal"), nil
}

// Resize sets the size of the program's terminal.
func (t *Terminal) Resize(rows, cols int) error {
	raw, err := t.SyscallConn()
	if err != nil {
		return err
	}
	size := &unix.Winsize{Row: uint16(min(max(rows, 1), math.MaxUint16)), Col: uint16(min(max(cols, 1), math.MaxUint16))}
	err2 := raw.Control(func(fd uintptr) { err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
	return errors.Join(err, err2)
}

func (g *group) command() int { return g.process.Pid }
