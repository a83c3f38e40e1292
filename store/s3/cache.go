package s3

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/atomicfile"
)

// defaultSize is the size of a cache in bytes.
const defaultSize = 1 << 30

// cache has copies of values in files. Its errors are not reported: without it everything works, slower. The zero
// pointer keeps nothing. Several processes may use a folder.
type cache struct {
	dir   string
	limit int64

	mu      sync.Mutex // guards the fields below
	size    int64      // of the files, -1 until they were counted
	tidying bool
}

func newCache(dir string, limit int64) *cache {
	return &cache{dir: dir, limit: cmp.Or(limit, defaultSize), size: -1}
}

func (c *cache) path(hash string) string { return filepath.Join(c.dir, hash[:2], hash[2:]) }

// get returns a copy, nil if there is none. A damaged one is removed.
func (c *cache) get(hash string) []byte {
	if c == nil {
		return nil
	}
	data, err := os.ReadFile(c.path(hash))
	if err != nil {
		return nil
	}
	if !hasHash(data, hash) {
		c.remove(hash)
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(c.path(hash), now, now) // it was used
	return data
}

// put keeps a copy of a value that is not too large a part of the cache.
func (c *cache) put(hash string, data []byte) {
	if c == nil || int64(len(data)) > c.limit/4 {
		return
	}
	path := c.path(hash)
	if _, err := os.Stat(path); err == nil {
		return
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil || atomicfile.Write(path, data) != nil {
		return
	}
	if c.grow(int64(len(data))) {
		c.tidy()
	}
}

// grow counts a new copy and reports whether the caller must tidy.
func (c *cache) grow(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size >= 0 {
		c.size += n
	}
	if c.tidying || c.size >= 0 && c.size <= c.limit {
		return false
	}
	c.tidying = true
	return true
}

// copied is a file of the cache.
type copied struct {
	path string
	size int64
	used time.Time
}

// tidy counts the files and removes those that were not used for longest, until a fifth of the limit is free.
func (c *cache) tidy() {
	var files []copied
	total := int64(0)
	_ = filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // unreadable files are not counted
		}
		if info, err := d.Info(); err == nil {
			files = append(files, copied{path, info.Size(), info.ModTime()})
			total += info.Size()
		}
		return nil
	})
	if total > c.limit {
		slices.SortFunc(files, func(a, b copied) int { return a.used.Compare(b.used) })
		for _, f := range files {
			if total <= c.limit-c.limit/5 {
				break
			}
			if os.Remove(f.path) == nil {
				total -= f.size
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size, c.tidying = total, false
}

// remove removes a copy.
func (c *cache) remove(hash string) {
	if c != nil {
		_ = os.Remove(c.path(hash))
	}
}
