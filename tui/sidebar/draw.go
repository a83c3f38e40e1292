package sidebar

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/style"
)

const (
	// maxList is how many entries of a list are drawn, a limit for speed.
	maxList = 100
	// maxWords limits the length of a wrapped text, in bytes.
	maxWords = 1000
)

// drawing collects rows and their click targets.
type drawing struct {
	th         *style.Theme
	inner, pad int // columns between the margins, and of each
	lines      []style.Line
	targets    []target
}

// indent puts a line between the margins.
func (d *drawing) indent(l style.Line) style.Line {
	return append(style.Plain(strings.Repeat(" ", d.pad)), l.Truncate(d.inner)...)
}

func (d *drawing) add(t target, lines ...style.Line) {
	for _, l := range lines {
		d.lines = append(d.lines, d.indent(l))
		d.targets = append(d.targets, t)
	}
}

func (d *drawing) muted(text string) style.Line { return style.Of(text, style.Fg(d.th.TextMuted)) }

// wrap breaks a text of any origin.
func (d *drawing) wrap(text string, a style.Attr, hang string, rows int) []style.Line {
	out := style.Of(text[:min(len(text), maxWords)], a).Wrap(d.inner, style.Plain(hang))
	if len(out) > rows {
		out = append(out[:rows-1:rows-1], append(out[rows-1], style.Of("…", a)...).Truncate(d.inner))
	}
	return out
}

// all draws everything that scrolls.
func (d *drawing) all(s *Sidebar, v *Values) {
	d.add(target{}, nil)
	if v.Hint != "" {
		d.add(target{}, d.wrap(v.Hint, style.Fg(d.th.Warning), "", 6)...)
		d.add(target{}, nil)
	}
	if v.Title != "" {
		d.add(target{}, d.wrap(v.Title, style.Bold(d.th.Text), "", 3)...)
	}
	if v.Share != "" {
		d.add(target{}, style.Of(v.Share, style.Attr{FG: d.th.Info, Underline: true, Link: v.Share}))
	}
	if v.Title != "" || v.Share != "" {
		d.add(target{}, nil)
	}
	d.context(v)
	d.servers(s, v.Servers)
	d.languages(s, v.Languages)
	d.todos(s, v.Todos)
	d.files(s, v.Files)
}

// heading begins a list and reports whether its entries are to be drawn.
func (d *drawing) heading(s *Sidebar, part section, name string, n int) bool {
	d.add(target{}, nil)
	t, sign := target{}, ""
	if n >= foldable {
		t = target{head: true, section: part}
		if sign = "▼ "; s.folded[part] {
			sign = "▶ "
		}
	}
	l := style.Of(sign, style.Fg(d.th.TextMuted)).Add(name, style.Bold(d.th.Text))
	if n >= foldable {
		l = append(l, d.muted(" "+strconv.Itoa(n))...)
	}
	d.add(t, l)
	return !t.head || !s.folded[part]
}

// more says how many entries are not drawn.
func (d *drawing) more(n int) {
	if n > maxList {
		d.add(target{}, d.muted(fmt.Sprintf("… %d more", n-maxList)))
	}
}

// context tells how full the window is, in words and as a bar.
func (d *drawing) context(v *Values) {
	d.add(target{}, style.Of("Context", style.Bold(d.th.Text)))
	text := style.Count(v.Tokens) + " tokens"
	if v.Window > 0 {
		percent := int(min(999, max(0, float64(v.Tokens)/float64(v.Window)*100)))
		text = fmt.Sprintf("%s of %s tokens, %d%%", style.Count(v.Tokens), style.Count(v.Window), percent)
		d.add(target{}, d.bar(percent))
	}
	d.add(target{}, d.muted(text))
	if v.Cost > 0 || v.Tokens == 0 { // an unknown price is not free
		d.add(target{}, d.muted(style.Money(v.Cost)+" spent"))
	}
}

// bar draws a share of the width, in eighths of cells.
func (d *drawing) bar(percent int) style.Line {
	color := d.th.UsageColor(percent).Or(d.th.Success)
	eighths := min(d.inner*8, max(0, d.inner*8*percent/100))
	text := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	l := style.Of(text, style.Attr{FG: color, BG: d.th.BackgroundElement})
	rest := strings.Repeat(" ", d.inner-l.Width())
	if !d.th.BackgroundElement.IsSet() {
		rest = strings.Repeat("·", len(rest))
	}
	return l.Add(rest, style.Attr{FG: d.th.TextMuted, BG: d.th.BackgroundElement})
}

