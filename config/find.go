package config

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Options are the locations to read. The zero value of a folder means that it does not exist.
type Options struct {
	Directory   string // working directory of the session
	Worktree    string // top of its checkout; "/" or "" without one
	Home        string
	UserDir     string   // holds opencode/ and lathe/, $XDG_CONFIG_HOME
	Managed     []string // the administrator's folders; nil means the system's
	Env         func(string) (string, bool)
	Skills      []string // folders of skills that were fetched from addresses
	FromPlugins string   // config that the user's plugins add, as JSON; only the administrator's overrides it
	// Trusted reports whether the user trusts the config of a project.
	Trusted func(root, digest string) bool
	// TrustAs is the checkout that Worktree is a copy of: the user's decision about it counts, as long as the
	// settings are the same. "" is none.
	TrustAs string
}

// Every file has two names, OpenCode's and ours. Ours takes precedence.
var (
	brands    = []string{"opencode", "lathe"}
	fileNames = []string{"opencode.json", "opencode.jsonc", "lathe.json", "lathe.jsonc"}
)

// variable is one that is set.
type variable struct{ name, value string }

// variables returns the values set under OpenCode's name and under ours, lowest first.
func (o *Options) variables(name string) (out []variable) {
	if o.Env == nil {
		return nil
	}
	for _, prefix := range []string{"OPENCODE_", "LATHE_"} {
		if v, ok := o.Env(prefix + name); ok && v != "" {
			out = append(out, variable{prefix + name, v})
		}
	}
	return out
}

// on reports whether a variable is set to something that means yes.
func (o *Options) on(name string) bool {
	vars := o.variables(name)
	if len(vars) == 0 {
		return false
	}
	v := vars[len(vars)-1].value
	return v == "1" || strings.EqualFold(v, "true")
}

// root is the folder to trust: the checkout, or the directory if there is none.
func (o *Options) root() string {
	if o.Worktree == "" || o.Worktree == filepath.Dir(o.Worktree) {
		return o.Directory
	}
	return o.Worktree
}

// found is a possible location of a config file.
type found struct {
	path  string
	layer Layer
	base  string // of a project: the folder it was looked for in
}

// below is a place in a folder.
func (f found) below(name string) found {
	f.path = filepath.Join(f.path, name)
	return f
}

// userFiles lists the user's config files outside the folders of [Options.dirs], lowest precedence
// first. They need not exist.
func (o *Options) userFiles() (out []found) {
	for i, dir := range o.globalDirs() {
		for _, name := range []string{"config.json", brands[i] + ".json", brands[i] + ".jsonc"} {
			out = append(out, found{path: filepath.Join(dir, name), layer: User})
		}
	}
	for _, v := range o.variables("CONFIG") {
		out = append(out, found{path: expandHome(v.value, o.Home), layer: User})
	}
	return out
}

// projectFiles lists the config files from the top of the checkout down to the directory.
func (o *Options) projectFiles() (out []found) {
	if o.on("DISABLE_PROJECT_CONFIG") {
		return nil
	}
	for _, dir := range slices.Backward(o.upward()) { // the outermost counts least
		out = append(out, found{dir, o.layer(dir), dir}.files()...)
	}
	return out
}

// files are the config files in a folder.
func (f found) files() (out []found) {
	for _, name := range fileNames {
		out = append(out, f.below(name))
	}
	return out
}

// managed lists the administrator's files, which have the highest precedence.
func (o *Options) managed() (out []found) {
	dirs := o.Managed
	if dirs == nil {
		dirs = o.systemDirs()
	}
	for _, dir := range dirs {
		out = append(out, found{path: dir, layer: Managed}.files()...)
	}
	return out
}

func (o *Options) systemDirs() (out []string) {
	base := "/etc"
	switch runtime.GOOS {
	case "darwin":
		base = "/Library/Application Support"
	case "windows":
		base = ""
		if o.Env != nil {
			base, _ = o.Env("ProgramData")
		}
	}
	for _, brand := range brands {
		if base != "" {
			out = append(out, filepath.Join(base, brand))
		}
	}
	return out
}

// globalDirs are the folders of the user's config for all projects.
func (o *Options) globalDirs() (out []string) {
	for _, brand := range brands {
		if o.UserDir != "" {
			out = append(out, filepath.Join(o.UserDir, brand))
		}
	}
	return out
}

func (o *Options) isGlobal(dir string) bool { return slices.Contains(o.globalDirs(), dir) }

// dirs lists the folders with agents, commands, skills and plugins, lowest precedence first.
// The nearest folder of a project has the lowest, as in OpenCode.
func (o *Options) dirs() []found {
	var out []found
	add := func(f found) {
		if !slices.ContainsFunc(out, func(has found) bool { return has.path == f.path }) {
			out = append(out, f)
		}
	}
	for _, dir := range o.globalDirs() {
		add(found{path: dir, layer: User})
	}
	if !o.on("DISABLE_PROJECT_CONFIG") {
		for _, dir := range o.upward() {
			for _, brand := range brands {
				add(found{filepath.Join(dir, "."+brand), o.layer(dir), dir})
			}
		}
	}
	for _, brand := range brands {
		if o.Home != "" {
			add(found{path: filepath.Join(o.Home, "."+brand), layer: User})
		}
	}
	for _, v := range o.variables("CONFIG_DIR") {
		add(found{path: expandHome(v.value, o.Home), layer: User})
	}
	return out
}

// layer is User for the home folder itself, Project elsewhere.
func (o *Options) layer(dir string) Layer {
	if o.Home != "" && dir == o.Home {
		return User
	}
	return Project
}

// upward lists the folders from the directory to the top of its checkout.
func (o *Options) upward() []string {
	if o.Directory == "" {
		return nil
	}
	var out []string
	for dir := o.Directory; ; dir = filepath.Dir(dir) {
		out = append(out, dir)
		if dir == o.Worktree || dir == filepath.Dir(dir) {
			return out
		}
	}
}
