package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// The flags of LockFileEx, and its error for a lock that another process holds.
const (
	failImmediately = 0x1
	exclusive       = 0x2
	lockViolation   = syscall.Errno(33)
)

func tryLock(f *os.File) error {
	lockFileEx := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	var where syscall.Overlapped
	ok, _, err := lockFileEx.Call(f.Fd(), failImmediately|exclusive, 0, 1, 0, uintptr(unsafe.Pointer(&where)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, lockViolation), errors.Is(err, syscall.ERROR_IO_PENDING):
		return ErrLocked
	}
	return err
}

// unlock has nothing to do: the file belongs to this process alone, and the lock ends with it.
func unlock(*os.File) error { return nil }
