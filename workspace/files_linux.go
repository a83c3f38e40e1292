package workspace

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const openDirectory = unix.O_DIRECTORY

// openExact opens what is at a real path; a symlink anywhere on it is [ErrMoved]. The kernel
// checks the whole way at once, and search permission on it is enough.
func openExact(path string, flag int) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   uint64(flag) | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY,
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ELOOP):
			return nil, ErrMoved
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // old, or filtered by a container
			return walkOpen(path, flag)
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// kernelFiles names the file system of files that only look regular: they have no size, may
// never end, and hold what other processes keep in memory.
func kernelFiles(file *os.File) string {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &st); err != nil {
		return ""
	}
	switch int64(st.Type) {
	case unix.PROC_SUPER_MAGIC:
		return "proc"
	case unix.DEBUGFS_MAGIC:
		return "debugfs"
	case unix.TRACEFS_MAGIC:
		return "tracefs"
	}
	return ""
}
