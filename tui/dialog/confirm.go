package dialog

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Yes and No are the ids that a Confirm returns in Chosen.
const (
	Yes = "yes"
	No  = "no"
)

// ConfirmOptions configure a Confirm.
type ConfirmOptions struct {
	Title, Text string
	Yes, No     string // labels of the buttons, by default "Yes" and "No"
	Danger      bool   // starts at No, in the error color
}

// Confirm asks yes or no. Make one with NewConfirm.
type Confirm struct {
	base // a paste confirms nothing
	keys *key.Map
	o    ConfirmOptions
	no   bool // the cursor is on No
	text scroll

	buttonY int
	buttons [2][2]int // columns from and to of each
}

// NewConfirm makes a question.
func NewConfirm(m *key.Map, o ConfirmOptions) *Confirm {
	o.Yes, o.No = cmp.Or(o.Yes, "Yes"), cmp.Or(o.No, "No")
	return &Confirm{keys: m, o: o, no: o.Danger}
}

// Key takes a key. Letters do nothing: they may belong to a sentence.
func (c *Confirm) Key(k tea.KeyPressMsg) Result {
	switch {
	case Closes(k):
		return Closed{}
	case c.text.key(c.keys, k):
		return None{}
	case c.keys.Match(k, key.DialogSelectSubmit):
		return yesNo(c.no)
	}
	switch k.String() {
	case "left":
		c.no = false
	case "right":
		c.no = true
	case "tab", "shift+tab":
		c.no = !c.no
	}
	return None{}
}

func yesNo(no bool) Result {
	if no {
		return Chosen{ID: No}
	}
	return Chosen{ID: Yes}
}

// Click presses a button.
func (c *Confirm) Click(x, y int) Result {
	for i, b := range c.buttons {
		if y == c.buttonY && x >= b[0] && x < b[1] {
			return yesNo(i == 1)
		}
	}
	return c.base.Click(x, y)
}

// Wheel scrolls a long text.
func (c *Confirm) Wheel(dy int) Result {
	c.text.move(dy)
	return None{}
}

// View draws the box.
func (c *Confirm) View(th *style.Theme, width, height int) []style.Line {
	width = boxWidth(narrow, width)
	c.corner = corner(width)
	text := paragraphs(c.o.Text, style.Fg(th.Text), width-4)
	c.text.fit(len(text), min(len(text), max(1, height-4)))
	rows := indent(text[c.text.top : c.text.top+c.text.shown])
	if len(rows)+4 <= height {
		rows = append(rows, nil)
	}
	c.buttonY = 1 + len(rows)
	buttons := style.Width(style.Clean(c.o.Yes)) + style.Width(style.Clean(c.o.No)) + 6
	row := style.Line{{Text: strings.Repeat(" ", max(1, width-2-buttons-1))}}
	c.buttons = [2][2]int{}
	for i, name := range [...]string{c.o.Yes, c.o.No} {
		if i == 1 {
			row = row.Add("  ", style.Attr{})
		}
		from := 1 + row.Width()
		row = row.Add(Button(th, name, (i == 1) == c.no, c.o.Danger && i == 0))
		c.buttons[i] = [2]int{from, 1 + row.Width()}
	}
	rows = append(rows, row)
	return box(th, c.o.Title, rows, width, bar{0, c.text.top, c.text.shown, c.text.all})
}

// Button draws a button. The chosen one has brackets too, for screens without colors.
func Button(th *style.Theme, name string, on, danger bool) (text string, a style.Attr) {
	if !on {
		return " " + name + " ", style.Attr{FG: th.Text, BG: th.BackgroundElement}
	}
	bg := th.Primary
	if danger {
		bg = th.Error
	}
	return "[" + name + "]", style.Attr{FG: th.SelectedText.Or(th.Background), BG: bg, Bold: true}
}
