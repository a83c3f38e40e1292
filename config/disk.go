package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

const (
	maxFile    = 16 << 20 // bytes of the largest file that is read
	maxEntries = 50_000   // how many names one Load lists, so that no pattern walks a whole disk
	maxLinked  = 1000     // how many folders behind links it walks through, as there may be many ways to one

	// clockTick is how far apart two changes of a file must be for its time to tell them
	// apart; kernels stamp files from a clock that is this coarse.
	clockTick = 20 * time.Millisecond
)

var (
	errNotFile  = errors.New("is not a file")
	errTooLarge = errors.New("is larger than " + strconv.Itoa(maxFile>>20) + " MB")
)

// disk looks at files on behalf of one Load. It never opens anything but files and
// folders, since a pipe would keep it waiting, and it remembers what it saw, so that a
// Loader can tell whether any of it has changed.
type disk struct {
	began   time.Time
	seen    map[string]sight
	lists   map[string][]fs.DirEntry
	looked  map[Layer]*quota
	trouble []Problem // folders that could not be listed
}

// quota is how much was looked at. Each layer has its own, so that a project with very
// many files does not hide the user's.
type quota struct {
	entries int  // of folders
	linked  int  // folders behind links
	full    bool // no more are looked into
}

type sight struct {
	info fs.FileInfo
	err  error
}

func newDisk() *disk {
	return &disk{
		began: time.Now(), seen: map[string]sight{}, lists: map[string][]fs.DirEntry{},
		looked: map[Layer]*quota{User: {}, Project: {}, Managed: {}},
	}
}

func (d *disk) stat(path string) (fs.FileInfo, error) {
	if s, ok := d.seen[path]; ok {
		return s.info, s.err
	}
	info, err := look(path)
	d.seen[path] = sight{info, err}
	return info, err
}

// look is os.Stat to which a folder that stands in for settings is nothing.
func look(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && standsIn(info) {
		return nil, fs.ErrNotExist
	}
	return info, err
}

// standsIn knows the empty folder that keeps a name free of settings while commands of a model run:
// package sandbox makes it, with permissions that no other folder has.
func standsIn(info fs.FileInfo) bool {
	return info.IsDir() && info.Mode()&(fs.ModeSticky|fs.ModePerm) == fs.ModeSticky|0o500
}

func (d *disk) isDir(path string) bool {
	info, err := d.stat(path)
	return err == nil && info.IsDir()
}

func (d *disk) isFile(path string) bool {
	info, err := d.stat(path)
	return err == nil && info.Mode().IsRegular()
}

// absent reports whether an error means that there is nothing of that name.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (d *disk) read(path string) ([]byte, error) {
	info, err := d.stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotFile
	case info.Size() > maxFile:
		return nil, errTooLarge
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// All of it, and not what its size was: another file may have taken the name since it
	// was looked at, and some files of the system say that they are empty, and never end.
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	n, err := text.ReadFrom(io.LimitReader(f, maxFile+1))
	if err == nil && n > maxFile {
		err = errTooLarge
	}
	return text.Bytes(), err
}

// list returns what is in a folder, by name; nothing if there is none.
func (d *disk) list(dir string, layer Layer) []fs.DirEntry {
	if entries, ok := d.lists[dir]; ok || !d.isDir(dir) {
		return entries
	}
	if d.enough(dir, layer) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !absent(err) {
		d.trouble = append(d.trouble, Problem{Path: dir, Message: "cannot be read: " + errText(err)})
	}
	d.looked[layer].entries += len(entries)
	d.lists[dir] = entries
	return entries
}

// enough reports whether more was looked at than anyone has; it is told once.
func (d *disk) enough(dir string, layer Layer) bool {
	q := d.looked[layer]
	if q.entries < maxEntries && q.linked < maxLinked {
		return false
	}
	if !q.full {
		d.trouble = append(d.trouble, Problem{Path: dir, Message: "is not looked into: there are too many files and folders"})
	}
	q.full = true
	return true
}

// file is one that a walk has found.
type file struct {
	path   string
	name   string // below the folder of the walk, with slashes
	linked bool   // reached through a symbolic link
	leaves bool   // which leads out of the project
}

// walk finds the files below a folder that have a wanted name. It follows links, since
// people keep their agents elsewhere, but never into a folder it is already in.
func (d *disk) walk(dir string, layer Layer, want func(name string) bool) []file {
	var out []file
	var visit func(dir, prefix string, linked bool, above []fs.FileInfo)
	visit = func(dir, prefix string, linked bool, above []fs.FileInfo) {
		here, err := d.stat(dir)
		if err != nil || d.enough(dir, layer) {
			return
		}
		if linked {
			d.looked[layer].linked++
		}
		if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, here) }) {
			return
		}
		above = append(above[:len(above):len(above)], here)
		for _, e := range d.list(dir, layer) {
			f := file{path: filepath.Join(dir, e.Name()), name: prefix + e.Name(), linked: linked}
			isDir, isFile := e.IsDir(), e.Type().IsRegular()
			if e.Type()&fs.ModeSymlink != 0 {
				f.linked = true
				isDir, isFile = d.isDir(f.path), d.isFile(f.path)
			}
			switch {
			case isFile && want(e.Name()):
				out = append(out, f)
			case isDir && e.Name() != "node_modules" && e.Name() != ".git":
				visit(f.path, f.name+"/", f.linked, above)
			}
		}
	}
	if d.isDir(dir) {
		visit(dir, "", false, nil)
	}
	return out
}

// rest lets go of what is only needed while looking.
func (d *disk) rest() {
	for dir := range d.lists {
		d.lists[dir] = nil // that it was listed still counts
	}
}

// unchanged reports whether everything still is as it was seen.
func (d *disk) unchanged() bool {
	for path, was := range d.seen {
		info, err := look(path)
		if (err == nil) != (was.err == nil) {
			return false
		}
		if err != nil {
			continue
		}
		if _, listed := d.lists[path]; was.info.IsDir() && !listed {
			if !info.IsDir() || !os.SameFile(was.info, info) {
				return false
			}
			continue // what else is in it was of no interest
		}
		if !sameFile(was.info, info) || !d.settled(was.info) {
			return false
		}
	}
	return true
}

func sameFile(a, b fs.FileInfo) bool {
	return a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode() && os.SameFile(a, b)
}

// settled is false for a file that was changed so shortly before it was read that another
// change may have left its time as it is. It is then read once more.
func (d *disk) settled(info fs.FileInfo) bool {
	age := d.began.Sub(info.ModTime())
	return age > clockTick || age < -time.Second // a time in the future tells nothing
}

func errText(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
