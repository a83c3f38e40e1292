package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Text shows lines that are read and scrolled. Make one with NewText.
type Text struct {
	base
	keys  *key.Map
	title string
	lines func(th *style.Theme, width int) []style.Line
	want  int // the preferred width
	see   scroll
	tail  bool // stays at the end, unless the user scrolls up

	// The cached rows and their inputs.
	rows  []style.Line
	theme *style.Theme
	width int
}

// NewText makes a text of lines that are written when the theme is known.
func NewText(m *key.Map, title string, lines func(th *style.Theme) []style.Line) *Text {
	return &Text{keys: m, title: title, want: medium, lines: func(th *style.Theme, _ int) []style.Line { return lines(th) }}
}

// NewTail makes a text that shows its end, and stays there while it grows.
func NewTail(m *key.Map, title string, lines func(th *style.Theme) []style.Line) *Text {
	t := NewText(m, title, lines)
	t.tail = true
	return t
}

// Refresh makes the next View write the lines again.
func (t *Text) Refresh() { t.theme = nil }

// Key takes a key.
func (t *Text) Key(k tea.KeyPressMsg) Result {
	switch {
	case Closes(k), k.String() == "q", t.keys.Match(k, key.DialogSelectSubmit):
		return Closed{}
	case t.see.key(t.keys, k):
	case k.String() == "j":
		t.see.move(1)
	case k.String() == "k":
		t.see.move(-1)
	case k.Code == tea.KeySpace:
		t.see.move(max(1, t.see.shown-1))
	}
	return None{}
}

// Wheel scrolls.
func (t *Text) Wheel(dy int) Result {
	t.see.move(dy)
	return None{}
}

// View draws the box.
func (t *Text) View(th *style.Theme, width, height int) []style.Line {
	width = boxWidth(t.want, width)
	t.corner = corner(width)
	if t.theme != th || t.width != width {
		t.rows, t.theme, t.width = indent(style.WrapAll(t.lines(th, width-4), width-4)), th, width
	}
	atEnd := t.tail && t.see.top+t.see.shown >= t.see.all
	if t.see.fit(len(t.rows), max(1, height-2)); atEnd {
		t.see.move(t.see.all)
	}
	return box(th, t.title, t.rows[t.see.top:t.see.top+t.see.shown], width, bar{0, t.see.top, t.see.shown, t.see.all})
}

// scroll is the visible part of a long text.
type scroll struct{ top, shown, all int }

// fit sets the number of rows and of visible rows.
func (s *scroll) fit(all, shown int) {
	s.all, s.shown = all, max(0, min(shown, all))
	s.move(0)
}

func (s *scroll) move(dy int) { s.top = max(0, min(s.top+dy, s.all-s.shown)) }

// key scrolls. It reports whether it used the key; a text that fits uses none.
func (s *scroll) key(m *key.Map, k tea.KeyPressMsg) bool {
	if s.all <= s.shown {
		return false
	}
	name, ok := m.First(k, key.DialogSelectPrev, key.DialogSelectNext, key.DialogSelectPageUp,
		key.DialogSelectPageDown, key.DialogSelectHome, key.DialogSelectEnd)
	if !ok {
		return false
	}
	page := max(1, s.shown-1)
	switch name {
	case key.DialogSelectPrev:
		s.move(-1)
	case key.DialogSelectNext:
		s.move(1)
	case key.DialogSelectPageUp:
		s.move(-page)
	case key.DialogSelectPageDown:
		s.move(page)
	case key.DialogSelectHome:
		s.top = 0
	case key.DialogSelectEnd:
		s.move(s.all)
	}
	return true
}
