package search

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openVolume opens the tree at a real path. Linux can refuse symlinks anywhere in a path, so
// that one name is enough to open a directory however deep, and the entries and files of a
// directory are reached by its handle.
func openVolume(dir string) (volume, error) {
	fd, err := open2(unix.AT_FDCWD, dir, 0)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // an old kernel, or a jail that forbids it
		return openRooted(dir)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return &handles{fd: fd, buffers: sync.Pool{New: func() any { return new([32 << 10]byte) }}}, nil
}

// open2 opens a directory by a path without symlinks. Within says what else the way must not do.
func open2(at int, path string, within uint64) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | within,
	}
	for {
		fd, err := unix.Openat2(at, path, &how)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

type handles struct {
	fd      int
	buffers sync.Pool // for entries; *[32 << 10]byte
}

func (v *handles) close() { unix.Close(v.fd) }

func (v *handles) folder(dir string) (folder, error) {
	if dir == "" {
		dir = "."
	}
	fd, err := open2(v.fd, dir, unix.RESOLVE_BENEATH)
	if err != nil {
		return nil, err
	}
	return handle{fd, v}, nil
}

type handle struct {
	fd     int
	volume *handles
}

func (d handle) close() { unix.Close(d.fd) }

func (d handle) entries(list []entry) ([]entry, error) {
	buf := d.volume.buffers.Get().(*[32 << 10]byte)
	defer d.volume.buffers.Put(buf)
	for {
		n, err := unix.Getdents(d.fd, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return list, err
		}
		for at := buf[:n]; len(at) > 0; {
			var e entry
			if e, at = d.entry(at); e.name != "" {
				list = append(list, e)
			}
		}
	}
}

// entry reads the first record of what the kernel wrote, and returns what is behind it. The name
// is empty for what is no entry.
func (d handle) entry(rec []byte) (entry, []byte) {
	const (
		lengthAt = unsafe.Offsetof(unix.Dirent{}.Reclen)
		typeAt   = unsafe.Offsetof(unix.Dirent{}.Type)
		nameAt   = unsafe.Offsetof(unix.Dirent{}.Name)
		inodeAt  = unsafe.Offsetof(unix.Dirent{}.Ino)
	)
	if len(rec) < int(nameAt) {
		return entry{}, nil
	}
	length := int(binary.NativeEndian.Uint16(rec[lengthAt:]))
	if length < int(nameAt) || length > len(rec) {
		return entry{}, nil
	}
	name, rest := rec[nameAt:length], rec[length:]
	for i, c := range name {
		if c == 0 {
			name = name[:i]
			break
		}
	}
	if binary.NativeEndian.Uint64(rec[inodeAt:]) == 0 || string(name) == "." || string(name) == ".." {
		return entry{}, rest
	}
	e := entry{name: string(name)}
	switch rec[typeAt] {
	case unix.DT_REG:
		e.kind = file
	case unix.DT_DIR:
		e.kind = directory
	case unix.DT_UNKNOWN: // some file systems do not say
		e.kind = d.kind(e.name)
	}
	return e, rest
}

func (d handle) kind(name string) kind {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return other
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return file
	case unix.S_IFDIR:
		return directory
	}
	return other
}

func (d handle) open(name string) (content, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	var fd int
	var err error
	for {
		if fd, err = unix.Openat(d.fd, name, flags, 0); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return rawFile{fd, st.Size}, nil
}

// rawFile reads without the bookkeeping of os.File, which costs as much as a small read.
type rawFile struct {
	fd    int
	bytes int64
}

func (f rawFile) size() int64 { return f.bytes }

func (f rawFile) Close() error { return unix.Close(f.fd) }

func (f rawFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, p)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n <= 0:
			return 0, io.EOF
		}
		return n, nil
	}
}
