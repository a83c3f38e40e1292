package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// FormField is one thing a form asks for: a text, or a box to check.
type FormField struct {
	ID, Label   string
	Text        string // initial text
	Placeholder string
	Check       bool // a box
	On          bool // initial state of a box
}

// Form asks for several things at once. Make one with NewForm.
type Form struct {
	corner corner
	keys   *key.Map
	title  string
	does   string
	list   []formField
	at     int
	top    int

	firstY, shown, cursor int
}

type formField struct {
	FormField
	text Field
}

// NewForm makes a form; does labels the enter key.
func NewForm(m *key.Map, title, does string, fields []FormField) *Form {
	f := &Form{keys: m, title: title, does: does}
	for _, x := range fields {
		next := formField{FormField: x}
		next.text.Set(x.Text)
		f.list = append(f.list, next)
	}
	return f
}

// Key takes a key.
func (f *Form) Key(k tea.KeyPressMsg) Result {
	if Closes(k) {
		return Closed{}
	}
	if f.keys.Match(k, key.DialogPromptSubmit) {
		return f.filled()
	}
	if len(f.list) == 0 {
		return None{}
	}
	here := &f.list[f.at]
	switch {
	case here.Check && k.Code == tea.KeySpace:
		here.On = !here.On
	case k.Code == tea.KeyTab && k.Mod.Contains(tea.ModShift), f.keys.Match(k, key.DialogSelectPrev):
		f.at = (f.at + len(f.list) - 1) % len(f.list)
	case k.Code == tea.KeyTab, f.keys.Match(k, key.DialogSelectNext):
		f.at = (f.at + 1) % len(f.list)
	case !here.Check:
		here.text.Key(f.keys, k)
	}
	return None{}
}

func (f *Form) filled() Result {
	out := Filled{Texts: map[string]string{}, Checks: map[string]bool{}}
	for i := range f.list {
		if x := &f.list[i]; x.Check {
			out.Checks[x.ID] = x.On
		} else {
			out.Texts[x.ID] = x.text.Text()
		}
	}
	return out
}

// Paste inserts into a text.
func (f *Form) Paste(text string) Result {
	if len(f.list) > 0 && !f.list[f.at].Check {
		f.list[f.at].text.Paste(text)
	}
	return None{}
}

// Click checks a box or goes to a text.
func (f *Form) Click(x, y int) Result {
	if f.corner.hit(x, y) {
		return Closed{}
	}
	i := f.top + y - f.firstY
	if y < f.firstY || y >= f.firstY+f.shown || i >= len(f.list) {
		return None{}
	}
	f.at = i
	if f.list[i].Check {
		f.list[i].On = !f.list[i].On
	}
	return None{}
}

// Wheel goes from field to field.
func (f *Form) Wheel(dy int) Result {
	if len(f.list) > 0 {
		f.at = max(0, min(f.at+dy, len(f.list)-1))
	}
	return None{}
}

// Cursor is in the text that is edited.
func (f *Form) Cursor() (x, y int, ok bool) {
	if len(f.list) == 0 || f.list[f.at].Check {
		return 0, 0, false
	}
	return f.cursor, f.firstY + f.at - f.top, true
}

// View draws the box.
func (f *Form) View(th *style.Theme, width, height int) []style.Line {
	width = boxWidth(narrow, width)
	f.corner = corner(width)
	foot := indent(hints(th, []hint{
		{f.keys.Label(key.DialogPromptSubmit), f.does},
		{"tab", "next"},
		{"space", "check"},
	}, width-4))
	f.firstY = 1
	f.shown = max(1, min(len(f.list), height-2-len(foot)-1))
	if f.at < f.top {
		f.top = f.at
	}
	f.top = max(0, min(max(f.top, f.at-f.shown+1), len(f.list)-f.shown))
	var rows []style.Line
	for i := f.top; i < min(f.top+f.shown, len(f.list)); i++ {
		rows = append(rows, f.row(th, i, width-2))
	}
	if len(rows)+1+len(foot)+2 <= height {
		rows = append(append(rows, nil), foot...)
	}
	return box(th, f.title, rows, width, bar{0, f.top, f.shown, len(f.list)})
}

// row draws a field: a check box, or a label and its text.
func (f *Form) row(th *style.Theme, i, width int) style.Line {
	x := &f.list[i]
	look, lead := style.Fg(th.Text), "   "
	if i == f.at {
		look, lead = style.Bold(th.Primary), " › "
	}
	row := style.Of(lead, look)
	if x.Check {
		box := "[ ] "
		if x.On {
			box = "[✓] "
		}
		return row.Add(box+style.FirstLine(x.Label), look).Truncate(width)
	}
	row = row.Add(style.FirstLine(x.Label)+" ", look).Truncate(width / 2)
	room := max(1, width-row.Width()-2)
	on := style.Attr{FG: th.Text, BG: th.BackgroundElement}
	text, at := x.text.View(on, room)
	if i == f.at {
		f.cursor = 1 + row.Width() + at
	}
	if x.text.Text() == "" {
		text = style.Of(x.Placeholder, style.Attr{FG: th.TextMuted, BG: th.BackgroundElement}).Truncate(room)
	}
	return append(row, text.Fit(room, on)...)
}
