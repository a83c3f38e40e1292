package config

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Loaded is everything the settings of a directory say.
type Loaded struct {
	Config       Config
	TUI          TUI
	Skills       []Skill
	Instructions []Instruction
	Dirs         []string   // the folders of agents, commands and skills that are there
	Plugins      []string   // files of plugins that may be loaded
	Tools        []string   // files of custom tools that may be loaded
	Sources      []Source   // what was read, lowest first
	Warnings     []Problem  // what has no effect, is deprecated, or was left out
	Untrusted    *Untrusted // what of the project does not count; nil if nothing
	Broken       []*Error   // files of a project that is not trusted, which are wrong and left out

	user    own
	trusted bool
}

// Source is a place settings were read from.
type Source struct {
	Name  string
	Layer Layer
	Keys  []string // what it sets
}

// IsTrustedCommand reports whether what a command says was written, or is trusted, by the user.
func (l *Loaded) IsTrustedCommand(name string) bool {
	own, ok := l.user.Commands[name]
	return l.trusted || ok && own.Template == l.Config.Commands[name].Template
}

// Load reads the settings of a directory. Files that are wrong are an [*Error] that names
// all of them; those of a project that is not trusted are left out instead, so that no repository
// can keep the program from starting.
func Load(o Options) (*Loaded, error) {
	out, _, err := load(o)
	return out, err
}

// load also returns what the result depends on.
func load(o Options) (*Loaded, *basis, error) {
	l := &loading{out: &Loaded{}, disk: newDisk(), basis: &basis{options: o, env: map[string]answer{}}}
	l.basis.disk = l.disk
	defer l.disk.rest()
	l.Options = l.basis.watched()
	l.readAll()
	if len(l.errs) == 0 {
		l.lookOut()
		l.judge()
	}
	if l.out.trusted || len(l.errs) > 0 { // who is told of one is told of all
		l.errs = append(l.errs, l.out.Broken...)
	}
	if len(l.errs) > 0 {
		return nil, l.basis, join(l.errs)
	}
	err := l.finish()
	if err != nil {
		return nil, l.basis, err
	}
	return l.out, l.basis, nil
}

// loading is a Load under way.
type loading struct {
	Options
	disk    *disk
	basis   *basis
	sources []*source // lowest first
	code    []string  // plugins and tools of the project
	outward []string  // what the project shows to a model that lies elsewhere, or is named as the user's
	skills  map[string]Skill
	errs    []*Error
	out     *Loaded
}

func (l *loading) warn(p Problem) {
	if len(l.out.Warnings) < maxProblems {
		l.out.Warnings = append(l.out.Warnings, p)
	}
}

// leaveOut tells why a file does not count.
func (l *loading) leaveOut(err *Error) {
	if err.Message != "" {
		l.warn(Problem{Path: err.Path, Message: err.Message})
	}
	for _, p := range err.Problems {
		p.Message += "; the file is left out"
		l.warn(p)
	}
}

func (l *loading) substitution(layer Layer) substitution {
	env := l.Env
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	// Of a project nothing is put in before it is trusted; judge reads it again then.
	return substitution{env: env, read: l.disk.read, home: l.Home, inert: layer == Project}
}

// readAll reads every source in the order of precedence.
func (l *loading) readAll() {
	for _, f := range l.files() {
		l.read(f, settings())
	}
	for _, v := range slices.Concat(l.variables("CONFIG"), l.variables("TUI_CONFIG")) {
		if _, err := l.disk.stat(expandHome(v.value, l.Home)); absent(err) {
			l.warn(Problem{Path: v.value, Message: "is named by " + v.name + " and is not there"})
		}
	}
	for _, d := range l.dirs() {
		if !l.disk.isDir(d.path) {
			continue
		}
		l.out.Dirs = append(l.out.Dirs, d.path)
		if !l.isGlobal(d.path) {
			for _, f := range d.files() {
				l.read(f, settings())
			}
		}
		l.markdown(d)
		l.codeFiles(d)
	}
	for _, v := range l.variables("CONFIG_CONTENT") {
		l.inline(v, "")
	}
	if l.FromPlugins != "" {
		l.inline(variable{"the settings that plugins add", l.FromPlugins}, "")
	}
	for _, f := range l.managed() {
		l.read(f, settings())
	}
	for _, v := range l.variables("PERMISSION") {
		l.inline(v, "permission")
	}
	for _, f := range l.tuiFiles() {
		l.read(f, tuiTable())
	}
}

func (l *loading) read(f found, table *spec) {
	s, err := l.readSource(f.path, f.layer, table)
	switch {
	case s != nil && err == nil:
		s.leaves = l.leaves(f)
	case s != nil && l.leaves(f): // its text is not the project's to show
		err = &Error{Kind: err.Kind, Path: f.path, Message: "is not valid; its text is not shown, since it lies outside the project"}
	}
	l.take(f.layer, s, err)
}

// inline takes settings from a variable: all of them, or the value of a key.
func (l *loading) inline(v variable, key string) {
	s := &source{name: v.name, dir: l.Directory, layer: User, table: settings(), under: key, text: []byte(v.value)}
	l.take(User, s, s.parse(l.substitution(User)))
}

// take checks a source and keeps it.
func (l *loading) take(layer Layer, s *source, err *Error) {
	if err == nil && s != nil {
		err = s.check()
	}
	switch {
	case err != nil && layer == Project:
		l.out.Broken = append(l.out.Broken, err)
	case err != nil:
		l.errs = append(l.errs, err)
	case s != nil:
		for _, w := range s.warns {
			l.warn(w)
		}
		l.sources = append(l.sources, s)
	}
}

// walk finds files in a folder and whether they lie outside the project.
func (l *loading) walk(dir found, want func(name string) bool) []file {
	files := l.disk.walk(dir.path, dir.layer, want)
	if len(files) == 0 || dir.layer != Project {
		return files
	}
	all := l.leaves(dir)
	for i := range files {
		linked := dir
		linked.path = files[i].path
		files[i].leaves = all || files[i].linked && l.leaves(linked)
	}
	return files
}

// leaves reports whether a place of the project lies outside it, behind a link.
func (l *loading) leaves(f found) bool {
	if f.layer != Project || !linkedBelow(f.base, f.path) {
		return false
	}
	path, err := filepath.EvalSymlinks(f.path)
	return err == nil && !within(realPath(l.root()), path) && !within(realPath(f.base), path)
}

// linkedBelow reports whether one of the steps from a folder down to a path is a link.
func linkedBelow(dir, path string) bool {
	for path != dir && path != filepath.Dir(path) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
		path = filepath.Dir(path)
	}
	return path != dir
}

// realPath is a path without links, or as it is if it cannot be followed.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// names are the keys of a map in order.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
