package snapshot

import (
	"io/fs"
	"time"

	"github.com/lathe-agent/lathe/internal/filestat"
)

// racyTime is how long a second change may leave the same time stamp: file system clocks tick every few
// milliseconds.
const racyTime = 20 * time.Millisecond

// The file modes of git.
const (
	modeFile = 0o100644
	modeExec = 0o100755
	modeLink = 0o120000
	modeTree = 0o040000
	modeRepo = 0o160000 // another repository, known by its commit alone
	kindMask = 0o170000
)

// stat detects changes to a file without reading it.
type stat struct {
	size, mtime, ctime int64 // times in nanoseconds
	inode              uint64
	perm               uint32 // the permissions, as chmod takes them
}

func statOf(info fs.FileInfo) stat {
	s := filestat.Of(info)
	return stat{size: s.Size, mtime: s.Mtime, ctime: s.Ctime, inode: s.Inode, perm: uint32(info.Mode().Perm())}
}

// gitMode converts a mode to git's; 0 for unknown kinds.
func gitMode(m fs.FileMode) uint32 {
	switch {
	case m&fs.ModeSymlink != 0:
		return modeLink
	case !m.IsRegular():
		return 0
	case m&0o100 != 0:
		return modeExec
	}
	return modeFile
}

// racy reports whether a file may still change without a change of its stat.
func (s stat) racy(now time.Time) bool {
	last := max(s.mtime, s.ctime)
	window := int64(racyTime)
	if s.mtime%1e9 == 0 { // a file system that may store whole seconds
		window = int64(2 * time.Second)
	}
	return now.UnixNano()-last < window
}
