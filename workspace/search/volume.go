package search

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// kind is the kind of a directory entry.
type kind uint8

const (
	other kind = iota // symlinks, devices, pipes, sockets: never opened
	file
	directory
)

type entry struct {
	name string
	kind kind
}

// volume is a directory tree that is reached from its top alone: whatever is moved or linked
// into it meanwhile, no name leads out.
type volume interface {
	// folder opens a directory by its path below the top, with slashes; "" is the top.
	folder(dir string) (folder, error)
	close()
}

// folder is one open directory.
type folder interface {
	// entries appends all entries to list, in any order.
	entries(list []entry) ([]entry, error)
	// open opens a regular file, and fails for anything else without waiting.
	open(name string) (content, error)
	close()
}

// content is an open file. Size is its size when it was opened; it may grow or shrink.
type content interface {
	io.ReadCloser
	size() int64
}

// errNotRegular is why a file is left out that has become something else.
var errNotRegular = errors.New("not a regular file")

// rooted is a volume for every system. It relies on [os.Root].
type rooted struct{ root *os.Root }

func openRooted(dir string) (volume, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return rooted{r}, nil
}

func (v rooted) close() { v.root.Close() }

func (v rooted) folder(dir string) (folder, error) {
	if dir == "" {
		dir = "."
	}
	return rootedFolder{v.root, dir}, nil
}

type rootedFolder struct {
	root *os.Root
	dir  string
}

func (rootedFolder) close() {}

func (d rootedFolder) entries(list []entry) ([]entry, error) {
	f, err := d.root.Open(d.dir)
	if err != nil {
		return list, err
	}
	defer f.Close()
	found, err := f.ReadDir(-1)
	for _, e := range found {
		list = append(list, entry{e.Name(), kindOf(e.Type())})
	}
	return list, err
}

func (d rootedFolder) open(name string) (content, error) {
	full := path.Join(d.dir, name)
	info, err := d.root.Lstat(full)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := d.root.OpenFile(full, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return rootedFile{f, info.Size()}, nil
}

type rootedFile struct {
	*os.File
	bytes int64
}

func (f rootedFile) size() int64 { return f.bytes }

func kindOf(m fs.FileMode) kind {
	switch {
	case m.IsRegular():
		return file
	case m.IsDir():
		return directory
	}
	return other
}
