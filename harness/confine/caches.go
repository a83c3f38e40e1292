package confine

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/sandbox"
)

// toolCache is the folder where a tool keeps files that it can fetch or build again: named by a
// variable, else below the home folder (~) or the cache folder ($cache).
type toolCache struct{ place, program, variable string }

// A cache of a tool is trusted by the user's own runs of it: what npx unpacked is executed, and so is
// the Go toolchain in the module cache; go, cargo and pip take what they once downloaded without
// checking it again. So no command writes to the real one. It has an overlay: the cache as it is, with
// changes in a folder of the project that only commands of this project see.

// addCaches lets a command use the caches of tools without changing them. Where the kernel can make
// no overlays they stay read-only, and variables lead the tools that know one to a folder of the project.
func (f *Policy) addCaches(p *sandbox.Profile, at datadir.Folders, root string) {
	if f.NoCommands {
		return
	}
	own := at.Overlay(root)
	f.keepUsed(at, own)
	overlays := f.Kernel().Mounts && f.overlays(at)
	var targets []string
	for _, c := range f.caches() {
		target, err := filepath.EvalSymlinks(c.path)
		if err != nil || !f.ownCache(p, target) || slices.ContainsFunc(targets, func(t string) bool { return inFolder(t, target) }) {
			continue
		}
		sum := sha256.Sum256([]byte(target))
		dir := filepath.Join(own, strings.TrimLeft(filepath.Base(target), ".")+"-"+hex.EncodeToString(sum[:4]))
		switch {
		case overlays:
			m := sandbox.Mount{Type: sandbox.OverlayMount, Source: target, Target: target, Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work", strconv.FormatInt(time.Now().UnixNano(), 36))}
			if os.MkdirAll(m.Upper, 0o700) == nil {
				p.Mounts, targets = append(p.Mounts, m), append(targets, target)
			}
		case c.variable != "":
			private := filepath.Join(dir, "private")
			if os.MkdirAll(private, 0o700) == nil {
				p.Write = append(p.Write, private)
				setEnv(p, c.variable, private)
				targets = append(targets, target)
				f.proxyModules(p, c, target)
			}
		}
	}
}

// ownCache reports whether a cache is one that an overlay can stand for: not one in a folder that is
// writable anyway, as in the project, and not one around something hidden, which it would show again.
func (f *Policy) ownCache(p *sandbox.Profile, target string) bool {
	return !slices.ContainsFunc(p.Write, func(w string) bool { return inFolder(w, target) && !slices.Contains(temporary(f.host.Env), w) }) &&
		!slices.ContainsFunc(p.Hide, func(h string) bool { return inFolder(target, h) })
}

// proxyModules lets go find in an empty module cache what the real one has downloaded.
func (f *Policy) proxyModules(p *sandbox.Profile, c foundCache, target string) {
	if c.variable != "GOMODCACHE" {
		return
	}
	proxies := "https://proxy.golang.org,direct"
	if own := f.host.Env("GOPROXY"); own != "" {
		proxies = own
	}
	setEnv(p, "GOPROXY", "file://"+filepath.ToSlash(filepath.Join(target, "cache", "download"))+","+proxies)
}

// foundCache is a cache of a tool, and the variable that would move it.
type foundCache struct{ path, variable string }

// toolCaches are the caches of tools, and those that are missing though their
// tool is installed: it could not make them itself.
func toolCaches(env func(string) string, home string) (out, missing []foundCache) {
	shared := env("XDG_CACHE_HOME")
	if !filepath.IsAbs(shared) && home != "" {
		shared = filepath.Join(home, ".cache")
	}
	roots := map[string]string{"~": home, "$cache": shared}
	for _, c := range knownCaches() {
		base, below, _ := strings.Cut(c.place, "/")
		root, path := roots[base], env(c.variable)
		if paths := filepath.SplitList(env("GOPATH")); len(paths) > 0 && filepath.IsAbs(paths[0]) && strings.HasPrefix(c.place, "~/go/") {
			root, below = paths[0], strings.TrimPrefix(below, "go/")
		}
		if !filepath.IsAbs(path) {
			if root == "" {
				continue
			}
			path = filepath.Join(root, filepath.FromSlash(below))
		}
		_, err := os.Stat(path)
		found := foundCache{path, c.variable}
		same := func(other foundCache) bool { return other.path == path }
		switch {
		case slices.ContainsFunc(out, same) || slices.ContainsFunc(missing, same):
		case err == nil:
			out = append(out, found)
		case installed(env, c.program):
			missing = append(missing, found)
		}
	}
	return out, missing
}

//go:embed caches.txt
var cachesText string

func knownCaches() (out []toolCache) {
	for line := range strings.Lines(cachesText) {
		if columns := append(strings.Fields(line), "", ""); columns[0] != "#" {
			out = append(out, toolCache{columns[0], strings.TrimPrefix(columns[1], "-"), columns[2]})
		}
	}
	return out
}

// installed reports whether a program is on the PATH.
func installed(env func(string) string, program string) bool {
	for _, dir := range filepath.SplitList(env("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, program)); program != "" && filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
