// Package othertool finds the credentials that other coding tools keep on this machine.
//
// It owns the places and formats of their files (one file here for each family of tools), the
// checks of a file before it is believed (read.go), and what may be done with a login: whether it can
// be copied, only referenced, or not used at all because the vendor's terms forbid it. It writes
// nothing and contacts nobody. Home and environment are arguments.
//
// Start reading at [Machine.Find].
package othertool

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/auth"
)

// Machine is where to look.
type Machine struct {
	Home    string
	Env     func(name string) string
	Windows bool
	// Variables are the environment variables that hold keys, with their providers.
	Variables []Variable
}

// Variable is an environment variable that holds the key of a provider.
type Variable struct{ Name, Provider string }

// Login is a credential of another tool.
type Login struct {
	Tool, ToolName string // such as codex and Codex
	Provider       string // the provider's ID in lathe
	// Credential is a Key or an OAuth, nil if it is Refused. It never holds a refresh token that changes
	// when it is used.
	Credential auth.Credential
	Path       string // of its file, "" for a variable
	Entry      string // its name in the file
	Variable   string
	Account    string // the user's name there, if the file has it
	Expires    time.Time
	Renew      string // the tool's command that renews it
	// Refused says in one sentence why lathe does not use it, and "" that it may.
	Refused string
}

// Problem is a file that was not believed.
type Problem struct {
	Tool, Path string
	Err        error
}

// tool is a program whose credentials are known.
type tool struct {
	id, name string
	renew    string
	hint     string // if nothing was found
	sources  func(m Machine) []source
}

// source is a file of a tool.
type source struct {
	path  string
	parse func(src []byte) ([]Login, error)
}

// tools lists the tools in the order in which they are offered.
func (m Machine) tools() []tool {
	return []tool{
		{"codex", "Codex", "codex login", "log in with `codex login`; if Codex uses the system keyring, set cli_auth_credentials_store = \"file\" in its config first", codexFiles},
		{"copilot", "GitHub Copilot", "copilot login", "log in to Copilot in your editor first", copilotFiles},
		{"gh", "GitHub CLI", "gh auth login", "log in with `gh auth login`", ghFiles},
		{"opencode", "OpenCode", "opencode auth login", "log in with `opencode auth login`", opencodeFiles},
		{"crush", "Crush", "crush login", "log in in Crush first", crushFiles},
		{"claude", "Claude Code", "claude", "create an API key at " + anthropicKeys, claudeFiles},
		{"gemini", "Gemini CLI", "gemini", "create an API key at " + geminiKeys, geminiFiles},
		{"aider", "aider", "", "aider keeps keys in ~/.aider.conf.yml and ~/.env", m.aiderFiles},
		{"env", "Environment", "", "set a variable such as ANTHROPIC_API_KEY", nil},
	}
}

// IDs returns the names of the tools.
func IDs() (out []string) {
	for _, t := range (Machine{}).tools() {
		out = append(out, t.id)
	}
	return out
}

// Find looks for the logins of one tool. A file that is missing is no problem; one that cannot be
// believed is.
func (m Machine) Find(id string) ([]Login, []Problem, error) {
	t, err := m.tool(id)
	if err != nil {
		return nil, nil, err
	}
	if t.sources == nil {
		return m.fromEnv(), nil, nil
	}
	var out []Login
	var problems []Problem
	for _, s := range t.sources(m) {
		found, err := t.read(s)
		if err != nil {
			problems = append(problems, Problem{t.id, s.path, err})
		}
		out = append(out, found...)
	}
	return out, problems, nil
}

// FindIn looks for the logins of a tool in a file at another place.
func (m Machine) FindIn(id, path string) ([]Login, error) {
	t, err := m.tool(id)
	if err != nil {
		return nil, err
	}
	s, ok := t.at(m, path)
	if !ok {
		return nil, lathe.Errorf(lathe.Invalid, "%s has no credential file", t.name)
	}
	found, err := t.read(s)
	if err == nil && len(found) == 0 {
		err = lathe.Errorf(lathe.NotFound, "%s does not exist or has no credentials of %s", path, t.name)
	}
	return found, err
}

// Missing is the error for a tool without logins. It names the files and the next step.
func (m Machine) Missing(id string) error {
	t, err := m.tool(id)
	if err != nil {
		return err
	}
	if t.sources == nil {
		return lathe.Errorf(lathe.NotFound, "no environment variable has an API key: %s", t.hint)
	}
	var paths []string
	for _, s := range t.sources(m) {
		paths = append(paths, s.path)
	}
	return lathe.Errorf(lathe.NotFound, "no credentials of %s found in %s: %s", t.name, strings.Join(paths, ", "), t.hint)
}

// tool finds a tool by its ID. The error lists all of them.
func (m Machine) tool(id string) (tool, error) {
	all := m.tools()
	if i := slices.IndexFunc(all, func(t tool) bool { return t.id == id }); i >= 0 {
		return all[i], nil
	}
	return tool{}, lathe.Errorf(lathe.Invalid, "unknown tool %q: lathe imports from %s", id, strings.Join(IDs(), ", "))
}

