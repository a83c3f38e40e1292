//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// keepOwner gives a file the owner and group of another.
func keepOwner(file *os.File, old fs.FileInfo) error {
	now, err := file.Stat()
	if err != nil {
		return err
	}
	is, ok := now.Sys().(*syscall.Stat_t)
	was, known := old.Sys().(*syscall.Stat_t)
	if !ok || !known || is.Uid == was.Uid && is.Gid == was.Gid {
		return nil
	}
	return file.Chown(int(was.Uid), int(was.Gid))
}
