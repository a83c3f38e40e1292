package lsp

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/workspace"
)

// Project is the directory whose files are edited, with the config that counts there.
type Project struct {
	Directory string // real path
	Worktree  string // real path of the checkout; the directory if there is none
	Trusted   bool   // its code may be executed
	Config    Config
}

// top returns the highest folder that belongs to the project.
func (p Project) top() string {
	if p.Worktree != "" && workspace.Inside(p.Worktree, p.Directory) && filepath.Dir(p.Worktree) != p.Worktree {
		return p.Worktree
	}
	return p.Directory
}

// contains reports whether a real path lies inside the project.
func (p Project) contains(path string) bool { return workspace.Inside(p.top(), path) }

// rel returns a path for people and models: from the directory of the project.
func (p Project) rel(path string) string {
	rel, err := filepath.Rel(p.Directory, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

// rootOf finds the root of a file for a server: the nearest folder with a marker of the first group that has one.
func (d Definition) rootOf(p Project, path string) (root string, ok bool) {
	top := p.Directory
	if !workspace.Inside(top, path) {
		top = p.top()
	}
	for _, group := range d.Markers {
		for dir := filepath.Dir(path); workspace.Inside(top, dir); dir = filepath.Dir(dir) {
			if hasAny(dir, d.Avoid) {
				return "", false
			}
			if hasAny(dir, group) {
				return dir, true
			}
			if dir == top || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if d.NeedsRoot || !workspace.Inside(top, path) {
		return "", false
	}
	return top, true
}

// hasAny reports whether a folder has a file with one of the names.
func hasAny(dir string, names []string) bool {
	var listed []fs.DirEntry
	for _, name := range names {
		if suffix, ok := strings.CutPrefix(name, "*"); ok {
			if listed == nil {
				listed = firstEntries(dir)
			}
			if slices.ContainsFunc(listed, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), suffix) }) {
				return true
			}
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// firstEntries lists a folder, up to a limit: a marker in a larger one is not worth the time.
func firstEntries(dir string) []fs.DirEntry {
	const most = 2000
	f, err := os.Open(dir)
	if err != nil {
		return []fs.DirEntry{}
	}
	defer func() { _ = f.Close() }() // it was only read
	list, _ := f.ReadDir(most)       // a part is as good
	return append([]fs.DirEntry{}, list...)
}

// errNotFound says that the program of a server is not installed.
var errNotFound = errors.New("its program is not installed")

// Launch is a server that can be started: its program, arguments and surroundings.
type Launch struct {
	ID             string
	Root           string
	Command        []string // with the real path of the program first
	Env            map[string]string
	Initialization map[string]any
	Trusted        bool
	whole          bool
	definition     Definition
}

// launch finds out how a server is started for a root. The error says why it is not.
func (d Definition) launch(p Project, root string, env []string, installed string) (Launch, error) {
	l := Launch{ID: d.ID, Root: root, Env: d.Env, Initialization: d.Initialization, Trusted: p.Trusted, whole: d.WholeProject, definition: d}
	command := d.find(p, root, env, installed)
	if command == nil {
		return l, errNotFound
	}
	l.Command = command
	if d.ID == "pyright" && p.Trusted {
		if python := venvPython(root, p.Directory); python != "" {
			l.Initialization = merged(l.Initialization, map[string]any{"python": map[string]any{"pythonPath": python}})
		}
	}
	if p.Trusted || d.Executes == "" && !d.Custom {
		return l, nil
	}
	// A server of the table gets its restriction, or does not start.
	if d.Custom { // only the user's own config gets here: settings of an untrusted project do not count
		return l, nil
	}
	legacy := d.ID == "typescript" && filepath.Base(command[0]) != "tsc"
	if d.Restricted == nil || legacy {
		return l, errors.New("it executes code of the project (" + d.Executes + "), and the project is not trusted")
	}
	l.Command = append(slices.Clone(l.Command), d.Restricted.Args...)
	l.Env = merged(l.Env, d.Restricted.Env)
	l.Initialization = merged(l.Initialization, d.Restricted.Initialization)
	return l, nil
}

// find returns the command of a server with the path of its program; nil if none is installed.
func (d Definition) find(p Project, root string, env []string, installed string) []string {
	for _, command := range append([][]string{d.Command}, d.Alternatives...) {
		if len(command) == 0 {
			continue
		}
		for _, path := range candidates(p, root, command[0], env, installed) {
			if d.suits(p, root, path) {
				return append([]string{path}, command[1:]...)
			}
		}
	}
	return nil
}

// candidates are the places of a program: the project's own, if that is trusted, then the PATH, then what was installed for lathe.
func candidates(p Project, root, name string, env []string, installed string) (out []string) {
	if filepath.Base(name) != name { // a path of the config
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Directory, name)
		}
		return existing(name)
	}
	if p.Trusted {
		for dir := root; p.contains(dir); dir = filepath.Dir(dir) {
			for _, bin := range []string{"node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin", ".venv/Scripts", "venv/Scripts"} {
				out = append(out, existing(filepath.Join(dir, filepath.FromSlash(bin), name))...)
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if path := environ.Find(env, "/", name); filepath.IsAbs(path) && (p.Trusted || !p.contains(realPath(path))) {
		out = append(out, path)
	}
	if installed != "" {
		for _, bin := range []string{"bin", "node_modules/.bin"} {
			out = append(out, existing(filepath.Join(installed, filepath.FromSlash(bin), name))...)
		}
	}
	return out
}

// existing returns the path of a program in a list, an empty one if it cannot be run.
func existing(path string) []string {
	if environ.IsExecutable(path) {
		return []string{path}
	}
	return nil
}

// realPath resolves symlinks; a path that cannot be resolved stays as it is.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// suits reports whether a program is the one that is meant: only the compiler of TypeScript 7 has a server, and only
// before it the project has a tsserver.
func (d Definition) suits(p Project, root, path string) bool {
	if d.ID != "typescript" || d.Custom {
		return true
	}
	if name := filepath.Base(path); strings.HasPrefix(name, "tsc") {
		return typescriptMajor(packageOf(realPath(path))) >= 7
	}
	for dir := root; p.contains(dir); dir = filepath.Dir(dir) {
		if major := typescriptMajor(filepath.Join(dir, "node_modules", "typescript")); major > 0 {
			return major < 7
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return false
}

// packageOf returns the folder of the package that a program belongs to.
func packageOf(program string) string {
	dir := filepath.Dir(program)
	for range 3 {
		if _, err := os.Lstat(filepath.Join(dir, "package.json")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// typescriptMajor returns the major version of the TypeScript package in a folder, 0 if there is none.
func typescriptMajor(dir string) int {
	if dir == "" {
		return 0
	}
	data, err := readLimited(filepath.Join(dir, "package.json"), 1<<20)
	var p struct{ Name, Version string }
	if err != nil || json.Unmarshal(data, &p) != nil || p.Name != "typescript" {
		return 0
	}
	major, _, _ := strings.Cut(p.Version, ".")
	n, _ := strconv.Atoi(major) // 0 means unknown
	return n
}

// venvPython returns the interpreter of a virtual environment.
func venvPython(dirs ...string) string {
	for _, dir := range dirs {
		for _, name := range []string{".venv/bin/python", "venv/bin/python", ".venv/Scripts/python.exe", "venv/Scripts/python.exe"} {
			if path := filepath.Join(dir, filepath.FromSlash(name)); environ.IsExecutable(path) {
				return path
			}
		}
	}
	return ""
}
