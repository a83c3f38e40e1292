package session

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/claudecode"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/migrate"
	"github.com/lathe-agent/lathe/migrate/settings"
)

// settingsReport says what became of the settings of the other program.
type settingsReport struct {
	Written []settingLine `json:"written,omitempty"`
	Kept    []settingLine `json:"kept,omitempty"`     // set in lathe's config already, and not changed
	Left    []settingNote `json:"unmapped,omitempty"` // without a counterpart
	InPlace []string      `json:"readInPlace,omitempty"`
	Unread  []string      `json:"notRead,omitempty"` // instruction files, because another one counts before them
}

// settingLine is a setting of lathe, the config file it is in, and the file it comes from. Values may be secrets
// and are not part of it.
type settingLine struct {
	Key    string `json:"key"`
	File   string `json:"file"`
	Source string `json:"source"`
}

// settingNote is a setting that was not imported, with the file it is in.
type settingNote struct {
	settings.Note
	Source string `json:"source"`
}

// isEmpty reports whether the other program has no config here.
func (r settingsReport) isEmpty() bool {
	return len(r.Written)+len(r.Kept)+len(r.Left)+len(r.InPlace)+len(r.Unread) == 0
}

// print lists where each setting goes. Values are not shown.
func (r settingsReport) print(a *cli.App, would string) {
	for _, file := range filesOf(r.Written) {
		a.Printf("Settings %swritten to %s:\n", would, termtext.Plain(a.DisplayPath(file)))
		for _, l := range r.Written {
			if l.File == file {
				a.Printf("  %s (from %s)\n", termtext.Plain(l.Key), termtext.Plain(a.DisplayPath(l.Source)))
			}
		}
	}
	if len(r.Kept) > 0 {
		a.Printf("Settings that lathe's config has already, not changed:\n")
		for _, l := range r.Kept {
			a.Printf("  %s in %s\n", termtext.Plain(l.Key), termtext.Plain(a.DisplayPath(l.File)))
		}
	}
	if len(r.Left) > 0 {
		a.Printf("Settings not imported:\n")
		for _, n := range r.Left {
			a.Printf("  %s: %s (%s)\n", termtext.Plain(n.Key), termtext.Plain(n.Message), termtext.Plain(a.DisplayPath(n.Source)))
		}
	}
	for _, name := range r.InPlace {
		a.Printf("Read in place: %s\n", termtext.Plain(a.DisplayPath(name)))
	}
	for _, name := range r.Unread {
		a.Printf("Not read: %s: another instruction file counts before it; add its path to \"instructions\" to read both\n", termtext.Plain(a.DisplayPath(name)))
	}
}

// filesOf lists the files of lines, each once.
func filesOf(lines []settingLine) (files []string) {
	for _, l := range lines {
		if !slices.Contains(files, l.File) {
			files = append(files, l.File)
		}
	}
	return files
}

// settings imports the settings of the program, of the user and of the project in the current directory.
func (m *migration) settings() error {
	user, project := m.a.UserConfigFile(), harness.DirConfigFile(m.dir)
	var err error
	switch m.tool {
	case migrate.Claude:
		err = m.claudeSettings(user)
	case migrate.Codex:
		err = m.translated(settings.Codex, filepath.Join(m.home, "config.toml"), user)
		if err == nil && m.dir != m.a.Home() {
			err = m.translated(settings.Codex, filepath.Join(m.dir, ".codex", "config.toml"), project)
		}
		if err == nil {
			err = m.commands(filepath.Join(m.home, "prompts"), ".md", user, settings.CodexPrompt)
		}
		m.skills(filepath.Join(m.home, "skills"), user)
		m.memory(filepath.Join(m.home, "AGENTS.md"), filepath.Join(m.dir, "AGENTS.md"))
	case migrate.Gemini:
		err = m.geminiSettings(user, project)
	case migrate.Crush:
		err = m.crushSettings(user, project)
	case migrate.OpenCode: // its config has the same format
		own := filepath.Join(m.a.UserDir(), "opencode")
		m.inPlace(filepath.Join(own, "opencode.json"), filepath.Join(own, "opencode.jsonc"), filepath.Join(own, "config.json"),
			filepath.Join(m.dir, "opencode.json"), filepath.Join(m.dir, "opencode.jsonc"), filepath.Join(m.dir, ".opencode"))
		m.memory(filepath.Join(own, "AGENTS.md"), filepath.Join(m.dir, "AGENTS.md"))
	}
	return err
}

