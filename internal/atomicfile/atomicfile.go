// Package atomicfile replaces files atomically: a reader sees the old content or all of the new
// content, even after a crash or on a full disk.
//
// It holds no state. Start reading at [Write].
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file that its owner alone may read, in place of one that is there, and makes
// its folder if need be. Of several concurrent writers the last one wins. A link is replaced,
// not followed.
func Write(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // its mode is 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use to anyone
		return err
	}
	SyncDir(dir)
	return nil
}

// SyncDir lets the names in a folder survive a power cut, where the system can do that.
func SyncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync() // not every system can
		_ = f.Close()
	}
}
