package confine

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace/secret"
)

// Outside returns what tools may read outside of projects. It matches the limits of commands.
func (f *Policy) Outside(c config.Config) *tool.External {
	a := f.host
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil
	}
	return &tool.External{
		Readable: sync.OnceValue(func() []string { return readablePlaces(a.Env, a.Home) }),
		Secret:   f.secretPaths(at, c.Sandbox.Read),
		Temp:     func(call *tool.Call) string { return f.temporaryOf(c, call, at) },
		RealTemp: append([]string{a.Home, bash.FollowLinks(a.Home)}, c.Sandbox.Write...),
		Locked:   func(path string) bool { return f.locks.has(path) || f.isHidden(path) },
		Hidden:   f.isHidden,
	}
}

// isHidden reports whether a real path is hidden from the runs of an eval.
func (f *Policy) isHidden(path string) bool {
	return slices.ContainsFunc(f.Hidden, func(dir string) bool { return inFolder(dir, path) })
}

// secretPaths reports the files that are never read without asking: the user's credentials and lathe's own files. The
// config opens the paths in read.
func (f *Policy) secretPaths(at datadir.Folders, read []string) func(path string) (string, bool) {
	places := sync.OnceValue(func() secret.Locations {
		return append(slices.Clip(f.secrets()), secret.Find(bash.FollowLinks(f.host.Home), f.host.Env)...)
	})
	var own, open []string
	for _, dir := range []string{at.Data, at.State, at.Owners} {
		own = append(own, bash.FollowLinks(dir))
	}
	for _, dir := range append([]string{at.Outputs(), at.Plans(), at.Cache}, read...) {
		open = append(open, dir, bash.FollowLinks(dir))
	}
	return func(path string) (string, bool) {
		holds := func(dir string) bool { return dir != "" && inFolder(dir, path) }
		if f.isHidden(path) {
			return "the cases and tests of an eval", true
		}
		if slices.ContainsFunc(open, holds) {
			return "", false
		}
		if slices.ContainsFunc(own, holds) {
			return "lathe's sessions, keys and passwords", true
		}
		if place, ok := places().Containing(path); ok {
			return place.Reason, true
		}
		return "", false
	}
}

// temporaryOf is the folder that commands of a call have as /tmp. Calls in a scratch copy never have that of the machine.
func (f *Policy) temporaryOf(c config.Config, call *tool.Call, at datadir.Folders) string {
	box, _ := SandboxOf(c, call.Agent)
	kernel, shared := f.Kernel(), TempName
	if f.Scratch {
		box.Mode, shared = string(sandbox.Workspace), ""
	}
	if box.Mode == string(sandbox.Off) || kernel.Available(false) != nil || !kernel.Mounts {
		return shared
	}
	return cmp.Or(sandbox.SessionTemp(at.Data, string(call.Session)), shared)
}

// TempName is how commands and models know their temporary folder.
const TempName = "/tmp"

// readablePlaces are the folders and files of the machine that are read unasked: libraries, headers
// and sources of programs, which hold nothing of the user's. Paths are real.
func readablePlaces(env func(string) string, home string) (out []string) {
	add := func(paths ...string) {
		for _, path := range paths {
			if real, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(real) && filepath.Dir(real) != real && !inFolder(real, home) && !slices.Contains(out, real) {
				out = append(out, real)
			}
		}
	}
	add(
		"/usr/include", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/share", "/usr/src", "/usr/bin", "/usr/sbin", "/lib", "/lib64", "/bin", "/sbin",
		"/usr/local/include", "/usr/local/lib", "/usr/local/share", "/usr/local/bin", "/usr/local/go", "/opt/homebrew/Cellar", "/opt/homebrew/lib", "/opt/homebrew/include", "/nix/store",
		"/Library/Developer/CommandLineTools", "/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/alpine-release", "/etc/redhat-release",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg",
	)
	add(env("GOROOT"), env("GOMODCACHE"), env("CARGO_HOME")+"/registry", env("CARGO_HOME")+"/git", env("RUSTUP_HOME")+"/toolchains", env("VIRTUAL_ENV"), env("JAVA_HOME"))
	for _, dir := range filepath.SplitList(env("GOPATH")) {
		add(filepath.Join(dir, "pkg", "mod"))
	}
	for _, lib := range []struct{ program, below string }{
		{"go", "src"}, {"go", "pkg"}, {"go", "test"}, {"node", "lib/node_modules"}, {"node", "include"}, {"python3", "lib"}, {"rustc", "lib"}, {"java", "lib"},
	} {
		if path := programPath(env, lib.program); path != "" { // it is in bin
			add(filepath.Join(filepath.Dir(filepath.Dir(path)), filepath.FromSlash(lib.below)))
		}
	}
	if home != "" {
		add(namesIn(home, "go/pkg/mod", "sdk", ".cargo/registry", ".cargo/git", ".rustup/toolchains", ".nvm/versions", ".fnm/node-versions", ".volta/tools", ".bun/install/cache",
			".pyenv/versions", ".local/lib", ".local/pipx/venvs", ".local/share/uv", ".rbenv/versions", ".gem", ".m2/repository", ".gradle/caches/modules-2",
			".nuget/packages", ".sdkman/candidates", ".local/share/pnpm/store", ".deno")...)
	}
	return out
}

// programPath is the file of a program in a folder bin on the PATH, without links; "" means
// none.
func programPath(env func(string) string, program string) string {
	for _, dir := range filepath.SplitList(env("PATH")) {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, program))
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && filepath.Base(filepath.Dir(path)) == "bin" {
			return path
		}
	}
	return ""
}
