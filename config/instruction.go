package config

import (
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// Instruction is a text for the system prompt: a file, or an address to fetch it from.
type Instruction struct {
	Path  string // of a file
	URL   string // or where to fetch it
	Layer Layer  // whose file it is
}

// findInstructions lists the instructions in the order in which a model reads them: the
// user's own file, the project's nearest first, then those the settings name. It reads none.
func (l *loading) findInstructions() {
	for _, f := range append(l.ownInstructions(), l.projectInstructions()...) {
		l.addInstruction(Instruction{Path: f.path, Layer: f.layer})
	}
	for _, name := range l.out.Config.Instructions {
		if isAddress(&node{text: name}) {
			l.addInstruction(Instruction{URL: name, Layer: User})
			continue
		}
		files, err := l.named(name)
		if err != nil {
			l.warn(Problem{Path: name, Key: []string{"instructions"}, Message: err.Error()})
		}
		for _, f := range files {
			l.addInstruction(Instruction{Path: f.path, Layer: f.layer})
		}
	}
}

func (l *loading) addInstruction(i Instruction) {
	same := func(x Instruction) bool { return x.Path == i.Path && x.URL == i.URL }
	if !l.hides(i.Path) && !slices.ContainsFunc(l.out.Instructions, same) {
		l.out.Instructions = append(l.out.Instructions, i)
	}
}

func (l *loading) claude() bool {
	return !l.on("DISABLE_CLAUDE_CODE") && !l.on("DISABLE_CLAUDE_CODE_PROMPT")
}

// ownInstructions is the user's file: the first that is there.
func (l *loading) ownInstructions() []found {
	var names []string
	for _, dir := range slices.Backward(l.globalDirs()) {
		names = append(names, filepath.Join(dir, "AGENTS.md"))
	}
	if l.claude() {
		names = append(names, l.ofProgram("CLAUDE_CONFIG_DIR", ".claude", "CLAUDE.md"))
	}
	// Those who come from another program have one file, not two.
	names = append(names, l.ofProgram("", ".gemini", "GEMINI.md"), l.ofProgram("CODEX_HOME", ".codex", "AGENTS.md"))
	for _, path := range names {
		if path != "" && l.disk.isFile(path) {
			return []found{{path: path, layer: User}}
		}
	}
	return nil
}

// ofProgram is the user's file of another program: in the folder that its variable names, or in the usual one. "" means that there
// is none.
func (l *loading) ofProgram(variable, folder, name string) string {
	if variable != "" && l.Env != nil {
		if dir, _ := l.Env(variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, name)
		}
	}
	if l.Home == "" {
		return ""
	}
	return filepath.Join(l.Home, folder, name)
}

// ProjectInstructions are the names of a project's instruction files. The first that occurs counts.
func ProjectInstructions() []string {
	return []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", "CONTEXT.md", "CRUSH.md"}
}

// projectInstructions takes the first name that occurs anywhere from the directory up to
// the top, and every file of that name, nearest first.
func (l *loading) projectInstructions() (out []found) {
	if l.on("DISABLE_PROJECT_CONFIG") {
		return nil
	}
	for _, name := range ProjectInstructions() {
		if name == "CLAUDE.md" && !l.claude() {
			continue
		}
		for _, dir := range l.upward() {
			if path := filepath.Join(dir, name); l.disk.isFile(path) {
				out = append(out, found{path, l.layer(dir), dir})
			}
		}
		if out != nil {
			return out
		}
	}
	return nil
}

// named finds the files of a pattern: where it says if it is absolute, else in each folder
// from the directory up. Without the project's config, the user's folder takes its place.
func (l *loading) named(pattern string) (out []found, err error) {
	pattern = expandHome(pattern, l.Home)
	if filepath.IsAbs(pattern) {
		base, rest := doublestar.SplitPattern(filepath.ToSlash(pattern))
		paths, err := l.disk.glob(filepath.FromSlash(base), rest, User)
		for _, path := range paths {
			out = append(out, found{path: path, layer: User})
		}
		return out, err
	}
	var dirs []found
	for _, dir := range l.upward() {
		dirs = append(dirs, found{dir, l.layer(dir), dir})
	}
	if l.on("DISABLE_PROJECT_CONFIG") {
		dirs = nil
		for _, v := range l.variables("CONFIG_DIR") {
			dirs = append(dirs, found{path: expandHome(v.value, l.Home), layer: User})
		}
	}
	for _, dir := range dirs {
		paths, err := l.disk.glob(dir.path, pattern, dir.layer)
		if err != nil {
			return out, err
		}
		for _, path := range paths {
			out = append(out, found{path, dir.layer, dir.base})
		}
	}
	return out, nil
}

// findOutside finds instructions of the project that lie elsewhere, behind a link, or replace
// the user's. No permission is asked for them, so they need trust.
func (l *loading) findOutside() {
	add := func(path string) {
		if !slices.Contains(l.outward, path) {
			l.outward = append(l.outward, path)
		}
	}
	for _, f := range append(l.projectInstructions(), l.namedInstructions()...) {
		if l.leaves(f) {
			add(f.path)
		}
	}
	for _, path := range l.riskySkills() {
		add(path)
	}
	l.markReferences()
}

// namedInstructions are the local files that the config names.
func (l *loading) namedInstructions() (out []found) {
	for _, s := range l.sources {
		named := s.root.get("instructions")
		if s.table != settings() || named == nil {
			continue
		}
		for _, it := range named.items {
			if !isAddress(it) && !isOutside(it) && !it.asks {
				files, _ := l.named(it.text) // reported when it matters
				out = append(out, files...)
			}
		}
	}
	return out
}

// markReferences marks the references of the project that lead out of it.
func (l *loading) markReferences() {
	for _, s := range l.sources {
		for _, ref := range s.references() {
			path := localReference(ref)
			if s.layer != Project || path == nil || isOutside(path) || path.asks {
				continue
			}
			f := found{filepath.Join(s.dir, path.text), Project, s.dir}
			l.disk.isDir(f.path) // a Loader must notice when it becomes another
			path.leaves = l.leaves(f)
		}
	}
}

// hides reports whether a file must wait for trust.
func (l *loading) hides(path string) bool { return !l.out.trusted && slices.Contains(l.outward, path) }

func isSkill(name string) bool { return name == "SKILL.md" }
