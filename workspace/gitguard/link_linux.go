package gitguard

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// exchange gives each of two files the name of the other, in one step.
func exchange(a, b string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("exchange %s and %s: %w", a, b, err)
	}
	return nil
}

// ours reports whether a file belongs to the user that we are.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// lockAlone takes an exclusive lock, or fails at once. A share that was held is lost.
func lockAlone(f *os.File) error { return flock(f, unix.LOCK_EX|unix.LOCK_NB) }

// lockShared takes a share of a lock. Others have it alone for moments only.
func lockShared(f *os.File, most time.Duration) error {
	for end := time.Now().Add(most); ; time.Sleep(time.Millisecond) {
		if err := flock(f, unix.LOCK_SH|unix.LOCK_NB); err != unix.EWOULDBLOCK || time.Now().After(end) {
			return err
		}
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
