//go:build !linux

package gitguard

import (
	"io/fs"
	"time"
)

// stamp tells whether a folder is still the one that it was.
type stamp struct {
	inode uint64
	time  time.Time
}

func stampOf(info fs.FileInfo) stamp { return stamp{time: info.ModTime()} }
