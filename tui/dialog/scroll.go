package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
)

// scroll is which rows of a long text are seen.
type scroll struct{ top, shown, all int }

// fit says how many rows there are and how many are seen.
func (s *scroll) fit(all, shown int) {
	s.all, s.shown = all, max(0, min(shown, all))
	s.move(0)
}

func (s *scroll) move(dy int) { s.top = max(0, min(s.top+dy, s.all-s.shown)) }

// key scrolls. It reports whether the key was one for it; a text that is seen whole wants none.
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
