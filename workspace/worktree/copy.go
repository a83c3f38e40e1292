package worktree

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/lathe-agent/lathe/internal/filestat"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace/search"
)

// The file modes of git.
const (
	modeFile = 0o100644
	modeExec = 0o100755
	modeLink = 0o120000
	modeRepo = 0o160000
)

const (
	// maxText is the largest file whose content at the start is kept for a merge by lines.
	maxText = 8 << 20
	// maxNotes is how many parts that are not copied are named.
	maxNotes = 20
	// maxDepth is how deep folders are followed.
	maxDepth = 200
)

// File is a file of a tree as it was copied.
type File struct {
	Path string // from the top, with slashes
	Mode uint32 // as git has it
	ID   string // of its content, as git names it; "" if it was too large to read
	stat filestat.Stat
}

// copied is what a copy has.
type copied struct {
	files    []File
	clean    map[string]*File // those that the index may take for unchanged
	contents *contents
}

// A copy is bound by system calls: open, read, create, write and set the time, for each file. So directories are opened
// once, as roots, and files are opened relative to them, which also keeps symlinks from leading a copy elsewhere while
// another program changes the checkout. Contents of clean files are not hashed, because the index knows their names.

// copier copies a checkout: all tracked files as they are on disk, and all others that are not ignored.
type copier struct {
	root     Root
	from, to string
	repo     *repository
	all      bool // ignored files and other repositories too

	tokens chan struct{}
	stop   atomic.Bool

	mu    sync.Mutex // guards the rest
	out   *copied
	isNew map[string]bool // clean files
	notes []string
	err   error
}

// folder is one directory of a copy.
type folder struct {
	path     string // from the top, "" is the top
	from, to *os.Root
	rules    *search.GitRules
	module   bool // in a submodule, whose files the index does not list
}

// run copies the tree with as many goroutines as help: small files cost system calls, not bytes.
func (c *copier) run(ctx context.Context) (*copied, error) {
	c.out, c.isNew = &copied{contents: &contents{}, clean: map[string]*File{}}, map[string]bool{}
	c.tokens = make(chan struct{}, 2*runtime.GOMAXPROCS(0)-1)
	stop := context.AfterFunc(ctx, func() { c.fail(context.Cause(ctx)) })
	defer stop()
	from, err := os.OpenRoot(c.from)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := os.OpenRoot(c.to)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	excludes := ""
	if c.root.Excludes != nil {
		excludes = c.root.Excludes()
	}
	c.dir(folder{from: from, to: to, rules: search.NewGitRules(c.from, excludes)}, 0)
	if c.err != nil {
		return nil, c.err
	}
	slices.SortFunc(c.out.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i := range c.out.files {
		if f := &c.out.files[i]; c.isNew[f.Path] {
			c.out.clean[f.Path] = f
		}
	}
	slices.Sort(c.notes)
	return c.out, nil
}

// fail stops all goroutines with the first error.
func (c *copier) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	c.stop.Store(true)
}

// note records a part that is left out, for the user.
func (c *copier) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.notes) < maxNotes {
		c.notes = append(c.notes, fmt.Sprintf(format, args...))
	}
}

// dir copies a directory and all below it.
func (c *copier) dir(d folder, depth int) {
	entries, err := readNames(d.from)
	if err != nil {
		if d.path != "" && errors.Is(err, fs.ErrPermission) {
			c.note("%s: permission denied", d.path)
			return
		}
		c.fail(err)
		return
	}
	for _, e := range entries {
		if e.Name() == search.GitIgnoreFile && e.Type().IsRegular() {
			if text, err := readSmall(d.from, e.Name()); err == nil {
				d.rules = d.rules.Enter(path.Join(filepath.ToSlash(c.from), d.path), text)
			}
		}
	}
	b := &batch{copier: c, folder: d}
	var below sync.WaitGroup
	for _, e := range entries {
		if c.stop.Load() {
			break
		}
		if strings.EqualFold(e.Name(), ".git") {
			continue
		}
		if !e.IsDir() {
			b.entry(e)
			continue
		}
		if depth >= maxDepth {
			c.note("%s: too deep", path.Join(d.path, e.Name()))
			continue
		}
		c.below(&below, d, e.Name(), depth)
	}
	below.Wait()
	b.end()
}

// below copies a folder of a directory, in another goroutine if one is free.
func (c *copier) below(wait *sync.WaitGroup, d folder, name string, depth int) {
	in, ok := c.enter(d, name)
	if !ok {
		return
	}
	run := func() {
		defer in.from.Close()
		defer in.to.Close()
		defer func() {
			if r := recover(); r != nil { // no caller could recover it
				c.fail(fmt.Errorf("copy %s: %v", in.path, r))
			}
		}()
		c.dir(in, depth+1)
	}
	select {
	case c.tokens <- struct{}{}:
		wait.Go(func() {
			defer func() { <-c.tokens }()
			run()
		})
	default:
		run()
	}
}

