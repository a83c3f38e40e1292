package ask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/tui/style"
)

// meta is the known metadata of permission requests; see docs/permissions.md.
type meta struct {
	Command     string          `json:"command"`
	Reason      string          `json:"reason"`
	Sandbox     json.RawMessage `json:"sandbox"`
	File        string          `json:"filepath"`
	Parent      string          `json:"parentDir"`
	Diff        string          `json:"diff"`
	Directories []string        `json:"directories"`
	Pattern     string          `json:"pattern"`
	Path        string          `json:"path"`
	Include     string          `json:"include"`
	URL         string          `json:"url"`
	Query       string          `json:"query"`
	Description string          `json:"description"`
	Agent       string          `json:"subagent_type"`
	Operation   string          `json:"operation"`
	Source      string          `json:"filePath"`
	Tool        string          `json:"tool"`
	Input       json.RawMessage `json:"input"`
	Server      string          `json:"server"`
	URI         string          `json:"uri"`
	Unknown     []struct {
		Text string `json:"text"`
		Why  string `json:"why"`
	} `json:"unknown"`
}

// isUnsandboxed reports whether a command would run without the sandbox.
func (p *Permission) isUnsandboxed() bool {
	if p.asked.Permission == "sandbox" {
		return true
	}
	var mode string
	if json.Unmarshal(p.meta.Sandbox, &mode) != nil {
		var long struct{ Mode string }
		_ = json.Unmarshal(p.meta.Sandbox, &long)
		mode = long.Mode
	}
	return mode == "off"
}

// isProtectedFile reports whether the request is about a protected file, not about a command.
func (p *Permission) isProtectedFile() bool {
	return p.asked.Permission == "sandbox" && p.meta.File != "" && p.meta.Command == ""
}

// title is the request in one line: an icon and a text. The body repeats its details in full.
func (p *Permission) title() (icon, text string) {
	m := &p.meta
	switch p.asked.Permission {
	case "edit":
		return "←", "Change " + cmp.Or(m.File, p.patterns())
	case "read", "list":
		if m.URI != "" || m.Server != "" {
			return "→", "Read from the MCP server " + m.Server
		}
		return "→", "Read " + p.patterns()
	case "glob":
		return "✱", "Find files matching " + cmp.Or(m.Pattern, p.patterns())
	case "grep":
		return "✱", "Search files for " + cmp.Or(m.Pattern, p.patterns())
	case "bash":
		switch {
		case p.isUnsandboxed():
			return "$", "Run a command without a sandbox"
		case slices.ContainsFunc(p.o.Also, func(r lathe.PermissionRequest) bool { return r.Permission == "external_directory" }):
			return "$", "Run a command that leaves the project"
		}
		return "$", "Run a command"
	case "sandbox":
		if p.isProtectedFile() && m.Diff == "" {
			return "→", "Read a secret: " + m.File
		}
		if p.isProtectedFile() {
			return "←", "Change a protected file: " + m.File
		}
		return "$", "Run a command outside the sandbox"
	case "task":
		return "│", "Start the agent " + cmp.Or(m.Agent, p.patterns())
	case "webfetch":
		return "%", "Fetch a page"
	case "websearch":
		return "◈", "Search the web"
	case "external_directory":
		return "→", "Access files outside the project"
	case "doom_loop":
		return "↻", "Repeat the same call: " + cmp.Or(m.Tool, p.patterns())
	case "skill":
		return "→", "Load the skill " + p.patterns()
	case "todowrite":
		return "⚙", "Update the todo list"
	case "lsp":
		return "⚙", "Query the language server: " + m.Operation
	default:
		return "⚙", "Use " + p.asked.Permission
	}
}

func (p *Permission) patterns() string { return strings.Join(p.asked.Patterns, ", ") }

// body is the content of the request in rows, cached for a width and a theme.
type body struct {
	rows  []style.Line
	width int
	theme *style.Theme
}