// at is the source for a file that may be elsewhere: its name says which format it has.
func (t tool) at(m Machine, path string) (source, bool) {
	if t.sources == nil {
		return source{}, false
	}
	all := t.sources(m)
	i := slices.IndexFunc(all, func(s source) bool { return filepath.Base(s.path) == filepath.Base(path) })
	return source{path, all[max(i, 0)].parse}, true
}

// read returns the logins of a file, none if it does not exist.
func (t tool) read(s source) ([]Login, error) {
	src, open, err := read(s.path)
	if err != nil || src == nil {
		return nil, err
	}
	found, err := s.parse(src)
	for i := range found {
		l := &found[i]
		l.Tool, l.ToolName, l.Path = t.id, t.name, s.path
		if _, login := l.Credential.(auth.OAuth); login {
			l.Renew = t.renew
		}
	}
	if len(found) > 0 && open != "" {
		return nil, lathe.Errorf(lathe.Denied, "%s can be read by other users (mode %s): run `chmod 600 %s`, and create new keys if they may have read it", s.path, open, s.path)
	}
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "%s: %w", s.path, err)
	}
	return found, nil
}

// Resolve reads the login that a reference points to. It believes the file no more than the first
// time.
func (m Machine) Resolve(ref auth.Reference) (auth.Credential, error) {
	t, err := m.tool(ref.Tool)
	if err != nil {
		return nil, err
	}
	s, ok := t.at(m, ref.Path)
	if !ok || !filepath.IsAbs(ref.Path) {
		return nil, lathe.Errorf(lathe.Invalid, "%s is not a credential file of %s", ref.Path, t.name)
	}
	found, err := t.read(s)
	if err != nil {
		return nil, err
	}
	for _, l := range found {
		if l.Entry == ref.Entry && l.Credential != nil {
			return l.Credential, nil
		}
	}
	how := ""
	if t.renew != "" {
		how = ": log in there again with `" + t.renew + "`"
	}
	return nil, lathe.Errorf(lathe.Unauthorized, "%s no longer has this login%s", ref.Path, how)
}

// CanExpire reports whether the login ends by itself and only its own tool can renew it. Such a login
// is best referenced.
func (l Login) CanExpire() bool {
	login, ok := l.Credential.(auth.OAuth)
	return ok && login.Refresh.IsEmpty()
}

// Reference points to the login in its file; a variable has none.
func (l Login) Reference() (auth.Reference, bool) {
	if l.Path == "" || l.Credential == nil {
		return auth.Reference{}, false
	}
	return auth.Reference{Tool: l.Tool, Name: l.ToolName, Path: l.Path, Entry: l.Entry, Renew: l.Renew}, true
}

// Masked shows enough of a secret to recognize it, and not enough to use it.
func (l Login) Masked() string {
	var s auth.Secret
	switch c := l.Credential.(type) {
	case auth.Key:
		s = c.Key
	case auth.OAuth:
		if s = c.Access; s.IsEmpty() {
			s = c.Refresh
		}
	case auth.WellKnown, auth.Reference, nil:
	}
	text := s.Reveal()
	if len(text) < 20 {
		return strings.Repeat("*", min(len(text), 4))
	}
	return text[:4] + "…" + text[len(text)-4:]
}

// key makes a login of an API key; ok is false for text that cannot be one.
func key(provider, entry, text string) (Login, bool) {
	secret, err := auth.ParseKey(text)
	return Login{Provider: provider, Entry: entry, Credential: auth.Key{Key: secret}}, err == nil
}

// token checks a token like a key: it must fit in a header.
func token(text string) auth.Secret {
	secret, err := auth.ParseKey(text)
	if err != nil {
		return auth.Secret{}
	}
	return secret
}

// fromEnv lists the keys in environment variables.
func (m Machine) fromEnv() (out []Login) {
	for _, v := range m.Variables {
		if slices.ContainsFunc(out, func(l Login) bool { return l.Variable == v.Name }) {
			continue // several providers read it; the first counts
		}
		if l, ok := key(v.Provider, v.Name, m.Env(v.Name)); ok {
			l.Tool, l.ToolName, l.Variable = "env", "Environment", v.Name
			out = append(out, l)
		}
	}
	return out
}

// dir is the folder in a variable, or else one below home.
func (m Machine) dir(variable string, below ...string) string {
	return m.folder(variable, filepath.Join(append([]string{m.Home}, below...)...))
}

// folder is the one in a variable, or else the usual one.
func (m Machine) folder(variable, usual string) string {
	if m.Env != nil && filepath.IsAbs(m.Env(variable)) {
		return m.Env(variable)
	}
	return usual
}

// config is the folder of config files.
func (m Machine) config() string {
	if m.Windows {
		return m.dir("LOCALAPPDATA", "AppData", "Local")
	}
	return m.dir("XDG_CONFIG_HOME", ".config")
}

// data is the folder of files that programs write for themselves.
func (m Machine) data() string {
	if m.Windows {
		return m.dir("LOCALAPPDATA", "AppData", "Local")
	}
	return m.dir("XDG_DATA_HOME", ".local", "share")
}

// byEntry sorts logins, so that a file gives the same list each time.
func byEntry(a, b Login) int { return cmp.Compare(a.Entry, b.Entry) }
