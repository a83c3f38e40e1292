//go:build !linux

package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// handle is a directory below the root of a walk. No path leads out of it.
type handle struct {
	root *os.Root
	dir  string
	top  bool
}

func openHandle(path string) (handle, error) {
	root, err := os.OpenRoot(path)
	return handle{root: root, dir: ".", top: true}, err
}

func (h handle) close() {
	if h.top {
		h.root.Close()
	}
}

func (h handle) open(name string) (handle, error) {
	below := handle{root: h.root, dir: filepath.Join(h.dir, name)}
	info, err := h.root.Lstat(below.dir)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	return below, err
}

func (h handle) list(old *dir, out []listed, _ *[scanBuffer]byte) ([]listed, error) {
	f, err := h.root.Open(h.dir)
	if err != nil {
		return out, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, entry := range entries {
		e := listed{name: entry.Name(), old: -1, kind: aSpecial}
		if i, ok := old.find(e.name); ok {
			e.old = i
		}
		switch mode := entry.Type(); {
		case mode.IsRegular():
			e.kind = aFile
		case mode.IsDir():
			e.kind = aFolder
		case mode&fs.ModeSymlink != 0:
			e.kind = aLink
		}
		out = append(out, e)
	}
	return out, err
}

func (h handle) lstat(name string) (stat, uint32, error) {
	info, err := h.root.Lstat(filepath.Join(h.dir, name))
	if err != nil {
		return stat{}, 0, err
	}
	return statOf(info), gitMode(info.Mode()), nil
}

// read returns the content of a file or the target of a link, and its stat at that time.
func (h handle) read(name string, _ entryKind) (data []byte, s stat, mode uint32, steady bool, err error) {
	path := filepath.Join(h.dir, name)
	info, err := h.root.Lstat(path)
	if err != nil {
		return nil, s, 0, false, err
	}
	s, mode = statOf(info), gitMode(info.Mode())
	if mode == 0 || s.size > maxContent {
		return nil, s, mode, false, nil
	}
	if data, err = readEntry(h.root, path, info); err != nil {
		return nil, s, mode, false, err
	}
	again, err := h.root.Lstat(path)
	return data, s, mode, err == nil && statOf(again) == s, err
}
