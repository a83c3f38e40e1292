package snapshot

import (
	"io/fs"
	"time"
)

// racyTime is how long after a change another may leave the same time stamp behind: clocks of file
// systems tick every few milliseconds.
const racyTime = 20 * time.Millisecond

// The modes git knows.
const (
	modeFile = 0o100644
	modeExec = 0o100755
	modeLink = 0o120000
	modeTree = 0o040000
	modeRepo = 0o160000 // another repository, of which only a commit is known
	kindMask = 0o170000
)

// stat is what tells that a file was changed without reading it.
type stat struct {
	size, mtime, ctime int64 // times in nanoseconds
	inode              uint64
	perm               uint32 // the permissions, as chmod takes them
}

// gitMode is how git sees a file; 0 for what it does not know.
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

// racy reports whether a file that was read now may yet change without its stat showing it.
func (s stat) racy(now time.Time) bool {
	last := max(s.mtime, s.ctime)
	window := int64(racyTime)
	if s.mtime%1e9 == 0 { // a file system that may keep whole seconds
		window = int64(2 * time.Second)
	}
	return now.UnixNano()-last < window
}
