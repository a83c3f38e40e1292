package dialog

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/tui/fuzzy"
	"github.com/lathe-agent/lathe/tui/style"
)

// fieldColumn is where the text of a filter begins: frame, space, sign, space.
const fieldColumn = 4

// View draws the box.
func (l *List) View(th *style.Theme, width, height int) []style.Line {
	want := medium
	if l.o.Wide {
		want = wide
	}
	width = boxWidth(want, width)
	l.corner = corner(width)
	roomy := height >= 14
	foot := l.foot(th, width-6)
	rows := []style.Line{l.filterRow(th, width-2)}
	if roomy {
		rows = append(rows, nil)
		if len(foot) > 0 {
			foot = append([]style.Line{nil}, foot...)
		}
	}
	room := height - 2 - len(rows) - len(foot)
	if room < 1 { // entries before hints
		foot, room = nil, max(1, height-2-len(rows))
	}
	l.seen.field, l.seen.first = 1, 1+len(rows)
	l.seen.count = min(l.wanted(), room, max(8, height*2/3))
	if l.drawn {
		l.scrollToCursor()
	} else {
		l.drawn, l.top = true, 0
		l.reveal()
	}
	from := len(rows)
	rows = append(rows, l.entries(th, width-2)...)
	rows = append(rows, foot...)
	return box(th, l.o.Title, rows, width, bar{from, l.top, l.seen.count, len(l.rows)})
}

// wanted is how many rows the list would like to have: never fewer than it had.
func (l *List) wanted() int {
	l.maxHeight = max(l.maxHeight, len(l.rows), 3)
	return l.maxHeight
}

// Cursor is where the filter is edited.
func (l *List) Cursor() (x, y int, ok bool) { return l.seen.cursor, l.seen.field, true }

// filterRow draws the filter with the number of matches.
func (l *List) filterRow(th *style.Theme, width int) style.Line {
	count := ""
	if l.words != nil {
		count = strconv.Itoa(len(l.rows)) + " found "
	}
	text, at := l.query.View(style.Fg(th.Text), max(1, width-3-len(count)-1))
	l.seen.cursor = fieldColumn + at
	row := style.Of(" › ", style.Fg(th.Primary))
	if l.query.Text() == "" {
		row = row.Add(cmp.Or(l.o.Placeholder, "Type to search"), style.Fg(th.TextMuted)).Truncate(width)
	} else {
		row = append(row, text...)
	}
	if count != "" {
		row = row.Fit(width-len(count), style.Attr{}).Add(count, style.Fg(th.TextMuted))
	}
	return row
}

// entries draws the visible rows, or a message for an empty list.
func (l *List) entries(th *style.Theme, width int) []style.Line {
	out := make([]style.Line, l.seen.count)
	if len(l.rows) == 0 {
		for i, row := range l.emptyLine(th).Wrap(max(1, width-4), nil) {
			if i < len(out) {
				out[i] = append(style.Line{{Text: "   "}}, row...)
			}
		}
		return out
	}
	for i := range out {
		n := l.top + i
		if n >= len(l.rows) {
			break
		}
		switch r := l.rows[n]; r.kind {
		case rowHead:
			out[i] = style.Of("   "+style.FirstLine(l.o.Items[r.item].Group), style.Bold(th.Accent)).Truncate(width)
		case rowItem:
			out[i] = l.entry(th, &l.o.Items[r.item], n == l.at, width)
		case rowGap:
		}
	}
	return out
}

func (l *List) emptyLine(th *style.Theme) style.Line {
	switch {
	case l.loading:
		return style.Of(style.Spinner(l.frame)+" Loading …", style.Fg(th.TextMuted))
	case len(l.o.Items) == 0 && l.o.Empty != "" && l.Text() == "": // a remote search returns only matches
		return style.Of(l.o.Empty, style.Fg(th.TextMuted))
	case l.o.NoMatch != nil:
		return style.Of(l.o.NoMatch(), style.Fg(th.TextMuted))
	default:
		return style.Of("No matches.", style.Fg(th.TextMuted))
	}
}

