// Package filestat reads what tells a changed file from an unchanged one without reading it.
package filestat

import "io/fs"

// Stat is the size, times and number of a file. Where a system has no change time or inode number,
// those are zero.
type Stat struct {
	Size, Mtime, Ctime int64 // times in nanoseconds
	Inode              uint64
	Dev                uint64
	UID, GID           uint32
}

// Of returns the stat of a file.
func Of(info fs.FileInfo) Stat {
	s := Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	s.fill(info)
	return s
}
