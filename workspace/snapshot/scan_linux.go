package snapshot

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// handle is an open directory. Its entries are opened relative to it, without following symlinks.
type handle struct{ fd int }

const openFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY

func openHandle(path string) (handle, error) {
	fd, err := openat(unix.AT_FDCWD, path, openFlags|unix.O_DIRECTORY)
	if err != nil {
		return handle{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return handle{fd}, nil
}

func openat(at int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(at, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func (h handle) close() { unix.Close(h.fd) }

func (h handle) open(name string) (handle, error) {
	fd, err := openat(h.fd, name, openFlags|unix.O_DIRECTORY)
	return handle{fd}, err
}

// list appends the entries. It reuses the names in old, so that a walk over an unchanged tree allocates
// none.
func (h handle) list(old *dir, out []listed, buf *[scanBuffer]byte) ([]listed, error) {
	for {
		n, err := unix.Getdents(h.fd, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return out, err
		}
		for rest := buf[:n]; len(rest) > 0; {
			var name []byte
			var kind uint8
			if name, kind, rest = direntry(rest); len(name) == 0 {
				continue
			}
			e := listed{old: -1}
			if i, ok := findBytes(old, name); ok {
				e.old, e.name = i, old.items[i].name
			} else {
				e.name = string(name)
			}
			e.kind = h.kindOf(kind, e.name)
			out = append(out, e)
		}
	}
}

func findBytes(d *dir, name []byte) (int, bool) {
	if d == nil {
		return 0, false
	}
	return slices.BinarySearchFunc(d.items, name, func(it item, name []byte) int { return strings.Compare(it.name, string(name)) })
}

// direntry reads the first directory record in the kernel's buffer.
func direntry(rec []byte) (name []byte, kind uint8, rest []byte) {
	const (
		inodeAt  = unsafe.Offsetof(unix.Dirent{}.Ino)
		lengthAt = unsafe.Offsetof(unix.Dirent{}.Reclen)
		typeAt   = unsafe.Offsetof(unix.Dirent{}.Type)
		nameAt   = unsafe.Offsetof(unix.Dirent{}.Name)
	)
	if len(rec) < int(nameAt) {
		return nil, 0, nil
	}
	length := int(binary.NativeEndian.Uint16(rec[lengthAt:]))
	if length < int(nameAt) || length > len(rec) {
		return nil, 0, nil
	}
	name, rest = rec[nameAt:length], rec[length:]
	if end := slices.Index(name, 0); end >= 0 {
		name = name[:end]
	}
	if binary.NativeEndian.Uint64(rec[inodeAt:]) == 0 || string(name) == "." || string(name) == ".." {
		return nil, 0, rest
	}
	return name, rec[typeAt], rest
}

func (h handle) kindOf(t uint8, name string) entryKind {
	switch t {
	case unix.DT_REG:
		return aFile
	case unix.DT_DIR:
		return aFolder
	case unix.DT_LNK:
		return aLink
	case unix.DT_UNKNOWN: // not reported by some file systems
		var st unix.Stat_t
		if unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return aSpecial
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			return aFile
		case unix.S_IFDIR:
			return aFolder
		case unix.S_IFLNK:
			return aLink
		}
	}
	return aSpecial
}

func (h handle) lstat(name string) (stat, uint32, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stat{}, 0, err
	}
	return fromStat(&st)
}

func fromStat(st *unix.Stat_t) (stat, uint32, error) {
	s := stat{size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), inode: st.Ino, perm: st.Mode & 0o777}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return s, modeLink, nil
	case unix.S_IFREG:
		if st.Mode&0o100 != 0 {
			return s, modeExec, nil
		}
		return s, modeFile, nil
	}
	return s, 0, nil
}

// read returns the content of a file or the target of a link, and its stat at that time.
func (h handle) read(name string, kind entryKind) (data []byte, s stat, mode uint32, steady bool, err error) {
	if kind == aLink {
		if s, mode, err = h.lstat(name); err != nil || mode != modeLink {
			return nil, s, mode, false, err
		}
		buf := make([]byte, 4096)
		n, err := unix.Readlinkat(h.fd, name, buf)
		if err != nil {
			return nil, s, mode, false, err
		}
		return buf[:n], s, mode, true, nil
	}
	fd, err := openat(h.fd, name, openFlags)
	if err != nil {
		return nil, s, 0, false, err
	}
	f := fdReader(fd)
	defer unix.Close(fd)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err != nil {
		return nil, s, 0, false, err
	}
	if s, mode, _ = fromStat(&st); mode == 0 || s.size > maxContent {
		return nil, s, mode, false, nil
	}
	if data, err = readAll(f, s.size); err != nil {
		return nil, s, mode, false, err
	}
	if err = unix.Fstat(fd, &st); err != nil {
		return nil, s, mode, false, err
	}
	after, _, _ := fromStat(&st)
	return data, s, mode, after == s, nil
}

// fdReader reads a file without the cost of an [os.File], which matters in a first walk.
type fdReader int

func (f fdReader) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(f), p)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}
