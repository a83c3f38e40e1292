package snapshot

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/lathe-agent/lathe/internal/gitobj"
)

// state is the state of a path in records. The zero state is a path without a file, also for
// directories.
type state struct {
	Mode uint32 `json:"m,omitempty"`
	ID   string `json:"i,omitempty"`
	Perm uint32 `json:"p,omitempty"` // to restore the permissions
	Lost bool   `json:"l,omitempty"` // the content is unknown
}

func (s state) absent() bool { return s.Mode == 0 && !s.Lost }

// same reports whether two states are the same version of a file. An unknown content equals nothing.
func (s state) same(o state) bool {
	return !s.Lost && !o.Lost && s.Mode == o.Mode && s.ID == o.ID
}

func (s state) entry() Entry { return Entry{Mode: s.Mode, ID: s.ID} }

// seen is a state with details of its path.
type seen struct {
	state
	item    item
	missing int    // how many parent directories do not exist
	blocked string // why the path cannot be used
	link    string // the symlink that blocks it, if any
}

// unblock returns the state after links that will be deleted are gone.
func (s seen) unblock(deleted map[string]bool) seen {
	if s.link != "" && deleted[s.link] {
		return seen{missing: s.missing}
	}
	return s
}

// look reads the state of a path below the root without following symlinks. With keep it stores the
// content.
func (t *sharedTree) look(rel string, keep bool) (seen, error) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return seen{}, err
	}
	defer root.Close()
	s, ok, err := lookAbove(root, rel)
	if err != nil || !ok {
		return s, err
	}
	for try := 0; ; try++ {
		s, steady, err := t.lookAt(root, rel, keep)
		if errors.Is(err, fs.ErrNotExist) && try < 3 { // removed between two reads
			continue
		}
		if err != nil || steady || try == 3 {
			return s, err
		}
	}
}

// lookAbove checks the parent directories. It reports false if the file itself need not be read.
func lookAbove(root *os.Root, rel string) (seen, bool, error) {
	for i := 0; i < len(rel); i++ {
		if rel[i] != '/' {
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(rel[:i]))
		switch {
		case isGone(err):
			return seen{missing: strings.Count(rel[i:], "/")}, false, nil
		case err != nil:
			return seen{}, false, err
		case info.Mode()&fs.ModeSymlink != 0:
			return seen{state: state{Lost: true}, blocked: "a symlink leads to it from " + rel[:i], link: rel[:i], missing: strings.Count(rel[i:], "/")}, false, nil
		case !info.IsDir():
			return seen{missing: strings.Count(rel[i:], "/")}, false, nil
		}
	}
	return seen{}, true, nil
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// lookAt reads the file itself, and reports whether it stayed the same meanwhile.
func (t *sharedTree) lookAt(root *os.Root, rel string, keep bool) (seen, bool, error) {
	name := filepath.FromSlash(rel)
	info, err := root.Lstat(name)
	if isGone(err) {
		return seen{}, true, nil
	}
	if err != nil {
		return seen{}, false, err
	}
	var s seen
	s.item.stat, s.item.mode = statOf(info), gitMode(info.Mode())
	switch {
	case info.IsDir():
		return seen{}, true, nil
	case s.item.mode == 0:
		return seen{state: state{Lost: true}, blocked: "it is not a regular file"}, true, nil
	case !t.spelled(rel):
		return seen{}, true, nil
	case info.Size() > maxContent:
		s.item.flags = lost
		s.state = s.item.state()
		return s, true, nil
	}
	data, err := readEntry(root, name, info)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return seen{state: state{Mode: s.item.mode, Lost: true}, blocked: "it cannot be read: permission denied"}, true, nil
		}
		return seen{}, false, err
	}
	again, err := root.Lstat(name)
	if err != nil {
		return seen{}, false, err
	}
	steady := statOf(again) == s.item.stat
	if !steady || s.item.stat.racy(time.Now()) {
		s.item.flags |= racy
	}
	s.item.id = hashObject(gitobj.BlobKind, data)
	if keep {
		err = t.objects.keep(s.item.id, gitobj.BlobKind, data)
	}
	s.state = s.item.state()
	return s, steady, err
}

// readEntry reads a file or the target of a link.
func readEntry(root *os.Root, name string, info fs.FileInfo) ([]byte, error) {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(name)
		return []byte(filepath.ToSlash(target)), err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, info.Size())
}

// readAll reads a file of about the given size, up to maxContent.
func readAll(f io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(size, maxContent)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(f, maxContent+1))
	return b.Bytes(), err
}
