package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
)

// Query says which files to find and where.
type Query struct {
	// Root is the directory: absolute, and a real path. Nothing outside of it is read but ignore
	// files above it.
	Root string
	// Limit is how many results are returned; all are counted. 0 is no limit.
	Limit int
	// Hidden includes names that begin with a dot, All includes ignored files. The directory
	// .git is never looked into.
	Hidden, All bool
	// ExcludesFile is the file of what the user ignores in all repositories, as
	// [workspace.UserExcludes] finds it; "" means none.
	ExcludesFile string
	// Skip reports whether a file, by its path from the root with slashes, is not to be opened; nil
	// skips none. It is called by many goroutines, for a search by content.
	Skip func(path string) bool
	// Workers is how many goroutines search; 0 is one for each processor.
	Workers int
}

// Files are the files a [Glob] found.
type Files struct {
	Paths []string // from the root, with slashes, in the order of their names; up to the limit
	Total int
	// Dirs are the directories that hold all of them, the fullest first: those at the first
	// level at which the pattern leaves a choice. "" means that level itself.
	Dirs       []DirCount
	Unreadable int // directories that could not be read
}

// DirCount is how many files lie below a directory.
type DirCount struct {
	Dir   string
	Count int
}

// Glob finds the files whose path fits a pattern. It honors ignore files as ripgrep does, leaves
// hidden files out unless the pattern spells their dot, and follows no symlinks. Its error is that
// of the root or of ctx.
func Glob(ctx context.Context, q Query, p *Pattern) (Files, error) {
	w, err := newWalk(q.Root)
	if err != nil {
		return Files{}, err
	}
	w.hidden, w.all, w.enter = q.Hidden || p.dotted, q.All, p.enters
	w.excludes = q.ExcludesFile
	var mu sync.Mutex
	var workers []*globber
	err = w.run(ctx, q.Workers, func() visitor {
		mu.Lock()
		defer mu.Unlock()
		g := &globber{pattern: p, limit: q.Limit, dirs: map[string]int{}}
		workers = append(workers, g)
		return g
	})
	if err != nil {
		return Files{}, err
	}
	out := Files{Unreadable: int(w.unreadable.Load())}
	dirs := map[string]int{}
	for _, g := range workers {
		out.Total += g.total
		out.Paths = append(out.Paths, g.paths...)
		for dir, n := range g.dirs {
			dirs[dir] += n
		}
	}
	out.Paths = firstPaths(out.Paths, q.Limit)
	for dir, n := range dirs {
		out.Dirs = append(out.Dirs, DirCount{dir, n})
	}
	slices.SortFunc(out.Dirs, func(a, b DirCount) int {
		return cmp.Or(b.Count-a.Count, comparePaths(a.Dir, b.Dir))
	})
	return out, nil
}

// globber holds the results of one worker.
type globber struct {
	pattern *Pattern
	limit   int
	paths   []string
	total   int
	dirs    map[string]int
}

func (g *globber) visit(_ folder, dir, name string) {
	path := ""
	if !g.pattern.name {
		path = joinPath(dir, name)
	}
	if !g.pattern.match(path, name) {
		return
	}
	g.total++
	g.dirs[dirAt(dir, len(g.pattern.dirs))]++
	if path == "" {
		path = joinPath(dir, name)
	}
	g.paths = append(g.paths, path)
	if g.limit > 0 && len(g.paths) > 4*g.limit+1000 { // bounds the memory for a million paths
		g.paths = firstPaths(g.paths, g.limit)
	}
}

func firstPaths(paths []string, limit int) []string {
	slices.SortFunc(paths, comparePaths)
	if limit > 0 && len(paths) > limit {
		clear(paths[limit:])
		paths = paths[:limit]
	}
	return paths
}

// dirAt cuts the path of a directory below the given number of names.
func dirAt(dir string, depth int) string {
	end := 0
	for range depth + 1 {
		if end >= len(dir) {
			return dir
		}
		i := strings.IndexByte(dir[end+1:], '/')
		if i < 0 {
			return dir
		}
		end += 1 + i
	}
	return dir[:end]
}
