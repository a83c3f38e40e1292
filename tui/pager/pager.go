// Package pager owns the scroll mode: its keys, its search line and the bar that shows them in the place of the prompt.
// It knows nothing of the conversation, which its results move.
//
// Start with New, then Mode.Key.
package pager

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Mode is the scroll mode. Make one with New.
type Mode struct {
	keys   *key.Map
	field  dialog.Field
	typing bool // the search line is open
	cursor int
}

// Result is the effect of a key: Unused, Do, Typed or Search.
type Result interface{ result() }

type (
	// Unused is a key without a meaning here.
	Unused struct{}
	// Do is an action by the name of its key. An empty name does nothing.
	Do struct{ Name key.Name }
	// Typed is the text of the search line after a change: its matches are highlighted.
	Typed struct{ Text string }
	// Search is a text to search for; "" repeats the last search.
	Search struct{ Text string }
)

func (Unused) result() {}
func (Do) result()     {}
func (Typed) result()  {}
func (Search) result() {}

// Values are the content of the bar.
type Values struct {
	Pattern        string
	Current, Total int
	Searching      bool // older messages are still being searched
	Wrapped        bool // the last step began again from the other side
	Selecting      bool
}

// New begins the mode.
func New(m *key.Map) *Mode { return &Mode{keys: m} }

// names are the actions of the mode, in the order in which their keys are looked for.
func names() []key.Name {
	return []key.Name{
		key.ScrollClose, key.ScrollDown, key.ScrollUp, key.ScrollHalfPageDown, key.ScrollHalfPageUp, key.ScrollPageDown, key.ScrollPageUp,
		key.ScrollFirst, key.ScrollLast, key.ScrollNextPrompt, key.ScrollPreviousPrompt, key.ScrollSearch, key.ScrollNextMatch,
		key.ScrollPreviousMatch, key.ScrollSelect, key.ScrollCopy, key.ScrollUnfold,
	}
}

// Typing reports whether keys go into the search line.
func (m *Mode) Typing() bool { return m.typing }

// Key takes a key. One that writes something never leaves the mode.
func (m *Mode) Key(k tea.KeyPressMsg) Result {
	if m.typing {
		return m.typeKey(k)
	}
	name, ok := m.keys.First(k, names()...)
	switch {
	case ok && name == key.ScrollSearch:
		m.typing = true
		m.field.Set("")
		return Typed{}
	case ok:
		return Do{name}
	case key.IsTyped(k):
		return Do{}
	default:
		return Unused{}
	}
}

// typeKey edits the search line.
func (m *Mode) typeKey(k tea.KeyPressMsg) Result {
	switch {
	case dialog.Closes(k):
		m.typing = false
		return Typed{}
	case m.keys.Match(k, key.DialogPromptSubmit):
		m.typing = false
		return Search{m.field.Text()}
	case m.keys.Match(k, key.InputBackspace) && m.field.Text() == "":
		m.typing = false
		return Typed{}
	case m.field.Key(m.keys, k):
		return Typed{m.field.Text()}
	default:
		return Do{}
	}
}

// Paste puts a text into the search line.
func (m *Mode) Paste(text string) Result {
	if !m.typing {
		return Do{}
	}
	m.field.Paste(text)
	return Typed{m.field.Text()}
}

// Cursor is the column of the search line's cursor.
func (m *Mode) Cursor() (x int, ok bool) { return m.cursor, m.typing }

// View draws the bar: the mode or the search at the left, keys at the right as far as they fit.
func (m *Mode) View(th *style.Theme, v Values, width int) style.Line {
	left := style.Plain("  ")
	badge, ground := " SCROLL ", th.Primary
	if v.Selecting {
		badge, ground = " VISUAL ", th.Accent
	}
	left = left.Add(badge, style.Attr{FG: th.Background, BG: ground, Bold: true}).Add(" ", style.Attr{})
	switch {
	case m.typing:
		text, at := m.field.View(style.Fg(th.Text), max(1, width-left.Width()-2))
		m.cursor = left.Width() + 1 + at
		return append(left.Add("/", style.Fg(th.Primary)), text...)
	case v.Pattern != "":
		pattern := style.Of("/"+v.Pattern, style.Fg(th.Text)).Truncate(max(4, width/3))
		left = append(append(left, pattern...), counts(th, v)...)
	}
	return m.withHints(th, v, left, width)
}

// counts tells the current match and how many there are.
func counts(th *style.Theme, v Values) style.Line {
	muted := style.Fg(th.TextMuted)
	switch {
	case v.Total == 0 && v.Searching:
		return style.Of(" searching …", muted)
	case v.Total == 0:
		return style.Of(" no matches", style.Fg(th.Warning))
	}
	l := style.Of(fmt.Sprintf(" %d/%d", v.Current, v.Total), style.Fg(th.Text))
	if v.Searching {
		l = l.Add(" …", muted)
	}
	if v.Wrapped {
		l = l.Add(" wrapped", muted)
	}
	return l
}

// withHints adds the keys that matter now.
func (m *Mode) withHints(th *style.Theme, v Values, left style.Line, width int) style.Line {
	hints := []struct {
		names []key.Name
		label string
	}{
		{[]key.Name{key.ScrollClose}, "back"},
		{[]key.Name{key.ScrollSearch}, "search"},
		{[]key.Name{key.ScrollSelect}, "select"},
		{[]key.Name{key.ScrollCopy}, "copy"},
		{[]key.Name{key.ScrollUnfold}, "unfold"},
	}
	if v.Pattern != "" {
		hints[1].names, hints[1].label = []key.Name{key.ScrollNextMatch, key.ScrollPreviousMatch}, "next, previous"
	}
	var right style.Line
	for _, h := range hints {
		label := ""
		for _, n := range h.names {
			if l := m.keys.Label(n); l != "" {
				label += "/" + l
			}
		}
		if label == "" {
			continue
		}
		hint := th.Hint(label[1:], h.label)
		if left.Width()+right.Width()+hint.Width()+6 > width {
			break
		}
		if len(right) > 0 {
			right = right.Add("  ", style.Attr{})
		}
		right = append(right, hint...)
	}
	return append(left.Fit(max(left.Width(), width-right.Width()-2), style.Attr{}), right...).Truncate(width)
}