// claudeSettings imports the user's settings. Those of a project work in place.
func (m *migration) claudeSettings(user string) error {
	place := claudecode.Place{Home: m.a.Home()}
	err := m.translated(func(src []byte) (settings.Document, error) {
		docs, errs := claudecode.Settings(claudecode.File{Text: src, Place: place})
		return claudeDocument(docs[0], errs[0])
	}, filepath.Join(m.home, "settings.json"), user)
	if err == nil {
		err = m.translated(m.claudeServers, filepath.Join(filepath.Dir(m.home), ".claude.json"), user)
	}
	// The program's own word for agents and commands is Markdown with a head.
	if err == nil {
		err = m.commands(filepath.Join(m.home, "agents"), ".md", user, claudeMarkdown(claudecode.Agent))
	}
	if err == nil {
		err = m.commands(filepath.Join(m.home, "commands"), ".md", user, claudeMarkdown(claudecode.Command))
	}
	dir := m.dir
	m.memory(filepath.Join(m.home, "CLAUDE.md"), filepath.Join(dir, "CLAUDE.md"))
	m.inPlace(filepath.Join(dir, ".mcp.json"))
	if skills := filepath.Join(m.home, "skills"); m.home == filepath.Join(m.a.Home(), ".claude") {
		m.inPlace(skills)
	} else { // lathe does not look there by itself
		m.skills(skills, user)
	}
	if dir != m.a.Home() {
		m.inPlace(filepath.Join(dir, ".claude"))
	}
	return err
}

// claudeServers reads only the MCP servers of ~/.claude.json, which has the program's own state besides: those of the user, and
// those that the user added for the project of this directory alone. Their variables stay variables.
func (m *migration) claudeServers(src []byte) (settings.Document, error) {
	type servers map[string]json.RawMessage
	var in struct {
		Servers  servers `json:"mcpServers"`
		Projects map[string]struct {
			Servers servers `json:"mcpServers"`
		} `json:"projects"`
	}
	if err := json.Unmarshal(src, &in); err != nil {
		return settings.Document{}, err
	}
	all := servers{}
	maps.Copy(all, in.Servers)
	var elsewhere []settings.Note
	for _, dir := range slices.Sorted(maps.Keys(in.Projects)) {
		own := in.Projects[dir].Servers
		switch {
		case dir == m.dir || len(own) > 0 && sameFile(dir, m.dir):
			maps.Copy(all, own)
		case len(own) > 0:
			elsewhere = append(elsewhere, settings.Note{Key: "projects." + dir + ".mcpServers", Message: "belongs to that project; run the import there"})
		}
	}
	if len(all) == 0 {
		return settings.Document{Notes: elsewhere}, nil
	}
	text, err := json.Marshal(map[string]servers{"mcpServers": all})
	if err != nil {
		return settings.Document{}, err
	}
	doc, err := claudeDocument(claudecode.MCP(text, func(name string) (string, bool) { return "{env:" + name + "}", true }))
	doc.Notes = append(doc.Notes, elsewhere...)
	return doc, err
}

// claudeMarkdown reads a file of agents/ or commands/.
func claudeMarkdown(translate func(name string, head json.RawMessage, body string) claudecode.Document) func(string, []byte) (settings.Document, error) {
	return func(name string, src []byte) (settings.Document, error) {
		head, body, err := settings.Frontmatter(src)
		if err != nil {
			return settings.Document{}, err
		}
		return claudeDocument(translate(name, head, body), nil)
	}
}

