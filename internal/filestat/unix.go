//go:build unix

package filestat

import (
	"io/fs"
	"syscall"
)

func (s *Stat) fill(info fs.FileInfo) {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Inode, s.Ctime, s.Dev, s.UID, s.GID = sys.Ino, changeTime(sys), uint64(sys.Dev), sys.Uid, sys.Gid
	}
}
