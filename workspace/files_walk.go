package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Where the kernel has no option to refuse symlinks, the way is walked one name at a time, from
// one open directory to the next: each is looked at, opened, and compared. A name that is
// exchanged in between is noticed, because what was opened is not what was looked at.

// walkOpen opens what is at a real path.
func walkOpen(path string, flag int) (*os.File, error) {
	parts := names(path)
	dir, err := os.OpenRoot(volumeRoot(path))
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		defer dir.Close()
		return dir.OpenFile(".", flag, 0)
	}
	last := len(parts) - 1
	for _, name := range parts[:last] {
		if dir, err = step(dir, name); err != nil {
			return nil, err
		}
	}
	defer dir.Close()
	return openLeaf(dir, parts[last], flag)
}

// step opens a directory inside another, which it closes.
func step(dir *os.Root, name string) (*os.Root, error) {
	defer dir.Close()
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, ErrMoved
	case !info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir.Name(), name), Err: syscall.ENOTDIR}
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := sub.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		err = ErrMoved
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// openLeaf opens a file or directory inside a directory, and nothing a symlink leads to.
func openLeaf(dir *os.Root, name string, flag int) (*os.File, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrMoved
	}
	file, err := dir.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	now, err := file.Stat()
	if err == nil && !os.SameFile(info, now) {
		err = ErrMoved
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
