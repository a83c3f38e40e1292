package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveTree removes a folder with all below it, also where permissions are in the way: tools make
// folders of caches read-only, and the kernel those that overlays work in.
func RemoveTree(dir string) error {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // removal fails below and reports it
		}
		if info, err := e.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return errors.Join(err, os.RemoveAll(dir))
}

// makeWork makes the folders that overlays work in. A second overlay must not be given that of
// another, and none that one was in before: see [Mount].
func (p Profile) makeWork() error {
	for _, m := range p.Mounts {
		if m.Type == OverlayMount {
			if err := m.makeWork(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m Mount) makeWork() error {
	_ = RemoveTree(m.Work) // there should be none
	return os.MkdirAll(m.Work, 0o700)
}

// removeWork removes them again.
func (p Profile) removeWork() {
	for _, m := range p.Mounts {
		if m.Type == OverlayMount {
			_ = RemoveTree(m.Work) // leftovers are empty
		}
	}
}
