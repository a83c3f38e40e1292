package worktree

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
)

// An index has a header (signature, version, number of entries), the entries by path, extensions and a checksum. An
// entry begins with the stat of its file: times of change, device, inode, mode, owner and size. git compares these with
// the file before it reads the file. A copy has the same content and another stat, so that with the old index git would
// read all files of the tree once, which takes longer than to make it. Therefore the stats are replaced and the rest of
// the bytes stays. Entries of files that are not clean get a zero stat, which fits no file.
//
// Versions 2 and 3 pad entries with zeros to a multiple of eight bytes. Version 4 does not, and stores of each path only
// the end that differs from the path before it.

// indexFor returns the index for a copy: that of the checkout, with the stats of the copied files, so that
// git need not read them again. Staged changes and conflicts stay as they are.
func (r *repository) indexFor(c *copied) ([]byte, error) {
	if len(r.raw) == 0 {
		return nil, nil
	}
	size, sum := sha1.Size, hash.Hash(sha1.New())
	if !r.git.SHA1() {
		size, sum = sha256.Size, sha256.New()
	}
	if len(r.raw) < 12+size {
		return nil, errIndex
	}
	data := bytes.Clone(r.raw[:len(r.raw)-size])
	at, prev, err := 12, []byte(nil), error(nil)
	version := binary.BigEndian.Uint32(data[4:])
	for range binary.BigEndian.Uint32(data[8:]) {
		var next int
		if next, prev, err = indexEntry(data, at, size, version, prev); err != nil {
			return nil, err
		}
		patchStat(data[at:], c.clean[string(prev)])
		at = next
	}
	data, err = keptExtensions(data, at)
	if err != nil {
		return nil, err
	}
	sum.Write(data)
	return sum.Sum(data), nil
}

// errIndex means that the bytes do not fit what was parsed before, so that a copy would be wrong.
var errIndex = errors.New("the index of the repository is damaged; `git status` says more")

// indexEntry finds the end and the path of the entry at an offset.
func indexEntry(data []byte, at, size int, version uint32, prev []byte) (next int, path []byte, err error) {
	name := at + 40 + size + 2
	if name+2 > len(data) {
		return 0, nil, errIndex
	}
	if binary.BigEndian.Uint16(data[name-2:])&0x4000 != 0 {
		name += 2
	}
	keep := 0
	if version == 4 {
		cut, n := offsetVarint(data[name:])
		if n == 0 || cut > len(prev) {
			return 0, nil, errIndex
		}
		keep, name = len(prev)-cut, name+n
	}
	if name > len(data) {
		return 0, nil, errIndex
	}
	end := bytes.IndexByte(data[name:], 0)
	if end < 0 {
		return 0, nil, errIndex
	}
	path = append(prev[:keep:keep], data[name:name+end]...)
	if next = name + end + 1; version != 4 {
		next = at + (name+end-at)/8*8 + 8
	}
	if next > len(data) {
		return 0, nil, errIndex
	}
	return next, path, nil
}

// offsetVarint reads a number as version 4 of the index has it, and how many bytes it took.
func offsetVarint(data []byte) (n, read int) {
	for i, c := range data[:min(len(data), 5)] {
		n |= int(c & 0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
		n = (n + 1) << 7
	}
	return 0, 0
}

// patchStat writes the stat of a copied file into its entry. Without one git compares the content.
func patchStat(entry []byte, f *File) {
	word := func(at int, v uint32) { binary.BigEndian.PutUint32(entry[at:], v) }
	if f == nil {
		for at := 0; at < 24; at += 4 {
			word(at, 0)
		}
		return
	}
	s := f.stat
	word(0, uint32(s.Ctime/1e9))
	word(4, uint32(s.Ctime%1e9))
	word(8, uint32(s.Mtime/1e9))
	word(12, uint32(s.Mtime%1e9))
	word(16, uint32(s.Dev))
	word(20, uint32(s.Inode))
	word(28, s.UID)
	word(32, s.GID)
	word(36, uint32(s.Size))
}

// keptExtensions drops the extensions that speak of a place on disk (monitors, caches of untracked files,
// offsets), and keeps those that speak of contents.
func keptExtensions(data []byte, at int) ([]byte, error) {
	out, rest := data[:at:at], data[at:]
	for len(rest) >= 8 {
		n := int(binary.BigEndian.Uint32(rest[4:]))
		if n < 0 || n > len(rest)-8 {
			return nil, errIndex
		}
		switch string(rest[:4]) {
		case "TREE", "REUC", "sdir":
			out = append(out, rest[:8+n]...)
		}
		rest = rest[8+n:]
	}
	return out, nil
}
