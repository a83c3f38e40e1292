package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/lathe-agent/lathe/config/claudecode"
)

// The project files of Claude Code are sources of the layer Project, translated by package
// claudecode. They count less than lathe's own files of the project. Those in the user's home are not
// read: `lathe import --from claude` copies them once.

// claudeReader reads these files as a part of one Load.
type claudeReader struct{ *loading }

// foreignFile is what a source of another program has beside its value.
type foreignFile struct {
	// whole says that nothing of it counts without trust.
	whole bool
	// again translates the file once more, with variables put in; nil means that there are none.
	again    func(substitution) *Error
	warnings []claudecode.Warning // of the first time
}

// read reads the files from the top of the checkout down to the directory.
func (l claudeReader) read() {
	if l.on("DISABLE_PROJECT_CONFIG") || l.on("DISABLE_CLAUDE_CODE") {
		return
	}
	var dirs []string
	for _, dir := range slices.Backward(l.upward()) {
		if dir != l.Home {
			dirs = append(dirs, dir)
		}
	}
	l.claudeSettings(dirs)
	for _, dir := range dirs {
		l.claudeServers(found{path: filepath.Join(dir, ".mcp.json"), layer: Project, base: dir})
		folder := found{path: filepath.Join(dir, ".claude"), layer: Project, base: dir}
		if !l.disk.isDir(folder.path) {
			continue
		}
		l.claudeMarkdown(folder.below("agents"), claudecode.Agent)
		l.claudeMarkdown(folder.below("commands"), claudecode.Command)
	}
}

// claudeSettings reads the settings files of all folders together, because a rule that denies counts before
// a rule of any other file.
func (l claudeReader) claudeSettings(dirs []string) {
	var sources []*source
	var files []claudecode.File
	for _, dir := range dirs {
		at := claudecode.Place{Dir: realPath(dir), Root: realPath(l.worktree()), Home: l.Home}
		for _, name := range []string{"settings.json", "settings.local.json"} {
			f := found{path: filepath.Join(dir, ".claude", name), layer: Project, base: dir}
			if s := l.claudeSource(f); s != nil {
				sources, files = append(sources, s), append(files, claudecode.File{Text: s.text, Place: at})
			}
		}
	}
	if len(files) == 0 {
		return
	}
	docs, errs := claudecode.Settings(files...)
	for i, s := range sources {
		if errs[i] != nil {
			l.leaveOut(s.foreignError(errs[i]))
			continue
		}
		l.takeTranslated(s, docs[i])
	}
}

// claudeServers reads .mcp.json. Variables are put in once the project is trusted.
func (l claudeReader) claudeServers(f found) {
	s := l.claudeSource(f)
	if s == nil {
		return
	}
	doc, err := claudecode.MCP(s.text, nil)
	if err != nil {
		l.leaveOut(s.foreignError(err))
		return
	}
	s.foreign.again = func(sub substitution) *Error {
		doc, err := claudecode.MCP(s.text, sub.env)
		if err != nil {
			return s.foreignError(err)
		}
		for _, w := range doc.Warnings {
			if !slices.Contains(s.foreign.warnings, w) {
				l.warn(s.foreignWarning(w))
			}
		}
		return s.translated(doc)
	}
	s.foreign.warnings = doc.Warnings
	l.takeTranslated(s, doc)
}

// claudeMarkdown reads agents or commands. A file counts once the project is trusted, as a whole.
func (l claudeReader) claudeMarkdown(folder found, translate func(name string, head json.RawMessage, body string) claudecode.Document) {
	for _, f := range l.walk(folder, isMarkdown) {
		s, body, err := l.readMarkdown(f.path, Project, f.leaves)
		if err != nil {
			l.leaveOut(err)
			continue
		}
		s.foreign = &foreignFile{whole: true}
		l.takeTranslated(s, translate(strings.TrimSuffix(f.name, ".md"), s.root.appendJSON(nil), body))
	}
}

