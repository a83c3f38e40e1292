package sqlite

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks the open file, or fails at once. Closing the file releases it.
func tryLock(f *os.File) error { return lockFirst(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// tryShare fails while another process has the lock. Shared locks do not exclude each other.
func tryShare(f *os.File) error { return lockFirst(f, 0) }

func lockFirst(f *os.File, how uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
}
