package config

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Loaded is the whole config of a directory.
type Loaded struct {
	Config       Config
	TUI          TUI
	Skills       []Skill
	Instructions []Instruction
	Dirs         []string   // existing folders of agents, commands and skills
	Plugins      []string   // plugin files to load
	Tools        []string   // custom tool files to load
	Sources      []Source   // lowest precedence first
	Warnings     []Problem  // unknown, deprecated and ignored keys and files
	Untrusted    *Untrusted // project config that is ignored until trusted; nil if none
	Broken       []*Error   // invalid files of an untrusted project, which are ignored

	user    userConfig
	trusted bool
}

// Source is a file or variable that config was read from.
type Source struct {
	Name  string
	Layer Layer
	Keys  []string // the keys it sets
}

// IsTrusted reports whether the project has settings that need trust, and the user trusts it with them.
func (l *Loaded) IsTrusted() bool { return l.trusted }

// IsTrustedCommand reports whether the user wrote or trusts the template of a command.
func (l *Loaded) IsTrustedCommand(name string) bool {
	own, ok := l.user.Commands[name]
	return l.trusted || ok && own.Template == l.Config.Commands[name].Template
}

// Load reads the config of a directory. Invalid files are an [*Error] that names all of them.
// Those of an untrusted project are ignored instead, so that no repository can keep lathe from
// starting.
func Load(o Options) (*Loaded, error) {
	out, _, err := load(o)
	return out, err
}

// load also returns the inputs that the result depends on.
func load(o Options) (*Loaded, *basis, error) {
	l := &loading{out: &Loaded{}, disk: newFileReader(), basis: &basis{options: o, env: map[string]envValue{}}}
	l.basis.disk = l.disk
	defer l.disk.freeLists()
	l.Options = l.basis.watched()
	l.readAll()
	if len(l.errs) == 0 {
		l.findOutside()
		l.checkTrust()
	}
	if l.out.trusted || len(l.errs) > 0 { // report all of them together
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

// loading is the state of one Load.
type loading struct {
	Options
	disk    *fileReader
	basis   *basis
	sources []*source // lowest first
	code    []string  // plugins and tools of the project
	outward []string  // files shown to the model that are outside the project or named like the user's
	skills  map[string]Skill
	errs    []*Error
	out     *Loaded
}

func (l *loading) warn(p Problem) {
	if len(l.out.Warnings) < maxProblems {
		l.out.Warnings = append(l.out.Warnings, p)
	}
}

// leaveOut warns that a file is ignored, and why.
func (l *loading) leaveOut(err *Error) {
	if err.Message != "" {
		l.warn(Problem{Path: err.Path, Message: err.Message})
	}
	for _, p := range err.Problems {
		p.Message += "; the file is ignored"
		l.warn(p)
	}
}

func (l *loading) substitution(layer Layer) substitution {
	env := l.Env
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	// Nothing is substituted in an untrusted project; judge reads it again once it is trusted.
	return substitution{env: env, read: l.disk.read, home: l.Home, inert: layer == Project}
}

// readAll reads every source in the order of precedence.
func (l *loading) readAll() {
	for _, f := range l.userFiles() {
		l.read(f, settings())
	}
	claudeReader{l}.read()
	for _, f := range l.projectFiles() {
		l.read(f, settings())
	}
	for _, v := range slices.Concat(l.variables("CONFIG"), l.variables("TUI_CONFIG")) {
		if _, err := l.disk.stat(expandHome(v.value, l.Home)); absent(err) {
			l.warn(Problem{Path: v.value, Message: "is set in " + v.name + " but does not exist"})
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
		l.inline(variable{"the config added by plugins", l.FromPlugins}, "")
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
	case s != nil && l.leaves(f): // the project must not show text from outside
		err = &Error{Kind: err.Kind, Path: f.path, Message: "is not valid; its text is not shown, since it is outside the project"}
	}
	l.take(f.layer, s, err)
}

// inline reads config from a variable: a whole config, or the value of a key.
func (l *loading) inline(v variable, key string) {
	s := &source{name: v.name, dir: l.Directory, layer: User, table: settings(), under: key, text: []byte(v.value)}
	l.take(User, s, s.parse(l.substitution(User)))
}

// take checks a source and adds it.
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

// leaves reports whether a path of the project leads outside it through a link.
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

// names are the sorted keys of a map.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
