package search

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// moreFiles is how many files beyond the last whose lines are returned are returned with a count.
const moreFiles = 20

// Matches is the result of a [Grep].
type Matches struct {
	// Files are in the order of their names. The first of them have their lines, up to the limit in
	// all; a few more only say how many they have.
	Files      []FileMatches
	Total      int // lines that match, in all files
	TotalFiles int
	Unreadable int // files and directories that could not be read
	Binary     int // files that are not text, and were not looked through
	Skipped    int // files that the query says not to open
	Searched   int // files that were looked through
}

// FileMatches are the matches in one file.
type FileMatches struct {
	Path  string // from the root, with slashes
	Count int
	Lines []Line // the first of Count
}

// Grep finds the lines that match, in all files that include allows; a nil include allows all. It
// honors ignore files as ripgrep does, follows no symlinks, and leaves out binary files: those
// with a zero byte in their first 8 KB. Its error is that of the root or of ctx.
func Grep(ctx context.Context, q Query, re *Regexp, include *Pattern) (Matches, error) {
	w, err := newWalk(q.Root)
	if err != nil {
		return Matches{}, err
	}
	w.hidden, w.all, w.excludes = q.Hidden, q.All, q.ExcludesFile
	if include != nil {
		w.enter = include.enters
		w.hidden = w.hidden || include.dotted
	}
	c := &collector{limit: q.Limit}
	err = w.run(ctx, q.Workers, func() visitor {
		g := &grepper{walk: w, include: include, skip: q.Skip, scanner: newScanner(re, &w.stop), found: c}
		g.scanner.remaining = func() int { return c.remaining(g.path) }
		return g
	})
	if err != nil {
		return Matches{}, err
	}
	out := c.result()
	out.Unreadable = int(w.unreadable.Load())
	return out, nil
}

// GrepReader finds the lines of one text that match, up to the limit of q; the rest of q does
// not matter. Path is its name in the result. Its error is that of the reader or of ctx; a
// binary file is no error.
func GrepReader(ctx context.Context, q Query, re *Regexp, path string, r io.Reader) (Matches, error) {
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	c := &collector{limit: q.Limit}
	s := newScanner(re, &stop)
	s.remaining = func() int { return c.remaining(path) }
	switch err := s.file(r, -1); {
	case ctx.Err() != nil:
		return Matches{}, context.Cause(ctx)
	case errors.Is(err, errBinary):
		c.binary.Add(1)
	case err != nil:
		return Matches{}, err
	default:
		c.searched.Add(1)
		if s.count > 0 {
			c.add(FileMatches{Path: path, Count: s.count, Lines: s.lines})
		}
	}
	return c.result(), nil
}

// grepper is one worker.
type grepper struct {
	walk    *walk
	include *Pattern
	skip    func(path string) bool
	scanner *scanner
	found   *collector
	path    string // of the file at hand
}

func (g *grepper) visit(in folder, dir, name string) {
	if g.include != nil {
		path := ""
		if !g.include.name {
			path = joinPath(dir, name)
		}
		if !g.include.match(path, name) {
			return
		}
	}
	g.path = joinPath(dir, name)
	if g.skip != nil && g.skip(g.path) {
		g.found.left.Add(1)
		return
	}
	f, err := in.open(name)
	if err != nil {
		g.walk.countFailure(err)
		return
	}
	defer f.Close()
	switch err := g.scanner.file(f, f.size()); {
	case errors.Is(err, errBinary):
		g.found.binary.Add(1)
	case errors.Is(err, errStopped):
	case err != nil:
		g.walk.countFailure(err)
	default:
		g.found.searched.Add(1)
		if g.scanner.count > 0 {
			g.found.add(FileMatches{Path: g.path, Count: g.scanner.count, Lines: g.scanner.lines})
		}
	}
}

// collector keeps the first matches in the order of paths, whatever order they come in, without
// ever holding many more than are wanted.
type collector struct {
	limit    int
	searched atomic.Int64 // files
	binary   atomic.Int64
	left     atomic.Int64 // files that were not opened

	mu    sync.Mutex
	files []FileMatches
	lines int // in files
	total int
	found int // files
	// last is the path of the last file whose lines can still be wanted; "" while all can.
	last string
}

// remaining returns how many lines of a file are still needed.
func (c *collector) remaining(path string) int {
	if c.limit <= 0 {
		return int(^uint(0) >> 1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != "" && comparePaths(path, c.last) > 0 {
		return 0
	}
	return c.limit
}

func (c *collector) add(f FileMatches) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += f.Count
	c.found++
	c.files = append(c.files, f)
	c.lines += len(f.Lines)
	if c.limit > 0 && (c.lines > 4*c.limit || len(c.files) > 4*(c.limit+moreFiles)) {
		c.trim()
	}
}

// trim drops what cannot be among the first any more.
func (c *collector) trim() {
	slices.SortFunc(c.files, func(a, b FileMatches) int { return comparePaths(a.Path, b.Path) })
	if c.limit <= 0 {
		return
	}
	c.lines = 0
	full := len(c.files)
	for i := range c.files {
		f := &c.files[i]
		if i > full {
			f.Lines = nil
			continue
		}
		f.Lines = f.Lines[:min(len(f.Lines), c.limit-c.lines)]
		if c.lines += len(f.Lines); c.lines == c.limit {
			full = i
			c.last = f.Path
		}
	}
	if most := full + 1 + moreFiles; len(c.files) > most {
		clear(c.files[most:])
		c.files = c.files[:most]
	}
}

func (c *collector) result() Matches {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trim()
	return Matches{
		Files: c.files, Total: c.total, TotalFiles: c.found,
		Binary: int(c.binary.Load()), Skipped: int(c.left.Load()), Searched: int(c.searched.Load()),
	}
}
