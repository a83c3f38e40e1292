package gitguard

import (
	"io/fs"
	"syscall"
	"time"
)

func stampOf(info fs.FileInfo) stamp {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{time: info.ModTime()}
	}
	return stamp{inode: s.Ino, time: time.Unix(s.Ctim.Unix())}
}
