package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Open is the id that a Wait returns in Chosen to open its page.
const Open = "open"

// Wait shows an address to open and waits for something to happen elsewhere. Make one with NewWait.
type Wait struct {
	base
	keys               *key.Map
	title, text, link  string
	frame              int
	linkFrom, linkUpTo int
}

// NewWait makes one. The link may be empty.
func NewWait(m *key.Map, title, text, link string) *Wait {
	return &Wait{keys: m, title: title, text: text, link: link}
}

// SetFrame moves the sign that something is waited for.
func (w *Wait) SetFrame(n int) { w.frame = n }

// Key takes a key.
func (w *Wait) Key(k tea.KeyPressMsg) Result {
	switch {
	case Closes(k):
		return Closed{}
	case w.link != "" && (k.String() == "c" || isCopy(k)):
		return Copy{w.link}
	case w.link != "" && w.keys.Match(k, key.DialogSelectSubmit):
		return Chosen{ID: Open}
	}
	return None{}
}

// Click copies the address.
func (w *Wait) Click(x, y int) Result {
	if y >= w.linkFrom && y < w.linkUpTo {
		return Copy{w.link}
	}
	return w.base.Click(x, y)
}

// View draws the box.
func (w *Wait) View(th *style.Theme, width, height int) []style.Line {
	width = boxWidth(medium, width)
	w.corner = corner(width)
	inner := width - 4
	left := rowBudget(max(1, height-2))
	state := left.take([]style.Line{style.Of(" "+style.Spinner(w.frame)+" Waiting …", style.Fg(th.TextMuted))}, 1)
	var link []style.Line
	list := []hint{{"esc", "cancel"}}
	if w.link != "" {
		link = left.take(indent(linkRows(th, w.link, inner, max(1, int(left)))), int(left))
		list = []hint{{"c", "copy the link"}, {w.keys.Label(key.DialogSelectSubmit), "open"}, {"esc", "cancel"}}
	}
	text := left.take(indent(paragraphs(w.text, style.Fg(th.Text), inner)), int(left)*2/3)
	rows := append(text, left.gap(text)...)
	w.linkFrom, w.linkUpTo = 1+len(rows), 1+len(rows)+len(link)
	rows = append(append(rows, link...), left.gap(link)...)
	rows = append(rows, state...)
	if foot := indent(hints(th, list, inner)); int(left) > len(foot) {
		rows = append(append(rows, nil), foot...)
	}
	return box(th, w.title, rows, width, bar{})
}