// entry draws an entry: cursor, mark, title, detail and right text.
func (l *List) entry(th *style.Theme, it *Item, on bool, width int) style.Line {
	look := entryStyleOf(th, it, on)
	title := cmp.Or(style.FirstLine(it.Title), "(no title)")
	if confirm := l.confirming(it, on); confirm != "" {
		text := style.Attr{FG: th.Background.Or(th.SelectedText), BG: th.Error, Bold: true}
		return style.Of(" › "+confirm, text).Fit(width, text)
	}
	lead := "   "
	if on {
		lead = " › "
	}
	line := style.Of(lead, look.mark)
	if l.signs {
		line = line.Add(l.sign(it)+" ", look.mark)
	}
	room := width - 1 - line.Width()
	right, wide := it.Right, style.Width(style.Clean(it.Right))
	name := l.highlightTitle(title, look, on)
	have := name.Width()
	if min(have, room*3/5)+2+wide > room {
		right = "" // a name that can be read is worth more
	}
	left := room
	if right != "" {
		left -= 2 + wide
	}
	if detail := l.detail(it); detail != "" && have+2+8 <= left {
		name = append(name, style.Of("  "+detail, look.muted).Truncate(left-have)...)
	}
	line = append(line, name.Truncate(left)...)
	if right != "" {
		line = line.Fit(width-1-wide, look.text).Add(right, look.muted)
	}
	return line.Fit(width, look.text)
}

// detail is the text after a title; in search results, which have no headings, it includes the group.
func (l *List) detail(it *Item) string {
	detail := style.FirstLine(it.Detail)
	if l.words != nil && it.Group != "" {
		return strings.TrimSuffix(style.FirstLine(it.Group)+" · "+detail, " · ")
	}
	return detail
}

// confirming is the question of the extra key that waits for its second press.
func (l *List) confirming(it *Item, on bool) string {
	if !on || l.armed.name == "" || l.armed.id != it.ID {
		return ""
	}
	for _, e := range l.o.Extras {
		if e.Name == l.armed.name {
			return e.Confirm
		}
	}
	return ""
}

// highlightTitle marks the characters that the query found.
func (l *List) highlightTitle(title string, look entryStyle, on bool) style.Line {
	if l.words == nil {
		return style.Of(title, look.text)
	}
	var out style.Line
	at := 0
	for _, hit := range fuzzy.Positions(l.words, title) {
		if hit < at {
			continue
		}
		end := hit + firstSize(title[hit:])
		found := look.found
		found.Underline = on
		out = out.Add(title[at:hit], look.text).Add(title[hit:end], found)
		at = end
	}
	return out.Add(title[at:], look.text)
}

type entryStyle struct{ text, muted, mark, found style.Attr }

func entryStyleOf(th *style.Theme, it *Item, on bool) entryStyle {
	if on {
		a := style.Attr{FG: th.SelectedText.Or(th.Background), BG: th.Primary, Bold: true}
		quiet := a
		quiet.Bold = false
		return entryStyle{a, quiet, a, a}
	}
	mark := it.Tint.Or(markColor(th, it.Mark))
	return entryStyle{style.Fg(th.Text), style.Fg(th.TextMuted), style.Fg(mark), style.Bold(th.Primary)}
}

func markColor(th *style.Theme, m Mark) style.Color {
	switch m {
	case Current, Running:
		return th.Primary
	case Done:
		return th.Success
	case Failed:
		return th.Error
	case Starred, Waiting, Interrupted:
		return th.Warning
	case NoMark:
	}
	return th.TextMuted
}

// sign is the mark before a title.
func (l *List) sign(it *Item) string {
	switch it.Mark {
	case Current:
		return "●"
	case Running:
		return style.Spinner(l.frame)
	case Done:
		return "✓"
	case Failed:
		return "✗"
	case Starred:
		return "★"
	case Waiting:
		return "?"
	case Interrupted:
		return "‖"
	case NoMark:
	}
	if it.Tint.IsSet() {
		return "■"
	}
	return " "
}

// foot has the preview and lists the extra keys.
func (l *List) foot(th *style.Theme, width int) []style.Line {
	var list []hint
	for _, e := range l.o.Extras {
		list = append(list, hint{l.keys.Label(e.Name), e.Label})
	}
	out := hints(th, list, width)
	if about := l.about(th, width); len(about) > 0 && len(out) > 0 {
		out = append(append(about, nil), out...)
	} else {
		out = append(about, out...)
	}
	for i := range out {
		out[i] = append(style.Line{{Text: "   "}}, out[i]...)
	}
	return out
}

// about draws the preview of the selected entry. Its number of rows only grows, so that the list does not jump.
func (l *List) about(th *style.Theme, width int) (out []style.Line) {
	if l.o.Preview == nil {
		return nil
	}
	it, _ := l.current()
	for text := range strings.Lines(l.o.Preview(it.ID)) {
		out = append(out, style.Of(style.FirstLine(text), style.Fg(th.TextMuted)).Truncate(width))
	}
	for l.seen.about = max(l.seen.about, len(out), 1); len(out) < l.seen.about; {
		out = append(out, nil)
	}
	return out
}
