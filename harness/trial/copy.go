package trial

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace/search"
)

// The limits of what is copied.
const (
	maxFiles = 200_000 // and folders
	maxBytes = 4 << 30
	maxDepth = 100 // of folders
)

var errLarge = lathe.Errorf(lathe.Invalid, "the project has more than %d files or %d GB; leave out what the case does not need", maxFiles, maxBytes>>30)

// Reader says what is read from the folders that a case names. The file of an eval may come from a stranger.
type Reader struct {
	Excludes  string                 // the user's global gitignore file; "" is none
	Forbidden func(path string) bool // whether an absolute path has credentials or files of lathe
	Skip      []string               // real paths that are left out: the cases, their results and reports
}

// check refuses a path that must not be read.
func (r Reader) check(at string) error {
	if r.Forbidden != nil && r.Forbidden(at) {
		return lathe.Errorf(lathe.Invalid, "%s has credentials or files of lathe and is not copied; leave it out", at)
	}
	return nil
}

// entry is a file or link of a folder.
type entry struct {
	path string // with slashes
	mode fs.FileMode
	link string                   // target of a link
	open func() (*os.File, error) // nil for a link
}

// walk visits the files of a folder by their names. Nothing is read through a link.
type walk struct {
	Reader
	dir     string           // absolute, with slashes
	exclude []string         // names at the top
	rules   *search.GitRules // nil ignores nothing
	files   int              // so far
	visit   func(entry) error
}

// walkFolder visits the files of a folder, or of those that are not ignored.
func walkFolder(ctx context.Context, dir string, w walk) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	w.dir = filepath.ToSlash(dir)
	if err := w.check(dir); err != nil {
		return err
	}
	return w.folder(ctx, root, "", w.rules, 0)
}

// folder visits one folder and those in it.
func (w *walk) folder(ctx context.Context, root *os.Root, at string, rules *search.GitRules, depth int) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	all, err := f.ReadDir(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	here := path.Join(w.dir, at)
	if rules != nil {
		if text, err := readLimited(root, search.GitIgnoreFile, 4<<20); err == nil {
			rules = rules.Enter(here, string(text))
		}
	}
	for _, e := range all {
		name := path.Join(at, e.Name())
		if strings.EqualFold(e.Name(), ".git") || at == "" && slices.Contains(w.exclude, e.Name()) || rules != nil && rules.Ignores(here, e.Name(), e.IsDir()) {
			continue
		}
		if w.files++; w.files > maxFiles || depth > maxDepth {
			return errLarge
		}
		if err := w.one(ctx, root, e, name, rules, depth); err != nil {
			return err
		}
	}
	return nil
}

// one visits an entry of a folder. It is looked at through the open folder, so that no link can take its place.
func (w *walk) one(ctx context.Context, root *os.Root, e fs.DirEntry, name string, rules *search.GitRules, depth int) error {
	full := filepath.FromSlash(path.Join(w.dir, name))
	if err := w.check(full); err != nil {
		return err
	}
	if slices.Contains(w.Skip, full) {
		return nil
	}
	switch info, err := root.Lstat(e.Name()); {
	case errors.Is(err, fs.ErrNotExist):
		return nil // deleted just now
	case err != nil:
		return err
	case info.IsDir():
		below, err := root.OpenRoot(e.Name())
		if err != nil {
			return err
		}
		defer below.Close()
		if now, err := below.Stat("."); err != nil || !os.SameFile(info, now) { // a link took its place
			return nil
		}
		return w.folder(ctx, below, name, rules, depth+1)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(e.Name())
		if err != nil {
			return err
		}
		return w.visit(entry{path: name, mode: info.Mode(), link: target})
	case info.Mode().IsRegular():
		return w.visit(entry{path: name, mode: info.Mode(), open: func() (*os.File, error) { return openRegular(root, e.Name()) }})
	}
	return nil // a pipe or device has no content
}

// openRegular never waits for the other end of a pipe.
func openRegular(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is not a regular file", name))
	}
	return f, nil
}

// readLimited reads a small file whole, and fails for a larger one.
func readLimited(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return data, err
}

// copyFolder copies the files of a folder that are not ignored.
func (r Reader) copyFolder(ctx context.Context, to *os.Root, from string, exclude []string) error {
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		return lathe.Errorf(lathe.NotFound, "open the folder %s: %w", from, err)
	}
	return copyFiles(ctx, to, real, walk{Reader: r, exclude: exclude, rules: search.NewGitRules(real, r.Excludes)})
}

// copyFiles copies what a walk visits.
func copyFiles(ctx context.Context, to *os.Root, from string, w walk) error {
	left := int64(maxBytes)
	w.visit = func(e entry) error {
		name := filepath.FromSlash(e.path)
		if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if e.open == nil {
			return to.Symlink(e.link, name)
		}
		n, err := copyFile(to, name, e, left)
		if left -= n; err == nil && left <= 0 {
			err = errLarge
		}
		return err
	}
	if err := walkFolder(ctx, from, w); err != nil {
		return lathe.Errorf(lathe.Unavailable, "copy %s: %w", from, err)
	}
	return nil
}

// copyFile makes a new file. Its mode stays, and the user can always write it.
func copyFile(to *os.Root, name string, e entry, most int64) (int64, error) {
	src, err := e.open()
	if err != nil {
		return 0, err
	}
	defer src.Close()
	dst, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, e.mode.Perm()|0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(dst, io.LimitReader(src, most))
	return n, errors.Join(err, dst.Close())
}

// Digest names the content of a file or folder that a case uses, as it is copied. With ignore, ignored files are left out, as they are in a base.
func (r Reader) Digest(ctx context.Context, at string, exclude []string, ignore bool) (string, error) {
	info, err := os.Stat(at)
	if err == nil {
		err = r.check(at)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	left := int64(maxBytes)
	add := func(e entry) error {
		fmt.Fprintf(sum, "%q %v %q\n", e.path, e.mode&0o100 != 0, e.link)
		if e.open == nil {
			return nil
		}
		f, err := e.open()
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(sum, io.LimitReader(f, left))
		if left -= n; err == nil && left <= 0 {
			err = errLarge
		}
		fmt.Fprintf(sum, "\n%d\n", n)
		return err
	}
	if !info.IsDir() {
		root, err := os.OpenRoot(filepath.Dir(at))
		if err != nil {
			return "", err
		}
		defer root.Close()
		err = add(entry{path: filepath.Base(at), mode: info.Mode(), open: func() (*os.File, error) { return openRegular(root, filepath.Base(at)) }})
		return hex.EncodeToString(sum.Sum(nil)), err
	}
	w := walk{Reader: r, exclude: exclude, visit: add}
	if ignore {
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			return "", err
		}
		w.rules = search.NewGitRules(real, r.Excludes)
	}
	if err := walkFolder(ctx, at, w); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