// claudeSource reads a file; nil means that there is none, or none that can be read.
func (l claudeReader) claudeSource(f found) *source {
	text, err := l.disk.read(f.path)
	if absent(err) {
		return nil
	}
	if err != nil {
		l.warn(Problem{Path: f.path, Message: "is ignored: " + errText(err)})
		return nil
	}
	s := &source{name: f.path, dir: f.base, layer: Project, table: settings(), text: text, leaves: l.leaves(f), foreign: &foreignFile{}}
	if at := invalidUTF8(text); at >= 0 {
		l.leaveOut(s.fail(at, "is not valid UTF-8"))
		return nil
	}
	if at := tooDeep(text); at >= 0 {
		l.leaveOut(s.fail(at, "is nested too deep"))
		return nil
	}
	return s
}

// takeTranslated adds a source with the config that a file stands for. A file of another program is never
// a reason not to start: one that is wrong is left out with a warning.
func (l claudeReader) takeTranslated(s *source, doc claudecode.Document) {
	if err := s.translated(doc); err != nil {
		l.leaveOut(err)
		return
	}
	for _, w := range doc.Warnings {
		l.warn(s.foreignWarning(w))
	}
	if dir := s.dir; !s.foreign.whole && dir != l.root() {
		s.placeHooks(dir)
	}
	l.sources = append(l.sources, s)
}

// translated sets the value of a source, and checks it.
func (s *source) translated(doc claudecode.Document) *Error {
	v, err := hujson.Parse(doc.Config)
	if err != nil {
		return s.foreignError(err)
	}
	s.root = fromHuJSON(v, s)
	for _, m := range s.root.members {
		m.val.moveTo(location{s, s.keyOffset(m.key)})
	}
	if err := s.check(); err != nil {
		return err
	}
	return nil
}

// keyOffset is about where a file of Claude Code has what became a key of lathe.
func (s *source) keyOffset(key string) int {
	if other, ok := map[string]string{"permission": "permissions", "mcp": "mcpServers", "disable_hooks": "disableAllHooks"}[key]; ok {
		key = other
	}
	return max(bytes.Index(s.text, []byte(`"`+key+`"`)), 0)
}

// moveTo gives a value and all in it one place.
func (n *node) moveTo(at location) {
	n.at = at
	for i := range n.members {
		n.members[i].at = at
		n.members[i].val.moveTo(at)
	}
	for _, it := range n.items {
		it.moveTo(at)
	}
}

// placeHooks notes the folder of hooks whose file is not at the top of the checkout.
func (s *source) placeHooks(dir string) {
	for _, h := range hookNodes(s.root) {
		h.put("dir", stringNode(dir, h.at))
	}
}

// foreignError is the error of a file that is not JSON, with its place.
func (s *source) foreignError(err error) *Error {
	at := 0
	if bad, ok := errors.AsType[*claudecode.SyntaxError](err); ok {
		at = bad.Offset
	}
	return s.fail(at, "is not valid JSON: "+err.Error())
}

// foreignWarning shows a setting without an effect like a mistake in a file of ours, about where it stands.
func (s *source) foreignWarning(w claudecode.Warning) Problem {
	key := strings.Split(w.Key, ".")
	if w.Key == "" {
		key = nil
	}
	at := 0
	for _, name := range key {
		for _, written := range []string{`"` + name + `"`, "\n" + name + ":"} { // JSON, then frontmatter
			if i := bytes.Index(s.text[at:], []byte(written)); i >= 0 {
				at += i + 1
				break
			}
		}
	}
	p := problemIn(s, at, key, w.Message)
	p.Important = w.Important
	return p
}

// worktree is the top of the checkout from which patterns of files count: "/" without one.
func (o *Options) worktree() string {
	if o.Worktree == "" {
		return string(filepath.Separator)
	}
	return o.Worktree
}
