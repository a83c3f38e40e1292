package snapshot

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// disk is the way to all files of a store. Each change passes before, so that tests can end the
// process at any of them.
type disk struct {
	before func(op, path string) // nil outside of tests
}

func (d *disk) at(op, path string) {
	if d.before != nil {
		d.before(op, path)
	}
}

// write gives a file new content at once: whoever reads it sees the old or the new. Synced content
// survives a power cut, which only what stands between a person and a loss needs.
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
		_ = os.Remove(temp) // what failed is told
	}
	return err
}

// remove takes a file away; one that is gone already is fine.
func (d *disk) remove(path string) error {
	d.at("remove", path)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const tempPrefix = ".tmp-"

func tempName() string { return tempPrefix + strconv.FormatUint(rand.Uint64(), 36) }
