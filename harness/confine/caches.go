package confine

import (
	"crypto/sha256"
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

// toolCache is where a tool keeps what it can fetch or build again: where a variable says, else
// below the user's folder or that of caches.
type toolCache struct {
	program, variable, home, cache string
	at                             string // elsewhere
}

// A cache of a tool is trusted by the user's own runs of it: what npx unpacked is executed, and so is
// the Go toolchain in the module cache; go, cargo and pip take what they once downloaded without
// checking it again. So no command writes to the real one. It has an overlay: the cache as it is, with
// changes in a folder of the project that only commands of this project see.

// addCaches lets a command use the caches of tools without changing them. Where the kernel can make
// no overlays they stay read-only, and variables lead the tools that know one to a folder of the project.
func (f *Policy) addCaches(p *sandbox.Profile, at datadir.Folders, root string) {
	if f.Looks {
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
	list := knownCaches()
	if paths := filepath.SplitList(env("GOPATH")); len(paths) > 0 && filepath.IsAbs(paths[0]) {
		for i, c := range list {
			if rest, ok := strings.CutPrefix(c.home, "go/"); ok {
				list[i].home, list[i].at = "", filepath.Join(paths[0], filepath.FromSlash(rest))
			}
		}
	}
	for _, c := range list {
		path := ""
		if c.variable != "" {
			path = env(c.variable)
		}
		switch {
		case filepath.IsAbs(path):
		case c.at != "":
			path = c.at
		case c.home != "" && home != "":
			path = filepath.Join(home, filepath.FromSlash(c.home))
		case c.cache != "" && shared != "":
			path = filepath.Join(shared, c.cache)
		default:
			continue
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

func knownCaches() []toolCache {
	return []toolCache{
		{program: "go", variable: "GOCACHE", cache: "go-build"},
		{program: "go", variable: "GOMODCACHE", home: "go/pkg/mod"},
		{program: "go", home: "go/pkg/sumdb"},
		{program: "npm", variable: "npm_config_cache", home: ".npm"},
		{home: ".yarn/berry/cache"},
		{home: ".bun/install/cache"},
		{program: "yarn", variable: "YARN_CACHE_FOLDER", cache: "yarn"},
		{program: "pnpm", variable: "PNPM_STORE", home: ".local/share/pnpm/store"},
		{program: "pnpm", cache: "pnpm"},
		{program: "cargo", home: ".cargo/registry"},
		{program: "cargo", home: ".cargo/git"},
		{program: "pip", variable: "PIP_CACHE_DIR", cache: "pip"},
		{program: "uv", variable: "UV_CACHE_DIR", cache: "uv"},
		{program: "ccache", variable: "CCACHE_DIR", cache: "ccache"},
		{program: "sccache", variable: "SCCACHE_DIR", cache: "sccache"},
		{program: "golangci-lint", variable: "GOLANGCI_LINT_CACHE", cache: "golangci-lint"},
		{program: "staticcheck", variable: "STATICCHECK_CACHE", cache: "staticcheck"},
		{cache: "staticcheck"},
		{cache: "gopls"},
		{cache: "gofumpt"},
		{cache: "node-gyp"},
		{cache: "pypoetry"},
		{cache: "mypy"},
		{cache: "ruff"},
		{cache: "deno"},
		{cache: "zig"},
		{cache: "bazel"},
		{cache: "composer"},
		{program: "mvn", home: ".m2/repository"},
		{program: "gradle", home: ".gradle/caches"},
		{home: ".gradle/daemon"},
		{home: ".gradle/wrapper"},
		{home: ".gradle/native"},
		{variable: "VIRTUALENV_OVERRIDE_APP_DATA", home: ".local/share/virtualenv"},
		{home: ".local/share/virtualenvs"},
		{home: ".virtualenvs"},
		{cache: "pre-commit"},
		{cache: "Cypress"},
		{cache: "ms-playwright"},
		{cache: "puppeteer"},
		{cache: "vcpkg"},
		{cache: "nvim"},
		{home: ".gradle/jdks"},
		{home: ".m2/wrapper"},
		{home: ".ivy2/cache"},
		{cache: "coursier"},
		{home: ".sbt/boot"},
		{home: ".konan"},
		{home: ".pub-cache"},
		{home: ".hex/packages"},
		{home: ".mix"},
		{home: ".stack"},
		{home: ".cabal/packages"},
		{program: "bundle", home: ".bundle/cache"},
		{program: "dotnet", variable: "NUGET_PACKAGES", home: ".nuget/packages"},
	}
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