// claudeDocument is a document of package claudecode. Its rules are in an order that counts, so its JSON stays.
func claudeDocument(d claudecode.Document, err error) (out settings.Document, _ error) {
	if err != nil {
		return out, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(d.Config, &members); err != nil {
		return out, err
	}
	out.Config = map[string]any{}
	for key, value := range members {
		out.Config[key] = value
		var inner map[string]json.RawMessage
		if json.Unmarshal(value, &inner) == nil && inner != nil {
			below := map[string]any{}
			for k, v := range inner {
				below[k] = v
			}
			out.Config[key] = below
		}
	}
	for _, w := range d.Warnings {
		out.Notes = append(out.Notes, settings.Note{Key: w.Key, Message: w.Message})
	}
	return out, nil
}

// geminiSettings imports the config of the user, then that of the project to the project's config, where it waits for
// trust.
func (m *migration) geminiSettings(user, project string) error {
	err := m.translated(settings.Gemini, filepath.Join(m.home, "settings.json"), user)
	if err == nil && m.dir != m.a.Home() {
		err = m.translated(settings.Gemini, filepath.Join(m.dir, ".gemini", "settings.json"), project)
	}
	if err == nil {
		err = m.commands(filepath.Join(m.home, "commands"), ".toml", user, settings.GeminiCommand)
	}
	if err == nil && m.dir != m.a.Home() {
		err = m.commands(filepath.Join(m.dir, ".gemini", "commands"), ".toml", project, settings.GeminiCommand)
	}
	m.skills(filepath.Join(m.home, "skills"), user)
	m.memory(filepath.Join(m.home, "GEMINI.md"), filepath.Join(m.dir, "GEMINI.md"))
	return err
}

// crushSettings imports the config of the user and of the project. Commands are Markdown files, as in Codex.
func (m *migration) crushSettings(user, project string) error {
	own := filepath.Join(m.a.UserDir(), "crush")
	err := m.translated(settings.Crush, filepath.Join(own, "crush.json"), user)
	for _, name := range []string{"crush.json", ".crush.json"} {
		if err == nil {
			err = m.translated(settings.Crush, filepath.Join(m.dir, name), project)
		}
	}
	if err == nil {
		err = m.commands(filepath.Join(own, "commands"), ".md", user, settings.CodexPrompt)
	}
	m.skills(filepath.Join(own, "skills"), user)
	m.memory(filepath.Join(m.dir, "AGENTS.md"), filepath.Join(m.dir, "CRUSH.md"))
	return err
}

// maxSettings is the longest settings file that is read, in bytes. ~/.claude.json grows with its history.
const maxSettings = 16 << 20

// readSettings reads a settings file; a missing one is nil.
func readSettings(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // a pipe would hang
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(err)
	}
	defer func() { _ = f.Close() }() // only read
	src, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if len(src) > maxSettings {
		return nil, lathe.Errorf(lathe.Invalid, "the file is larger than %s", termtext.ByteSize(maxSettings))
	}
	return src, err
}

// translated imports one settings file. A file that makes no sense is reported and does not end the import.
func (m *migration) translated(translate func([]byte) (settings.Document, error), source, target string) error {
	src, err := readSettings(source)
	if err == nil && src == nil {
		return nil
	}
	var doc settings.Document
	if err == nil {
		doc, err = translate(src)
	}
	if err != nil {
		m.leave(source, filepath.Base(source), err.Error())
		return nil
	}
	for _, n := range doc.Notes {
		m.leave(source, n.Key, n.Message)
	}
	return m.write(doc.Config, source, target)
}

// leave notes a setting that was not imported.
func (m *migration) leave(source, key, message string) {
	m.out.Settings.Left = append(m.out.Settings.Left, settingNote{settings.Note{Key: key, Message: message}, source})
}

// maxCommands is the largest number of commands or agents of a folder.
const maxCommands = 500

// commands imports the files of a folder, each an agent or a slash command with the name of the file.
func (m *migration) commands(dir, ending, target string, translate func(name string, src []byte) (settings.Document, error)) error {
	var names []string
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // a missing folder has no files
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ending) && len(names) < maxCommands {
			names = append(names, name)
		}
		return nil
	})
	for _, name := range names {
		short, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		short = filepath.ToSlash(strings.TrimSuffix(short, ending))
		err = m.translated(func(src []byte) (settings.Document, error) { return translate(short, src) }, name, target)
		if err != nil {
			return err
		}
	}
	return nil
}

// skills adds a folder of skills to the places where lathe looks for them, so that they are read in place.
func (m *migration) skills(dir, target string) {
	entries, err := os.ReadDir(dir)
	if err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() && !strings.HasPrefix(e.Name(), ".") }) {
		return
	}
	change := map[string]any{"skills": map[string]any{"paths": []string{dir}}}
	if err := m.write(change, dir, target); err != nil {
		m.leave(dir, "skills", err.Error())
	}
}

