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

// fileReader reads files for one Load. It opens only regular files and folders, since a pipe would
// block. It records every stat, so that a Loader can detect changes.
type fileReader struct {
	began   time.Time
	seen    map[string]statResult
	lists   map[string][]fs.DirEntry
	looked  map[Layer]*quota
	trouble []Problem // folders that could not be listed
}

// quota counts the entries read. Each layer has its own, so that a project with very
// many files does not hide the user's.
type quota struct {
	entries int  // of folders
	linked  int  // folders behind links
	full    bool // no more are looked into
}

type statResult struct {
	info fs.FileInfo
	err  error
}

func newFileReader() *fileReader {
	return &fileReader{
		began: time.Now(), seen: map[string]statResult{}, lists: map[string][]fs.DirEntry{},
		looked: map[Layer]*quota{User: {}, Project: {}, Managed: {}},
	}
}

func (d *fileReader) stat(path string) (fs.FileInfo, error) {
	if s, ok := d.seen[path]; ok {
		return s.info, s.err
	}
	info, err := statPath(path)
	d.seen[path] = statResult{info, err}
	return info, err
}

// statPath is os.Stat, except that a placeholder folder of the sandbox does not exist.
func statPath(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && isPlaceholder(info) {
		return nil, fs.ErrNotExist
	}
	return info, err
}

// isPlaceholder recognizes the empty folder that reserves the name of a config file while the model's commands
// run. Package sandbox creates it with permissions that no other folder has.
func isPlaceholder(info fs.FileInfo) bool {
	return info.IsDir() && info.Mode()&(fs.ModeSticky|fs.ModePerm) == fs.ModeSticky|0o500
}

func (d *fileReader) isDir(path string) bool {
	info, err := d.stat(path)
	return err == nil && info.IsDir()
}

func (d *fileReader) isFile(path string) bool {
	info, err := d.stat(path)
	return err == nil && info.Mode().IsRegular()
}

// absent reports whether an error means that the file does not exist.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (d *fileReader) read(path string) ([]byte, error) {
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
	// Read to the end instead of the reported size: the file may have been replaced since, and
	// some system files report size 0 and never end.
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	n, err := text.ReadFrom(io.LimitReader(f, maxFile+1))
	if err == nil && n > maxFile {
		err = errTooLarge
	}
	return text.Bytes(), err
}

// list returns the entries of a folder by name, nil if it does not exist.
func (d *fileReader) list(dir string, layer Layer) []fs.DirEntry {
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

// enough reports whether the quota is exhausted, and warns once.
func (d *fileReader) enough(dir string, layer Layer) bool {
	q := d.looked[layer]
	if q.entries < maxEntries && q.linked < maxLinked {
		return false
	}
	if !q.full {
		d.trouble = append(d.trouble, Problem{Path: dir, Message: "is skipped: too many files and folders"})
	}
	q.full = true
	return true
}

// file is a result of walk.
type file struct {
	path   string
	name   string // below the folder of the walk, with slashes
	linked bool   // reached through a symbolic link
	leaves bool   // which leads out of the project
}

// walk finds the files below a folder with a wanted name. It follows links, since users link
// to agents elsewhere, but never into a folder it is already in.
func (d *fileReader) walk(dir string, layer Layer, want func(name string) bool) []file {
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

// freeLists frees data that is needed only while loading.
func (d *fileReader) freeLists() {
	for dir := range d.lists {
		d.lists[dir] = nil // unchanged still needs the key
	}
}

// unchanged reports whether every recorded stat still holds.
func (d *fileReader) unchanged() bool {
	for path, was := range d.seen {
		info, err := statPath(path)
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
			continue // its entries were not read
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

// settled is false for a file that changed so shortly before it was read that another change may
// have the same time. It is then read again.
func (d *fileReader) settled(info fs.FileInfo) bool {
	age := d.began.Sub(info.ModTime())
	return age > clockTick || age < -time.Second // a time in the future proves nothing
}

func errText(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
