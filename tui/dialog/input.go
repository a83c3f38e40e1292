package dialog

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// InputOptions configure an Input.
type InputOptions struct {
	Title, Description string
	Placeholder, Text  string
	Link               string // an optional link; a click or ctrl+y copies it
	Secret             bool   // shows dots
	Required           bool   // an empty text is refused
	SubmitLabel        string // label of the enter key, by default "save"
}

// Input asks for one line. Make one with NewInput.
type Input struct {
	base
	keys *key.Map
	o    InputOptions
	text Field
	err  string // why enter was refused; typing clears it

	fieldY, cursor   int
	linkFrom, linkTo int // rows of the address
}

// NewInput makes an input.
func NewInput(m *key.Map, o InputOptions) *Input {
	in := &Input{keys: m, o: o}
	in.text.Set(o.Text)
	return in
}

// Key takes a key.
func (in *Input) Key(k tea.KeyPressMsg) Result {
	switch {
	case Closes(k):
		return Closed{}
	case in.o.Link != "" && isCopy(k):
		return Copy{in.o.Link}
	case in.keys.Match(k, key.DialogPromptSubmit):
		text := strings.TrimSpace(in.text.Text())
		if text == "" && in.o.Required {
			in.err = "Enter a value, or press esc to cancel."
			return None{}
		}
		return Entered{text}
	}
	if in.text.Key(in.keys, k) {
		in.err = ""
	}
	return None{}
}

// Typed is text that was typed and not entered. It is empty for a secret or a login code.
func (in *Input) Typed() string {
	if text := strings.TrimSpace(in.text.Text()); !in.o.Secret && in.o.Link == "" && text != strings.TrimSpace(in.o.Text) {
		return text
	}
	return ""
}

// isCopy is the key that copies where letters are typed.
func isCopy(k tea.KeyPressMsg) bool { return k.Code == 'y' && k.Mod.Contains(tea.ModCtrl) }

// Paste inserts a text. It never enters it.
func (in *Input) Paste(text string) Result {
	in.text.Paste(text)
	in.err = ""
	return None{}
}

// Click puts the cursor, or copies the address.
func (in *Input) Click(x, y int) Result {
	switch {
	case y == in.fieldY && !in.o.Secret:
		in.text.Click(x - fieldColumn)
	case y >= in.linkFrom && y < in.linkTo:
		return Copy{in.o.Link}
	}
	return in.base.Click(x, y)
}

// Cursor is where the text is edited.
func (in *Input) Cursor() (x, y int, ok bool) { return in.cursor, in.fieldY, true }

// View draws the box. On a low screen, the field and its error come first, then the link.
func (in *Input) View(th *style.Theme, width, height int) []style.Line {
	width = boxWidth(medium, width)
	in.corner = corner(width)
	inner := width - 4
	left := rowBudget(max(1, height-2) - 1) // the field
	var under []style.Line
	if in.err != "" {
		under = left.take(indent(paragraphs(in.err, style.Fg(th.Error), inner)), 4)
	}
	var link []style.Line
	if in.o.Link != "" {
		link = left.take(indent(linkRows(th, in.o.Link, inner, max(1, int(left)))), int(left))
	}
	about := left.take(indent(paragraphs(in.o.Description, style.Fg(th.TextMuted), inner)), int(left)*2/3)
	rows := append(about, left.gap(about)...)
	in.linkFrom, in.linkTo = 1+len(rows), 1+len(rows)+len(link)
	rows = append(append(rows, link...), left.gap(link)...)
	in.fieldY = 1 + len(rows)
	rows = append(append(rows, in.field(th, width-2)), under...)
	if foot := indent(hints(th, in.hints(), inner)); int(left) > len(foot) {
		rows = append(append(rows, nil), foot...)
	}
	return box(th, in.o.Title, rows, width, bar{})
}

func (in *Input) hints() []hint {
	list := []hint{{in.keys.Label(key.DialogPromptSubmit), cmp.Or(in.o.SubmitLabel, "save")}, {"esc", "cancel"}}
	if in.o.Link != "" {
		list = append(list, hint{"ctrl+y", "copy the link"})
	}
	return list
}

// field draws the input line with a space at both ends.
func (in *Input) field(th *style.Theme, width int) style.Line {
	draw := in.text.View
	if in.o.Secret {
		draw = in.text.Secret
	}
	line, at := draw(style.Attr{FG: th.Text, BG: th.BackgroundElement}, width-4)
	in.cursor = fieldColumn + at
	if in.text.Text() == "" {
		line = style.Of(in.o.Placeholder, style.Attr{FG: th.TextMuted, BG: th.BackgroundElement}).Truncate(width - 4)
	}
	row := append(style.Of(" › ", style.Fg(th.Primary)), line...)
	return row.Fit(width-1, style.Attr{BG: th.BackgroundElement})
}

// linkRows draws a link in full over several rows, since the user may have to copy it by hand.
func linkRows(th *style.Theme, url string, width, most int) []style.Line {
	const longest = 8 << 10
	if len(url) > longest {
		url = url[:longest] // Copy has all of it
	}
	rows := style.Of(url, style.Attr{FG: th.Info, Underline: true, Link: url}).Wrap(width, nil)
	if len(rows) > most {
		rows = rows[:most]
		rows[most-1] = rows[most-1].Cut(0, width-1).Add("…", style.Fg(th.TextMuted))
	}
	return rows
}
