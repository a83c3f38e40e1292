//go:build unix

package othertool

import (
	"io/fs"
	"os"
	"syscall"
)

// openRegular opens a file without following a link and without waiting for a writer.
func openRegular(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// foreign returns the owner of a file that is not the user's.
func foreign(info fs.FileInfo) (uid uint32, ok bool) {
	s, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return s.Uid, int64(s.Uid) != int64(os.Geteuid())
}

// isOpen reports whether other users can read or write the file.
func isOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
