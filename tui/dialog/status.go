package dialog

import (
	"cmp"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Status is the content of the status dialog.
type Status struct {
	Info      api.Info
	Session   string // its id, if one is open
	Model     string
	Providers []lathe.Provider // that can be used
	Servers   []lathe.ToolServer
	Others    []StatusSection // additional sections
}

// StatusSection is a heading with lines.
type StatusSection struct {
	Title string
	Lines []string
}

// NewStatus shows version, session, providers and MCP servers.
func NewStatus(m *key.Map, s Status) *Text {
	return NewText(m, "Status", s.lines)
}

// lines renders the status as pairs and sections.
func (s Status) lines(th *style.Theme) []style.Line {
	var out []style.Line
	pair := func(name, value string) {
		if value != "" {
			out = append(out, style.Of(name+strings.Repeat(" ", max(1, 11-len(name))), style.Fg(th.TextMuted)).Add(value, style.Fg(th.Text)))
		}
	}
	pair("Version", s.Info.Version)
	pair("Directory", s.Info.Directory)
	pair("Branch", s.Info.Branch)
	pair("Session", s.Session)
	pair("Model", s.Model)
	if s.Info.Remote {
		pair("Engine", "remote")
	}
	if !s.Info.Trusted {
		out = append(out, style.Of("The config of this project is not trusted yet: run lathe trust", style.Fg(th.Warning)))
	}
	if s.Info.ConfigProblem != "" {
		out = append(out, style.Of(s.Info.ConfigProblem, style.Fg(th.Warning)))
	}
	head := func(title string) { out = append(out, nil, style.Of(title, style.Bold(th.Accent))) }
	head("Providers")
	for _, p := range s.Providers {
		out = append(out, style.Of("✓ ", style.Fg(th.Success)).Add(providerName(p), style.Fg(th.Text)).
			Add("  "+style.Plural(len(p.Models), "model"), style.Fg(th.TextMuted)))
	}
	if len(s.Providers) == 0 {
		out = append(out, style.Of("None connected. Log in with /connect.", style.Fg(th.Warning)))
	}
	head("MCP servers")
	for _, x := range ToolServerItems(s.Servers) {
		out = append(out, serverLine(th, x))
	}
	if len(s.Servers) == 0 {
		out = append(out, style.Of("None configured.", style.Fg(th.TextMuted)))
	}
	for _, o := range s.Others {
		head(o.Title)
		for _, l := range o.Lines {
			out = append(out, style.Of(l, style.Fg(th.Text)))
		}
	}
	return out
}

// serverLine draws an MCP server with its status and error.
func serverLine(th *style.Theme, it Item) style.Line {
	sign := cmp.Or(map[Mark]string{Done: "✓ ", Failed: "✗ ", Running: "… "}[it.Mark], "· ")
	line := style.Of(sign, style.Fg(markColor(th, it.Mark))).Add(it.Title, style.Fg(th.Text)).Add("  "+it.Right, style.Fg(th.TextMuted))
	if it.Detail == "" {
		return line
	}
	look := style.Fg(th.TextMuted)
	if it.Mark == Failed {
		look = style.Fg(th.Error)
	}
	return line.Add("  "+it.Detail, look)
}