// rows returns the body for a width.
func (p *Permission) rows(th *style.Theme, width int) []style.Line {
	if p.seen.body.theme != th || p.seen.body.width != width {
		w := &writer{th: th, width: width}
		if p.stage == confirming || p.stage == editing {
			p.writeSaving(w)
		} else {
			p.write(w)
		}
		if w.hidden {
			note := style.Of("Contains hidden characters, shown here as escapes.", style.Bold(th.Warning))
			w.rows = append(note.Wrap(width, nil), w.rows...)
		}
		p.seen.body = body{w.rows, width, th}
	}
	return p.seen.body.rows
}

// writer collects rows.
type writer struct {
	th     *style.Theme
	width  int
	rows   []style.Line
	hidden bool
}

// text writes a text of any kind, whole.
func (w *writer) text(text string, look style.Attr) {
	lines, hidden := visible(text, look, style.Attr{FG: w.th.Warning, Bold: true})
	w.rows, w.hidden = append(w.rows, style.WrapAll(lines, w.width)...), w.hidden || hidden
}

// writeLabeled writes a label and a text behind it.
func (w *writer) writeLabeled(label, text string) {
	if text == "" {
		return
	}
	lines, hidden := visible(text, style.Fg(w.th.Text), style.Attr{FG: w.th.Warning, Bold: true})
	lines[0] = append(style.Of(label+" ", style.Fg(w.th.TextMuted)), lines[0]...)
	w.rows, w.hidden = append(w.rows, style.WrapAll(lines, w.width)...), w.hidden || hidden
}

func (w *writer) note(text string, look style.Attr) {
	w.rows = append(w.rows, style.Of(text, look).Wrap(w.width, nil)...)
}

func (w *writer) gap() {
	if len(w.rows) > 0 {
		w.rows = append(w.rows, nil)
	}
}

// write writes the content of the request.
func (p *Permission) write(w *writer) {
	m := &p.meta
	switch p.asked.Permission {
	case "edit":
		p.writeEdit(w)
	case "sandbox":
		if !p.isProtectedFile() {
			p.writeCommand(w)
			return
		}
		if m.Diff == "" {
			w.writeLabeled("Contains:", m.Reason)
			w.writeLabeled("File", m.File)
			return
		}
		w.writeLabeled("Protected:", m.Reason)
		p.writeEdit(w)
	case "bash":
		p.writeCommand(w)
	case "external_directory":
		w.writeLabeled("Directory", cmp.Or(strings.Join(m.Directories, ", "), m.Parent))
		w.writeLabeled("File", m.File)
		w.list("Pattern", p.asked.Patterns)
		if m.Command != "" {
			w.writeLabeled("For", m.Command)
		}
	case "doom_loop":
		w.note("The model made this call several times in a row with the same arguments.", style.Fg(w.th.TextMuted))
		w.writeLabeled("Tool", cmp.Or(m.Tool, p.patterns()))
		w.json(m.Input)
	case "task":
		w.writeLabeled("Agent", cmp.Or(m.Agent, p.patterns()))
		w.writeLabeled("Task", m.Description)
	case "glob", "grep":
		w.writeLabeled("Pattern", cmp.Or(m.Pattern, p.patterns()))
		w.writeLabeled("In", m.Path)
		w.writeLabeled("Files", m.Include)
	case "webfetch":
		w.writeLabeled("Address", cmp.Or(m.URL, p.patterns()))
	case "websearch":
		w.writeLabeled("Query", cmp.Or(m.Query, p.patterns()))
	case "read", "list", "skill", "lsp":
		w.writeLabeled("Server", m.Server)
		w.writeLabeled("Address", m.URI)
		w.writeLabeled("File", m.Source)
		w.list("", p.asked.Patterns)
	default:
		w.list("", p.asked.Patterns)
		w.json(p.asked.Metadata)
	}
}

