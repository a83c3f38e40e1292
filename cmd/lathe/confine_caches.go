package main

import (
	"os"
	"path/filepath"
	"slices"
)

// toolCache is where a tool keeps what it can fetch or build again: where a variable says, else
// below the user's folder or that of caches.
type toolCache struct {
	program, variable, home, cache string
}

// toolCaches are the folders of tools that may be written, and those that are missing though their
// tool is installed: it could not make them itself.
func toolCaches(env func(string) string, home string) (out, missing []string) {
	shared := env("XDG_CACHE_HOME")
	if !filepath.IsAbs(shared) && home != "" {
		shared = filepath.Join(home, ".cache")
	}
	if list := filepath.SplitList(env("GOPATH")); len(list) > 0 && filepath.IsAbs(list[0]) {
		out = append(out, filepath.Join(list[0], "pkg"))
	}
	for _, c := range knownCaches() {
		path := ""
		if c.variable != "" {
			path = env(c.variable)
		}
		switch {
		case filepath.IsAbs(path):
		case c.home != "" && home != "":
			path = filepath.Join(home, filepath.FromSlash(c.home))
		case c.cache != "" && shared != "":
			path = filepath.Join(shared, c.cache)
		default:
			continue
		}
		_, err := os.Stat(path)
		switch {
		case slices.Contains(out, path) || slices.Contains(missing, path):
		case err == nil:
			out = append(out, path)
		case installed(env, c.program):
			missing = append(missing, path)
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
