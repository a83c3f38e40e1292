//go:build unix

package snapshot

import (
	"io/fs"
	"syscall"
)

func statOf(info fs.FileInfo) stat {
	s := stat{size: info.Size(), mtime: info.ModTime().UnixNano(), perm: uint32(info.Mode().Perm())}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode, s.ctime = sys.Ino, changeTime(sys)
	}
	return s
}
