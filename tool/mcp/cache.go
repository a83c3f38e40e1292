package mcp

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/atomicfile"
)

// The cache has a file for each server, so that its tools are known before it answers.
const (
	cacheVersion = 1
	maxCacheFile = 8 << 20 // bytes of one file
	mostFiles    = 200
	cacheEnding  = ".json"
)

// cacheFile is the content of a cache file.
type cacheFile struct {
	Version int      `json:"version"`
	Server  string   `json:"server"` // for people who look
	Listing *listing `json:"listing"`
}

// recall reads what the server offered last time. A file that cannot be used is as none.
func (p *serverEntry) recall() {
	if p.hub.o.Cache == "" {
		return
	}
	f, err := os.Open(p.cachePath())
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCacheFile {
		return
	}
	data, err := io.ReadAll(io.LimitReader(f, maxCacheFile))
	if err != nil {
		return
	}
	var cached cacheFile
	if json.Unmarshal(data, &cached) != nil || cached.Version != cacheVersion || cached.Listing == nil || len(cached.Listing.Tools) > mostTools {
		return
	}
	for _, o := range cached.Listing.Tools {
		if o.Name == "" || !isObject(o.Schema) {
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.known == nil {
		p.now.known, p.now.since = cached.Listing, info.ModTime()
	}
	p.hub.noteChange()
}

func (p *serverEntry) cachePath() string {
	return filepath.Join(p.hub.o.Cache, p.def.key()+cacheEnding)
}

// saveListing writes down what the server offers, whole or not at all. It is no loss if that fails.
func (p *serverEntry) saveListing(list *listing) {
	dir := p.hub.o.Cache
	if dir == "" {
		return
	}
	data, err := json.Marshal(cacheFile{cacheVersion, p.def.Name, list})
	if err == nil {
		err = atomicfile.Write(p.cachePath(), data)
	}
	if err != nil {
		p.hub.o.Log.Debug("could not cache mcp tools", "server", p.def.Name, "error", err)
		return
	}
	prune(dir, mostFiles)
}

// confirmListing notes that the cached listing is still valid.
func (p *serverEntry) confirmListing() {
	if p.hub.o.Cache != "" {
		now := time.Now()
		_ = os.Chtimes(p.cachePath(), now, now) // at worst it is asked again sooner
	}
}

// prune removes the oldest files when there are too many.
func prune(dir string, most int) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= most {
		return
	}
	type file struct {
		path string
		at   int64
	}
	var files []file
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && (strings.HasSuffix(e.Name(), cacheEnding) || strings.HasPrefix(e.Name(), ".new-")) {
			files = append(files, file{filepath.Join(dir, e.Name()), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(b.at, a.at) })
	for _, f := range files[min(most, len(files)):] {
		_ = os.Remove(f.path) // another may have been faster
	}
}
