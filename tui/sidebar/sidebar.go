// Package sidebar owns the column at the right of a session: title, context usage,
// cost, MCP servers, language servers, todos and changed files.
//
// It draws what it is given and remembers only which lists are folded and how far it is scrolled. It is not
// safe for use by several goroutines. Start with Values and Sidebar.View.
package sidebar

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/style"
)

// Width is the preferred width of the sidebar.
const Width = 42

// Values are the content of the sidebar.
type Values struct {
	Title string // empty in the session of a subagent
	Share string // an address
	// Hint, when set, is shown first: a problem and its fix.
	Hint string

	Tokens  int64
	Window  int64 // context window of the model; 0 is unknown
	Cost    float64
	Servers []lathe.ToolServer
	// Languages are the language servers that were started.
	Languages []api.LanguageServer
	Todos     []lathe.Todo
	Files     []lathe.FileDiff

	Directory, Branch, Version string // the directory as people write it
}

// section is a part of the column that can be folded.
type section int

const (
	servers section = iota
	languages
	todos
	files
	sections
)

// foldable is from how many entries on a list can be folded.
const foldable = 3

// Sidebar is the folding and scroll state. The zero value has everything open.
type Sidebar struct {
	folded [sections]bool
	top    int // rows scrolled
	// The last drawing, for clicks and scrolling.
	rows   []target
	height int // of the scrolling part
	total  int
}

// target is the effect of a click on a row.
type target struct {
	head    bool
	section section
	file    string
}

// Result is the outcome of a click.
type Result struct {
	Handled bool
	File    string // a changed file to open
}

// Click folds or opens the part whose heading is there, or asks for a file.
func (s *Sidebar) Click(_, y int) Result {
	if y < 0 || y >= s.height || y+s.top >= len(s.rows) {
		return Result{}
	}
	if y == s.height-1 && s.isMore() { // the line that says so
		s.Wheel(max(1, s.height/2))
		return Result{Handled: true}
	}
	switch t := s.rows[y+s.top]; {
	case t.head:
		s.folded[t.section] = !s.folded[t.section]
		return Result{Handled: true}
	case t.file != "":
		return Result{Handled: true, File: t.file}
	default:
		return Result{}
	}
}

// Wheel scrolls, where there is more than fits.
func (s *Sidebar) Wheel(dy int) { s.top = max(0, min(s.top+dy, s.total-s.height)) }

// isMore reports whether rows are hidden below.
func (s *Sidebar) isMore() bool { return s.total-s.top > s.height }

// View draws the column on the theme's panel, exactly as wide and as high as asked.
func (s *Sidebar) View(th *style.Theme, v Values, width, height int) []style.Line {
	if width < 1 || height < 1 {
		return nil
	}
	d := drawing{th: th, pad: 2}
	if width < 30 {
		d.pad = 1
	}
	d.inner = max(1, width-2*d.pad)
	d.all(s, &v)
	foot := d.footer(&v)
	if len(foot)+4 > height { // the content is more important
		foot = nil
	}
	s.height = height - len(foot)
	s.rows, s.total = d.targets, len(d.lines)
	s.Wheel(0)
	lines := d.lines[s.top:min(len(d.lines), s.top+s.height)]
	if s.isMore() {
		lines = append(lines[:s.height-1:s.height-1], d.indent(style.Of("↓ more", style.Fg(th.TextMuted))))
	}
	out := style.Block(lines, width, s.height, th.BackgroundPanel)
	return append(out, style.Block(foot, width, len(foot), th.BackgroundPanel)...)
}
