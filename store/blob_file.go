package store

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lathe-agent/lathe"
)

// files stores large values as files named by their hash, in folders of its first two digits.
type files struct {
	dir string
	// unsynced, if not nil, collects the folders whose names syncNames syncs later.
	unsynced map[string]bool
}

// NewFiles returns the large values that a store with the same Options.Blobs keeps as files.
func NewFiles(dir string) Blobs { return &files{dir: dir} }

func (f *files) path(hash string) string { return filepath.Join(f.dir, hash[:2], hash[2:]) }

// Put writes the file unless it exists, and syncs it, because the row that refers to it may be synced next.
func (f *files) Put(_ context.Context, hash string, data []byte) error {
	return f.ensure(blob{hash: hash, size: int64(len(data)), data: data})
}

// ensure writes to a temporary file and renames it, so that a file with a hash as its name is
// always complete.
func (f *files) ensure(one blob) error {
	path := f.path(one.hash)
	if info, err := os.Stat(path); err == nil && info.Size() == one.size {
		return nil
	}
	if one.data == nil {
		return lathe.Errorf(lathe.Unavailable, "the file of a large value (%s…) was removed during the import; import again", one.hash[:12])
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return blobError("write", one.hash, err)
	}
	file, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return blobError("write", one.hash, err)
	}
	_, err = file.Write(one.data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return blobError("write", one.hash, err)
	}
	if f.unsynced != nil {
		f.unsynced[dir], f.unsynced[f.dir] = true, true
		return nil
	}
	syncDir(dir)
	syncDir(f.dir)
	return nil
}

// syncNames syncs the names of the files written so far.
func (f *files) syncNames() {
	for dir := range f.unsynced {
		syncDir(dir)
	}
	clear(f.unsynced)
}

// syncDir syncs the file names in a folder, so that they survive a power cut, where the
// system supports it.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

func (f *files) Get(_ context.Context, hash string) ([]byte, error) {
	data, err := os.ReadFile(f.path(hash))
	if err != nil {
		return nil, blobError("read", hash, err)
	}
	return data, nil
}

func (f *files) Delete(_ context.Context, hashes ...string) error {
	for _, hash := range hashes {
		if err := os.Remove(f.path(hash)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return blobError("remove", hash, err)
		}
	}
	return nil
}

func (f *files) List(_ context.Context, yield func(hash string) error) error {
	return f.walk(func(path string, _ fs.DirEntry) error {
		hash := filepath.Base(filepath.Dir(path)) + filepath.Base(path)
		if !isHash(hash) {
			return nil
		}
		return yield(hash)
	})
}

// walk calls f with each file.
func (f *files) walk(each func(path string, d fs.DirEntry) error) error {
	return filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		return each(path, d)
	})
}

// strays lists the files that are not in the database and that are too old to belong to a
// running transaction.
func (f *files) strays(known map[string]bool, now time.Time) (paths []string, err error) {
	err = f.walk(func(path string, d fs.DirEntry) error {
		hash := filepath.Base(filepath.Dir(path)) + d.Name()
		info, err := d.Info()
		if err == nil && !known[hash] && now.Sub(info.ModTime()) > time.Hour {
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

func blobError(op, hash string, err error) error {
	return lathe.Errorf(lathe.Unavailable, "cannot %s the file of a large value (%s…): %w", op, hash[:12], err)
}

// isHash reports whether a name is the hash of a value.
func isHash(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == hashLen
}