// enter opens a folder for copying; ok is false if it is left out.
func (c *copier) enter(d folder, name string) (in folder, ok bool) {
	in = folder{path: path.Join(d.path, name), rules: d.rules, module: d.module}
	if !d.module {
		entry := c.repo.find(in.path)
		in.module = entry != nil && entry.Mode == modeRepo
	}
	if !c.all && !in.module && d.rules.Ignores(path.Join(filepath.ToSlash(c.from), d.path), name, true) && !c.repo.tracksBelow(in.path) {
		return in, false
	}
	info, err := d.from.Lstat(name)
	if err != nil || !info.IsDir() { // it was replaced just now
		return in, false
	}
	if in.from, err = d.from.OpenRoot(name); err != nil {
		c.note("%s: %v", in.path, err)
		return in, false
	}
	if now, err := in.from.Stat("."); err != nil || !os.SameFile(info, now) { // a symlink took its place
		_ = in.from.Close()
		return in, false
	}
	if !c.all && (!in.module || d.module) {
		if _, err := in.from.Lstat(".git"); err == nil {
			c.note("%s: a repository of its own", in.path)
			_ = in.from.Close()
			return in, false
		}
	}
	if err := d.to.Mkdir(name, info.Mode().Perm()|0o700); err != nil {
		c.fail(err)
	} else if in.to, err = d.to.OpenRoot(name); err != nil {
		c.fail(err)
	}
	if in.to == nil {
		_ = in.from.Close()
	}
	return in, in.to != nil
}

// readNames lists a directory in no order.
func readNames(root *os.Root) ([]fs.DirEntry, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// readSmall reads an ignore file. It never waits for the other end of a pipe.
func readSmall(root *os.Root, name string) (string, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 4<<20))
	return string(data), err
}

// batch collects the files of one directory.
type batch struct {
	*copier
	folder
	files []File
	clean []string
	buf   []byte
}

// end adds the files to those of the copy.
func (b *batch) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.out.files = append(b.out.files, b.files...)
	for _, name := range b.clean {
		b.isNew[name] = true
	}
}

// entry copies a file or link.
func (b *batch) entry(e fs.DirEntry) {
	name := path.Join(b.path, e.Name())
	entry := b.repo.find(name)
	if entry == nil && !b.all && b.rules.Ignores(path.Join(filepath.ToSlash(b.copier.from), b.path), e.Name(), false) {
		return
	}
	var err error
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		err = b.link(e.Name(), name, entry)
	case e.Type().IsRegular():
		err = b.regular(e.Name(), name, entry)
	default:
		b.note("%s: not a regular file", name)
	}
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist): // deleted meanwhile
	case errors.Is(err, fs.ErrPermission):
		b.note("%s: permission denied", name)
	default:
		b.fail(err)
	}
}

// link copies a symlink as it is: where it leads is decided when it is followed.
func (b *batch) link(base, name string, entry *gitobj.IndexEntry) error {
	target, err := b.folder.from.Readlink(base)
	if err != nil {
		return err
	}
	if err := b.folder.to.Symlink(target, base); err != nil {
		return err
	}
	info, err := b.folder.to.Lstat(base)
	if err != nil {
		return err
	}
	text := []byte(filepath.ToSlash(target))
	f := File{Path: name, Mode: modeLink, ID: b.hash(text), stat: filestat.Of(info)}
	b.add(f, entry != nil && entry.ID.String() == f.ID && entry.Mode == f.Mode)
	b.keep(f.ID, text)
	return nil
}

// add lists a copied file, and whether the index may take it for unchanged.
func (b *batch) add(f File, clean bool) {
	b.files = append(b.files, f)
	if clean {
		b.clean = append(b.clean, f.Path)
	}
}

// keep saves a text for a merge by lines, unless the repository has it.
func (b *batch) keep(id string, data []byte) {
	if b.all || len(data) > maxText || isBinary(data) || b.repo.has(id) {
		return
	}
	b.out.contents.add(id, data)
}

// has reports whether the repository stores a content.
func (r *repository) has(id string) bool {
	if r == nil {
		return false
	}
	parsed, err := gitobj.ParseID(id)
	return err == nil && r.git.Has(parsed)
}

// hash names a content by the hash of the repository, SHA-1 without one.
func (b *batch) hash(data []byte) string { return hashBlob(b.repo.sha256(), data) }

// sha256 reports whether ids have 32 bytes.
func (r *repository) sha256() bool { return r != nil && !r.git.SHA1() }

// newHash is the hash by which a repository names its objects.
func newHash(long bool) hash.Hash {
	if long {
		return sha256.New()
	}
	return sha1.New()
}

// hashBlob names a content as git does.
func hashBlob(long bool, data []byte) string {
	h := newHash(long)
	h.Write([]byte("blob " + strconv.Itoa(len(data)) + "\x00"))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
