package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/fuzzy"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Help is the table of all keys, by group, with a filter. Make one with NewHelp.
type Help struct {
	base
	keys    *key.Map
	entries []helpEntry
	query   Field
	see     scroll
	cursor  int

	// The cached rows and their inputs.
	rows      []style.Line
	theme     *style.Theme
	width     int
	asked     string
	maxHeight int
}

type helpEntry struct {
	group, label, does, name string
	labels                   []string
	text                     fuzzy.Text
}

// NewHelp makes the table of the current keybinds. Actions without a key are listed with their config
// name.
func NewHelp(m *key.Map) *Help {
	h := &Help{keys: m}
	for _, e := range key.All() {
		if e.Idle {
			continue
		}
		labels := m.Labels(e.Name)
		x := helpEntry{group: string(e.Group), labels: labels, label: strings.Join(labels, ", "), does: e.Does, name: string(e.Name)}
		x.text = fuzzy.NewText(e.Does, x.label, x.name, x.group)
		h.entries = append(h.entries, x)
	}
	return h
}

// Key takes a key.
func (h *Help) Key(k tea.KeyPressMsg) Result {
	switch {
	case Closes(k), h.keys.Match(k, key.DialogSelectSubmit):
		return Closed{}
	case h.see.key(h.keys, k):
		return None{}
	}
	h.query.Key(h.keys, k)
	return None{}
}

// Paste puts a text into the filter.
func (h *Help) Paste(text string) Result {
	h.query.Paste(text)
	return None{}
}

// Wheel scrolls.
func (h *Help) Wheel(dy int) Result {
	h.see.move(dy)
	return None{}
}

// Cursor is where the filter is edited.
func (h *Help) Cursor() (x, y int, ok bool) { return h.cursor, 1, true }

// View draws the box.
func (h *Help) View(th *style.Theme, width, height int) []style.Line {
	width = boxWidth(medium, width)
	h.corner = corner(width)
	if h.theme != th || h.width != width || h.asked != h.query.Text() {
		if h.asked != h.query.Text() {
			h.see.top = 0
		}
		h.theme, h.width, h.asked = th, width, h.query.Text()
		h.rows = h.table(th, width-2)
	}
	text, at := h.query.View(style.Fg(th.Text), width-2-4)
	h.cursor = fieldColumn + at
	row := append(style.Of(" › ", style.Fg(th.Primary)), text...)
	if h.query.Text() == "" {
		row = row.Add("Type to search", style.Fg(th.TextMuted))
	}
	room := max(1, height-4)
	h.maxHeight = max(h.maxHeight, min(len(h.rows), room))
	h.see.fit(len(h.rows), min(h.maxHeight, room))
	rows := append([]style.Line{row, nil}, h.rows[h.see.top:h.see.top+h.see.shown]...)
	for len(rows) < 2+min(h.maxHeight, room) {
		rows = append(rows, nil)
	}
	return box(th, "Keys", rows, width, bar{2, h.see.top, h.see.shown, h.see.all})
}

// table draws the entries that the filter leaves: side by side, or below each other where it is narrow.
func (h *Help) table(th *style.Theme, width int) []style.Line {
	q := fuzzy.NewQuery(h.query.Text())
	var m fuzzy.Matcher
	var rows []style.Line
	group := ""
	left := min(24, width/3)
	for i := range h.entries {
		e := &h.entries[i]
		if _, ok := m.Score(q, &e.text); !ok {
			continue
		}
		if e.group != group {
			if group != "" {
				rows = append(rows, nil)
			}
			rows, group = append(rows, style.Of(" "+e.group, style.Bold(th.Accent))), e.group
		}
		rows = append(rows, helpRows(th, e, width, left)...)
	}
	if len(rows) == 0 {
		rows = []style.Line{style.Of(" No matches.", style.Fg(th.TextMuted))}
	}
	return rows
}

// helpRows draws an entry: the keys left of the description, or below it on a narrow screen.
func helpRows(th *style.Theme, e *helpEntry, width, left int) []style.Line {
	keys, look := e.label, style.Fg(th.Primary)
	if keys == "" {
		keys, look = "–", style.Fg(th.TextMuted)
	}
	does := style.Of(e.does, style.Fg(th.Text))
	if e.label == "" {
		does = does.Add("  "+e.name, style.Fg(th.TextMuted))
	}
	if width < 50 {
		hang := style.Plain("   ")
		rows := append(style.Plain(" "), does...).Wrap(width-1, hang)
		return append(rows, append(style.Plain("   "), style.Of(keys, look)...).Wrap(width-1, hang)...)
	}
	label := style.Of(keys, look).Wrap(left-1, nil)
	if len(label) > 1 {
		label = labelRows(e.labels, look, left-1)
	}
	text := does.Wrap(width-left-2, nil)
	rows := make([]style.Line, max(len(label), len(text)))
	for i := range rows {
		row := style.Plain(" ")
		if i < len(label) {
			row = append(row, label[i]...)
		}
		if i < len(text) {
			row = append(row.Fit(left+1, style.Attr{}), text[i]...)
		}
		rows[i] = slices.Clip(row)
	}
	return rows
}

// labelRows writes keys below each other where they do not fit beside each other, none of them torn.
func labelRows(labels []string, look style.Attr, width int) (rows []style.Line) {
	row := ""
	for i, l := range labels {
		if i < len(labels)-1 {
			l += ","
		}
		switch {
		case row == "":
			row = l
		case style.Width(row)+1+style.Width(l) <= width:
			row += " " + l
		default:
			rows, row = append(rows, style.Of(row, look).Truncate(width)), l
		}
	}
	return append(rows, style.Of(row, look).Truncate(width))
}
