// Package lsptest finds real language servers for tests. scripts/language-servers installs them into a folder of the user's
// cache, where a registry is reachable. A test whose server is not there is skipped, and says why. Start with Env.
package lsptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Env returns the environment of the test with the installed servers first in its PATH. It skips the test if the program of
// one is neither there nor on the machine.
func Env(t testing.TB, programs ...string) []string {
	t.Helper()
	if testing.Short() {
		t.Skip("language servers take seconds to load; this is a short run")
	}
	path := ""
	env := slices.DeleteFunc(new(exec.Cmd).Environ(), func(e string) bool {
		value, isPath := strings.CutPrefix(e, "PATH=")
		if isPath {
			path = value
		}
		return isPath
	})
	if dirs := installed(); len(dirs) > 0 {
		path = strings.Join(append(dirs, path), string(os.PathListSeparator))
	}
	for _, name := range programs {
		if !has(path, name) {
			t.Skipf("%s is not installed: scripts/language-servers installs it where a registry is reachable", name)
		}
	}
	return append(env, "PATH="+path)
}

// installed lists the folders with programs, the newest versions last.
func installed() (out []string) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	for _, pattern := range []string{"gopls-*", filepath.Join("npm-*", "node_modules", ".bin")} {
		found, _ := filepath.Glob(filepath.Join(cache, "lathe-test", "servers", pattern)) // the pattern is valid
		out = append(out, found...)
	}
	return out
}

// has reports whether a program is in one of the folders of a PATH.
func has(path, name string) bool {
	if runtime.GOOS == "windows" {
		return false // the script does not run there
	}
	return slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	})
}
