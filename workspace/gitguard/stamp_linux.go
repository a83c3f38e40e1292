package gitguard

import (
	"io/fs"
	"syscall"
	"time"
)

// stamp tells whether a folder is still the one that it was: no program can choose the time at
// which the system says that it was changed.
type stamp struct {
	inode uint64
	time  time.Time
}

func stampOf(info fs.FileInfo) stamp {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{time: info.ModTime()}
	}
	return stamp{inode: s.Ino, time: time.Unix(s.Ctim.Unix())}
}
