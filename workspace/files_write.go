package workspace

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/fence"
)

// Write makes data the content of the file, whole or not at all: it is written beside and
// renamed. Directories that are missing are made. The mode of a file that is replaced stays,
// its owner and its extended attributes; other names of it (hard links) keep the old content, so nothing outside is
// changed through one.
//
// Where a file may be written but not replaced (its directory is closed to this user, its
// owner is another, it is mounted by itself), it is overwritten in place.
//
// The file is not synced to disk: after a loss of power a file may be old or new, as with git.
func (f File) Write(data []byte) error {
	dir, err := f.parent()
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(f.Path)
	old, err := f.writable(dir, name)
	if err != nil {
		return err
	}
	err = replace(dir, name, old, data, f.fence)
	if err == nil {
		return nil
	}
	var keepErr *cannotKeep
	if old != nil && links(old) == 1 && errors.As(err, &keepErr) {
		err = f.overwrite(dir, name, old, data)
	}
	if err != nil {
		return sayWrite(f.Path, err)
	}
	return nil
}

// Remove removes the file, not a directory.
func (f File) Remove() error {
	dir, err := openDir(filepath.Dir(f.Path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(f.Path)
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return sayOpen(f.Path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return moved(f.Path)
	case info.IsDir():
		return notFile(f.Path, info.Mode())
	}
	if err := f.fence.Valid(); err != nil {
		return sayWrite(f.Path, err)
	}
	if err := dir.Remove(name); err != nil {
		return sayOpen(f.Path, err)
	}
	return nil
}

// parent opens the directory that holds the file, and makes it where it is missing.
func (f File) parent() (*os.Root, error) {
	var missing []string
	path := filepath.Dir(f.Path)
	dir, err := openDir(path)
	for errors.Is(err, fs.ErrNotExist) && path != volumeRoot(path) {
		missing = append(missing, filepath.Base(path))
		path = filepath.Dir(path)
		dir, err = openDir(path)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(missing) {
		path = filepath.Join(path, name)
		if err := dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			dir.Close()
			return nil, sayOpen(path, err)
		}
		if dir, err = step(dir, name); err != nil {
			return nil, sayOpen(path, err)
		}
	}
	return dir, nil
}

// writable returns the file to replace, nil if none exists, and refuses files that the user may
// not write: renaming would get around a file's own protection.
func (f File) writable(dir *os.Root, name string) (fs.FileInfo, error) {
	old, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, sayOpen(f.Path, err)
	case old.Mode()&fs.ModeSymlink != 0:
		return nil, moved(f.Path)
	case !old.Mode().IsRegular():
		return nil, notFile(f.Path, old.Mode())
	}
	file, err := openLeaf(dir, name, os.O_WRONLY)
	if err != nil {
		return nil, sayOpen(f.Path, err)
	}
	defer file.Close()
	return old, readable(file, f.Path, old)
}

// cannotKeep is the failure of something that overwriting in place does not need.
type cannotKeep struct{ error }

func (c *cannotKeep) Unwrap() error { return c.error }

// TempName is the name of a file that is being written and will replace another.
func TempName(unique string) string { return ".lathe-" + unique + ".tmp" }

// IsTempName reports whether a name is one of [TempName]: such a file is not a change of its own.
func IsTempName(name string) bool {
	return strings.HasPrefix(name, ".lathe-") && strings.HasSuffix(name, ".tmp")
}

// replace writes a new file and gives it the name.
func replace(dir *os.Root, name string, old fs.FileInfo, data []byte, until *fence.Fence) error {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // until it has the right one
	}
	temp := TempName(strconv.FormatUint(rand.Uint64(), 36))
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return &cannotKeep{err}
	}
	if err = fill(dir, name, file, old, data); err == nil {
		err = until.Valid() // writing may have taken long
	}
	if err == nil {
		if err = dir.Rename(temp, name); err == nil {
			return nil
		}
		err = &cannotKeep{err}
	}
	_ = dir.Remove(temp) // the error is reported
	return err
}

// fill gives a new file the owner, mode and attributes of the file it will replace, and its
// content, and closes it.
func fill(dir *os.Root, name string, file *os.File, old fs.FileInfo, data []byte) error {
	err := func() error {
		if old != nil {
			if err := keepOwner(file, old); err != nil {
				return &cannotKeep{err}
			}
			if err := CopyAttributes(file, dir, name); err != nil {
				return &cannotKeep{err}
			}
			if err := file.Chmod(old.Mode()); err != nil {
				return &cannotKeep{err}
			}
		}
		_, err := file.Write(data)
		return err
	}()
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// overwrite writes into the file that is there.
func (f File) overwrite(dir *os.Root, name string, old fs.FileInfo, data []byte) error {
	file, err := openLeaf(dir, name, os.O_WRONLY)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(info, old) {
		err = ErrMoved
	}
	if err == nil {
		err = f.fence.Valid()
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.Write(data)
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

func sayWrite(path string, err error) error {
	if errors.Is(err, ErrMoved) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return sayOpen(path, err)
	}
	return lathe.Errorf(lathe.Unavailable, "write %s: %w", path, err)
}
