package snapshot

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// disk makes all changes to the files of a store. It calls before for each change, so that tests can end
// the process at any of them.
type disk struct {
	before func(op, path string) // nil outside of tests
}

func (d *disk) at(op, path string) {
	if d.before != nil {
		d.before(op, path)
	}
}

// write replaces a file atomically. Synced content survives a power cut, which only undo data needs.
func (d *disk) write(path string, data []byte, synced bool) error {
	temp := filepath.Join(filepath.Dir(path), tempName())
	d.at("create", temp)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			f, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		}
	}
	if err != nil {
		return err
	}
	d.at("fill", temp)
	_, err = f.Write(data)
	if err == nil && synced {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		d.at("rename", path)
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // the error is reported
	}
	return err
}

// remove removes a file. A missing file is no error.
func (d *disk) remove(path string) error {
	d.at("remove", path)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const tempPrefix = ".tmp-"

func tempName() string { return tempPrefix + strconv.FormatUint(rand.Uint64(), 36) }
