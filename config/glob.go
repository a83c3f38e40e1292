package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxLooks   = 20_000 // how often one pattern may look at the disk
	maxPattern = 1000   // bytes
	maxBraces  = 8      // each may double the work
	maxStars   = 4      // ** of one pattern
)

var errPattern = errors.New("the pattern is too complex")

// glob finds the files of a pattern in a folder, by name. Links to folders are followed
// where the pattern names them, and not where it only matches them.
func (d *fileReader) glob(dir, pattern string, layer Layer) ([]string, error) {
	pattern = filepath.ToSlash(pattern)
	for strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../") {
		up, rest, _ := strings.Cut(pattern, "/")
		dir, pattern = filepath.Join(dir, up), strings.TrimLeft(rest, "/")
	}
	if len(pattern) > maxPattern || strings.Count(pattern, "{") > maxBraces || strings.Count(pattern, "**") > maxStars {
		return nil, errPattern
	}
	names, err := doublestar.Glob(&globFS{disk: d, dir: dir, layer: layer}, pattern,
		doublestar.WithFilesOnly(), doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var out []string
	for _, name := range slices.Compact(names) {
		if path := filepath.Join(dir, filepath.FromSlash(name)); d.isFile(path) {
			out = append(out, path)
		}
	}
	return out, nil
}

// globFS shows a folder to the matcher. All it may fail with is that too much was asked.
type globFS struct {
	disk  *fileReader
	dir   string
	layer Layer
	looks int
}

func (g *globFS) look(name string) (path string, err error) {
	if g.looks++; g.looks > maxLooks {
		return "", errPattern
	}
	return filepath.Join(g.dir, filepath.FromSlash(name)), nil
}

// Open is not needed by a matcher that lists and stats.
func (g *globFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists a folder; one that is missing or unreadable is empty.
func (g *globFS) ReadDir(name string) ([]fs.DirEntry, error) {
	path, err := g.look(name)
	if err != nil {
		return nil, err
	}
	return g.disk.list(path, g.layer), nil
}

// Stat looks at a file or folder.
func (g *globFS) Stat(name string) (fs.FileInfo, error) {
	path, err := g.look(name)
	if err != nil {
		return nil, err
	}
	info, err := g.disk.stat(path)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return info, nil
}
