package editor

import (
	"cmp"
	"fmt"

	"github.com/lathe-agent/lathe/tui/style"
)

// window returns which suggestions show.
func (s *suggest) window() (from, to int) {
	n := min(len(s.items), popupRows)
	from = min(max(0, s.sel-popupRows/2), len(s.items)-n)
	return from, from + n
}

// Popup returns the suggestions, to lie above the prompt; none when there are none.
func (e *Editor) Popup(th *style.Theme, width int) []style.Line {
	s := &e.sug
	if !s.open() || width < 1 {
		return nil
	}
	from, to := s.window()
	names := 0
	rows := make([][2]string, 0, to-from)
	for _, it := range s.items[from:to] {
		name, about := s.label(it)
		rows = append(rows, [2]string{name, about})
		if about != "" {
			names = max(names, style.Width(style.Clean(name)))
		}
	}
	names = min(names, max(8, width/2))
	out := make([]style.Line, 0, len(rows))
	for i, r := range rows {
		look, muted, bg := style.Fg(th.Text), style.Fg(th.TextMuted), th.BackgroundMenu.Or(th.BackgroundPanel)
		if from+i == s.sel {
			look, bg = style.Bold(th.SelectedText), th.Primary
			muted = style.Fg(th.SelectedText)
		}
		l := style.Of(" "+style.ShortPath(r[0], width-2), look)
		if r[1] != "" && width > 30 {
			l = l.Truncate(names+1).Fit(names+3, look)
			l = l.Add(r[1], muted)
		}
		out = append(out, l.Truncate(max(1, width-1)).On(bg).Fit(width, style.Attr{BG: bg}))
	}
	return out
}

// label is the name and the description of a suggestion.
func (s *suggest) label(it item) (name, about string) {
	switch {
	case it.command != nil:
		return "/" + it.command.Name, it.command.Description
	case it.agent != nil:
		about = cmp.Or(it.agent.Description, "agent")
		return "@" + it.agent.Name, about
	case it.symbol != nil:
		return "@" + it.symbol.Name, fmt.Sprintf("%s:%d", it.symbol.Path, it.symbol.Start)
	default:
		if _, start, end := cutRange(s.query); start > 0 && it.file[len(it.file)-1] != '/' {
			return fileToken(it.file, start, end).Text[1:], ""
		}
		return it.file, ""
	}
}

// ClickPopup takes the suggestion of a row of Popup.
func (e *Editor) ClickPopup(row int) Result {
	s := &e.sug
	if !s.open() {
		return NotHandled{}
	}
	from, to := s.window()
	if row < 0 || from+row >= to {
		return NotHandled{}
	}
	s.sel = from + row
	return e.choose(s.items[s.sel], false)
}
