package dialog

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// The preferred widths of boxes.
const (
	narrow = 56
	medium = 72
	wide   = 96
	least  = 20
)

// boxWidth limits a preferred width to the screen.
func boxWidth(want, screen int) int {
	if screen > want+2 {
		return want
	}
	return max(screen, least)
}

// bar is the scrollbar at the right edge of a box. Its zero value draws none.
type bar struct{ from, top, shown, all int }

// thumb reports whether a row of the box is where the bar's handle is.
func (b bar) thumb(y int) bool {
	if b.all <= b.shown || b.shown <= 0 || y < b.from || y >= b.from+b.shown {
		return false
	}
	size := max(1, b.shown*b.shown/b.all)
	at := b.top * (b.shown - size) / max(1, b.all-b.shown)
	return y-b.from >= at && y-b.from < at+size
}

// box draws a frame with a title around rows. Rows are cut to its width less four.
func box(th *style.Theme, title string, rows []style.Line, width int, b bar) []style.Line {
	edge := style.Attr{FG: th.Border, BG: th.BackgroundPanel}
	out := make([]style.Line, 0, len(rows)+2)
	out = append(out, boxTop(th, title, width, edge))
	for i, r := range rows {
		right := style.Span{Text: "│", Attr: edge}
		if b.thumb(i) {
			right = style.Span{Text: "┃", Attr: style.Attr{FG: th.BorderActive, BG: th.BackgroundPanel}}
		}
		line := style.Line{{Text: "│", Attr: edge}}
		line = append(line, r.On(th.BackgroundPanel).Fit(width-2, style.Attr{BG: th.BackgroundPanel})...)
		out = append(out, append(line, right))
	}
	return append(out, style.Line{{Text: "╰" + strings.Repeat("─", max(0, width-2)) + "╯", Attr: edge}})
}

// Frame draws a box with a title around rows, for a panel that is no dialog.
func Frame(th *style.Theme, title string, rows []style.Line, width int) []style.Line {
	return box(th, title, rows, width, bar{})
}

// corner is the width of a box that was drawn, at whose upper right end one can click to close it.
type corner int

func (c corner) hit(x, y int) bool { return y == 0 && x >= int(c)-6 && x < int(c) }

// boxTop is the upper border with the title and the esc hint.
func boxTop(th *style.Theme, title string, width int, edge style.Attr) style.Line {
	const out = " esc "
	line := style.Line{{Text: "╭", Attr: edge}}
	room := width - 2 - len(out) - 1
	head := style.Of(" "+style.FirstLine(title)+" ", style.Attr{FG: th.Text, BG: th.BackgroundPanel, Bold: true}).Truncate(room)
	if strings.TrimSpace(title) == "" {
		head = nil
	}
	line = append(line, head...)
	line = append(line, style.Span{Text: strings.Repeat("─", max(0, width-2-head.Width()-len(out))), Attr: edge})
	line = append(line, style.Span{Text: out, Attr: style.Attr{FG: th.TextMuted, BG: th.BackgroundPanel}})
	return append(line, style.Span{Text: "╮", Attr: edge})
}

// indent puts a space before a row, so that texts do not touch the frame.
func indent(rows []style.Line) []style.Line {
	out := make([]style.Line, len(rows))
	for i, r := range rows {
		out[i] = append(style.Line{{Text: " "}}, r...)
	}
	return out
}

// rowBudget is how many rows are left for a box.
type rowBudget int

// take returns as many of the rows as fit, up to a limit.
func (b *rowBudget) take(rows []style.Line, most int) []style.Line {
	n := max(0, min(len(rows), most, int(*b)))
	*b -= rowBudget(n)
	return rows[:n]
}

// gap returns an empty row, if there are rows before it and it fits.
func (b *rowBudget) gap(before []style.Line) []style.Line {
	if len(before) == 0 {
		return nil
	}
	return b.take([]style.Line{nil}, 1)
}

// hint is a key and its label.
type hint struct{ key, does string }

// hints draws key hints, in as many rows as needed.
func hints(th *style.Theme, list []hint, width int) []style.Line {
	var rows []style.Line
	var row style.Line
	used := 0
	for _, h := range list {
		if h.key == "" {
			continue
		}
		piece := th.Hint(h.key, h.does).Truncate(width)
		w := piece.Width()
		if used > 0 && used+3+w > width {
			rows, row, used = append(rows, row), nil, 0
		}
		if used > 0 {
			row, used = row.Add("   ", style.Attr{}), used+3
		}
		row, used = append(row, piece...), used+w
	}
	if used > 0 {
		rows = append(rows, row)
	}
	return rows
}

// paragraphs wraps texts of any origin for a box.
func paragraphs(text string, a style.Attr, width int) []style.Line {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	const most = 64 << 10 // a limit for speed
	if len(text) > most {
		text = text[:most] + " …"
	}
	return style.WrapAll(style.Lines(text, a), width)
}