// memory names the instruction files that lathe reads where they are, and those that it does not, because it takes one of
// the user and one kind of the project.
func (m *migration) memory(names ...string) {
	var read []config.Instruction
	if l, err := m.a.Config(); err == nil {
		read = l.Instructions
	}
	for _, name := range names {
		if _, err := os.Stat(name); err != nil {
			continue
		}
		if slices.ContainsFunc(read, func(i config.Instruction) bool { return i.Path != "" && sameFile(i.Path, name) }) {
			m.inPlace(name)
		} else if !slices.Contains(m.out.Settings.Unread, name) {
			m.out.Settings.Unread = append(m.out.Settings.Unread, name)
		}
	}
}

// sameFile reports whether two names are those of one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// inPlace names the files that lathe reads where they are.
func (m *migration) inPlace(names ...string) {
	for _, name := range names {
		if _, err := os.Stat(name); err == nil && !slices.Contains(m.out.Settings.InPlace, name) {
			m.out.Settings.InPlace = append(m.out.Settings.InPlace, name)
		}
	}
}

// write adds settings to a config file, one by one, and changes none that is there. A setting that the file cannot
// take is reported.
func (m *migration) write(doc map[string]any, source, target string) error {
	text, err := harness.ReadConfigFile(target)
	if err != nil {
		return err
	}
	var there map[string]any
	if text != nil {
		if err := json.Unmarshal(text, &there); err != nil {
			return lathe.Errorf(lathe.Invalid, "%s is not an object: %w", target, err)
		}
	}
	file, err := m.target(target)
	if err != nil {
		return err
	}
	for _, keys := range settingKeys(doc) {
		line := settingLine{Key: strings.Join(keys, "."), File: target, Source: source}
		if isSet(there, keys) || m.isWritten(line) {
			m.out.Settings.Kept = append(m.out.Settings.Kept, line)
			continue
		}
		if err := editSetting(file, keys, doc); err != nil {
			m.leave(source, line.Key, reason(err))
			continue
		}
		m.out.Settings.Written = append(m.out.Settings.Written, line)
	}
	return nil
}

// target is the file to write: the config file, or in a dry run a copy of it, so that a dry run finds the same faults.
func (m *migration) target(name string) (string, error) {
	if !m.dryRun {
		return name, nil
	}
	dir, err := os.MkdirTemp("", "lathe-import-*")
	if err != nil {
		return "", err
	}
	m.temporary = append(m.temporary, dir)
	file := filepath.Join(dir, filepath.Base(name))
	src, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	if err == nil {
		err = os.WriteFile(file, src, 0o600)
	}
	return file, err
}

// reason is the first line of an error, without the place in a file that was not written.
func reason(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return regexp.MustCompile(`^.*\.jsonc?:\d+:\d+: `).ReplaceAllString(line, "")
}

// isWritten reports whether this run has set a key of a file already, from another source.
func (m *migration) isWritten(line settingLine) bool {
	return slices.ContainsFunc(m.out.Settings.Written, func(l settingLine) bool { return l.Key == line.Key && l.File == line.File })
}

// settingKeys lists the settings of a document as paths: those of objects by name, such as mcp.NAME and
// permission.NAME, and all others as a whole.
func settingKeys(doc map[string]any) (out [][]string) {
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		inner, ok := doc[key].(map[string]any)
		if !ok {
			out = append(out, []string{key})
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			out = append(out, []string{key, name})
		}
	}
	return out
}

// isSet reports whether a config has a value at a path, or one in the way of it.
func isSet(there map[string]any, keys []string) bool {
	v, ok := there[keys[0]]
	if !ok || len(keys) == 1 {
		return ok
	}
	inner, isObject := v.(map[string]any)
	if !isObject { // "permission": "ask" decides about every rule
		return true
	}
	_, ok = inner[keys[1]]
	return ok
}

// editSetting writes one setting of a document.
func editSetting(target string, keys []string, doc map[string]any) error {
	change := doc[keys[0]]
	if len(keys) == 2 {
		change = map[string]any{keys[1]: doc[keys[0]].(map[string]any)[keys[1]]}
	}
	text, err := json.Marshal(map[string]any{keys[0]: change})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot create the config folder: %w", err)
	}
	return config.Edit(target, text)
}