// servers lists the MCP servers with their status.
func (d *drawing) servers(s *Sidebar, all []lathe.ToolServer) {
	if len(all) == 0 || !d.heading(s, servers, "MCP", len(all)) {
		return
	}
	for _, m := range all[:min(len(all), maxList)] {
		color, note := d.th.TextMuted, m.Status
		switch m.Status {
		case "connected":
			color = d.th.Success
			if m.Tools > 0 { // 0 is not known
				note = style.Plural(m.Tools, "tool")
			}
		case "failed":
			color = d.th.Error
			note = cmp.Or(m.Error, note)
		case "needs_auth", "needs_client_registration":
			color, note = d.th.Warning, "login needed: /mcps"
		}
		d.add(target{}, style.Of("● ", style.Fg(color)).Add(first(m.Name), style.Fg(d.th.Text)).Add(" "+first(note), style.Fg(d.th.TextMuted)))
	}
	d.more(len(all))
}

// languages lists the language servers with their state, memory and errors.
func (d *drawing) languages(s *Sidebar, all []api.LanguageServer) {
	if len(all) == 0 || !d.heading(s, languages, "LSP", len(all)) {
		return
	}
	for _, m := range all[:min(len(all), maxList)] {
		color, note := d.th.TextMuted, m.State
		switch m.State {
		case "running":
			color, note = d.th.Success, "no errors"
			if m.Errors > 0 {
				color, note = d.th.Warning, style.Plural(m.Errors, "error")
			}
			if m.Memory > 0 {
				note += " · " + termtext.ByteSize(m.Memory)
			}
		case "off":
			color, note = d.th.Error, cmp.Or(m.Reason, "off")
		}
		d.add(target{}, style.Of("● ", style.Fg(color)).Add(first(m.ID), style.Fg(d.th.Text)).Add(" "+first(note), style.Fg(d.th.TextMuted)))
	}
	d.more(len(all))
}

// first is the beginning of a text that is cut anyway.
func first(s string) string { return s[:min(len(s), 200)] }

// todos lists the todos while some are open.
func (d *drawing) todos(s *Sidebar, all []lathe.Todo) {
	if !slices.ContainsFunc(all, isOpen) || !d.heading(s, todos, "Todo", len(all)) {
		return
	}
	for _, t := range all[:min(len(all), maxList)] {
		box, a := d.th.Todo(t.Status)
		if t.Status == "completed" { // emphasize open todos
			a = style.Fg(d.th.TextMuted)
		}
		d.add(target{}, d.wrap(box+t.Content, a, "    ", 3)...)
	}
	d.more(len(all))
}

func isOpen(t lathe.Todo) bool { return t.Status != "completed" && t.Status != "cancelled" }

// files lists the changed files with their line counts. A click opens one.
func (d *drawing) files(s *Sidebar, all []lathe.FileDiff) {
	if len(all) == 0 || !d.heading(s, files, "Modified files", len(all)) {
		return
	}
	for _, f := range all[:min(len(all), maxList)] {
		var counts style.Line
		if f.Additions > 0 {
			counts = counts.Add(" +"+style.Count(int64(f.Additions)), style.Fg(d.th.DiffAdded))
		}
		if f.Deletions > 0 {
			counts = counts.Add(" −"+style.Count(int64(f.Deletions)), style.Fg(d.th.DiffRemoved))
		}
		name := style.ShortPath(f.File, max(1, d.inner-counts.Width()))
		l := style.Of(name, style.Fg(d.th.TextMuted)).Fit(max(1, d.inner-counts.Width()), style.Attr{})
		d.add(target{file: f.File}, append(l, counts...))
	}
	d.more(len(all))
}

// footer draws the directory, the branch and the version.
func (d *drawing) footer(v *Values) []style.Line {
	out := []style.Line{nil}
	if v.Directory != "" {
		place := v.Directory
		if v.Branch != "" {
			place += ":" + v.Branch
		}
		out = append(out, d.indent(d.muted(style.ShortPath(place, d.inner))))
	}
	if v.Version != "" {
		out = append(out, d.indent(style.Of("● ", style.Fg(d.th.Success)).Add("lathe ", style.Bold(d.th.Text)).Add(first(v.Version), style.Fg(d.th.TextMuted))))
	}
	return append(out, nil)
}
