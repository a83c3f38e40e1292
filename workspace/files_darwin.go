package workspace

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const openDirectory = unix.O_DIRECTORY

// openExact opens what is at a real path; a symlink anywhere on it is [ErrMoved].
func openExact(path string, flag int) (*os.File, error) {
	for {
		fd, err := unix.Open(path, flag|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_NOFOLLOW_ANY, 0)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ELOOP):
			return nil, ErrMoved
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// kernelFiles is empty: there is no file system of the kernel's.
func kernelFiles(*os.File) string { return "" }