// writeEdit writes the diff of an edit. The title cuts a long file name, so it is repeated in full.
func (p *Permission) writeEdit(w *writer) {
	if icon, title := p.title(); style.Width(icon+" "+title) > w.width || strings.Contains(title, "\n") {
		w.writeLabeled("File", cmp.Or(p.meta.File, p.patterns()))
	}
	switch {
	case strings.TrimSpace(p.meta.Diff) == "":
	case p.o.Diff != nil:
		if name := firstHidden(p.meta.Diff); name != "" {
			w.note("This change contains hidden characters, such as "+name+".", style.Bold(w.th.Warning))
		}
		w.gap()
		for _, l := range p.o.Diff(p.meta.Diff, w.width) {
			w.rows = append(w.rows, l.Truncate(w.width))
		}
	default:
		w.gap()
		w.text(p.meta.Diff, style.Fg(w.th.Text))
	}
}

// writeCommand writes a command verbatim, with its warnings.
func (p *Permission) writeCommand(w *writer) {
	if p.isUnsandboxed() {
		w.note("Not sandboxed: it can write and access anything you can.", style.Bold(w.th.Warning))
		w.writeLabeled("Reason", p.meta.Reason)
		w.gap()
	}
	w.text(cmp.Or(p.meta.Command, strings.Join(p.asked.Patterns, "\n")), style.Bold(w.th.Text))
	p.writeAlso(w)
	if len(p.meta.Unknown) == 0 {
		return
	}
	w.gap()
	w.note("lathe cannot tell in advance what this does:", style.Fg(w.th.Warning))
	for _, u := range p.meta.Unknown {
		w.writeLabeled("·", strings.TrimSuffix(u.Text+"  "+u.Why, "  "))
	}
}

// writeAlso writes the further reasons to ask about the same call.
func (p *Permission) writeAlso(w *writer) {
	for _, r := range p.o.Also {
		var m meta
		_ = json.Unmarshal(r.Metadata, &m) // members of an unexpected type are ignored
		w.gap()
		switch r.Permission {
		case "external_directory":
			w.note("It also leaves the project:", style.Bold(w.th.Warning))
			w.list("·", or(m.Directories, r.Patterns))
		case "read":
			w.note("It also reads files that need permission:", style.Bold(w.th.Warning))
			w.list("·", r.Patterns)
		default:
			w.note("It also needs the permission "+oneLine(r.Permission)+":", style.Bold(w.th.Warning))
			w.list("·", r.Patterns)
		}
	}
}

// writeSaving writes the exact patterns that the answer would save, and what each covers.
func (p *Permission) writeSaving(w *writer) {
	w.note("Allow without asking:", style.Fg(w.th.Text))
	w.gap()
	for i, x := range p.save.patterns {
		name := p.requests()[x.request].Permission
		label := "· " + name
		if p.stage == editing && i == p.save.at {
			label = "› " + name
		}
		w.writeLabeled(label, cmp.Or(x.text, `""`))
		w.note("    "+grant.Describe(name, x.text), style.Fg(w.th.TextMuted))
	}
	for i, r := range p.requests() {
		if !slices.ContainsFunc(p.save.patterns, func(x pattern) bool { return x.request == i }) {
			w.note("Allowed this time only: "+r.Permission, style.Fg(w.th.TextMuted))
		}
	}
	w.gap()
	if p.save.scope == grant.Session {
		w.note("For this session and its subagents. Revoke it with /permissions.", style.Fg(w.th.TextMuted))
		return
	}
	w.note("Saved for this project. Revoke it with /permissions or `lathe permission`.", style.Fg(w.th.TextMuted))
}

// or is the first list, or the second if it is empty.
func or(a, b []string) []string {
	if len(a) > 0 {
		return a
	}
	return b
}

// list writes patterns, except a lone "*".
func (w *writer) list(label string, list []string) {
	for _, s := range list {
		switch {
		case s == "*" && len(list) == 1:
		case label == "":
			w.text(s, style.Fg(w.th.Text))
		default:
			w.writeLabeled(label, s)
		}
	}
}

// json writes arguments, indented.
func (w *writer) json(data json.RawMessage) {
	if data = bytes.TrimSpace(data); len(data) == 0 || string(data) == "{}" || string(data) == "null" {
		return
	}
	var out bytes.Buffer
	if json.Indent(&out, data, "", "  ") != nil {
		out.Reset()
		out.Write(data)
	}
	w.gap()
	w.text(out.String(), style.Fg(w.th.Text))
}
