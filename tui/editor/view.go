package editor

import (
	"github.com/lathe-agent/lathe/tui/style"
)

// Look is how the prompt is to be shown.
type Look struct {
	Bar         style.Color // of the bar at the left
	Placeholder string      // shown while there is no text
	Focused     bool        // has the cursor
}

// gutter is what stands left of the text: the bar and a space.
const gutter = 2

// View shows the prompt, at most so high: as high as its text, one row at least. All rows are as wide as asked.
func (e *Editor) View(th *style.Theme, look Look, width, height int) []style.Line {
	width, height = max(width, 1), max(height, 1)
	e.width = max(1, width-gutter-1) // and a cell for the cursor behind the text
	e.height = height
	e.scroll()
	bg := th.BackgroundElement
	var rows []style.Line
	if e.IsEmpty() && look.Placeholder != "" {
		rows = []style.Line{style.Of(look.Placeholder, style.Fg(th.TextMuted)).Truncate(e.width)}
	} else {
		rows = e.rows(th)
	}
	e.caretOn = look.Focused
	bar := style.Span{Text: "┃", Attr: style.Attr{FG: look.Bar, BG: bg}}
	for i, r := range rows {
		l := make(style.Line, 0, len(r)+3)
		l = append(l, bar, style.Span{Text: " ", Attr: style.Attr{BG: bg}})
		l = append(l, r.On(bg)...)
		rows[i] = l.Fit(width, style.Attr{BG: bg})
	}
	return rows
}

// Cursor is where the cursor is in the last View; ok is false when it has none.
func (e *Editor) Cursor() (x, y int, ok bool) { return e.caretX, e.caretY, e.caretOn }

// rows draws the rows from top on and notes where the cursor is.
func (e *Editor) rows(th *style.Theme) []style.Line {
	var out []style.Line
	n := e.top.line
	l := e.buf.lines[n]
	row := l.rowOf(e.top.off, e.width)
	for len(out) < e.height {
		from, to, last := l.rowRange(row, e.width)
		out = append(out, e.row(th, n, from, to))
		if row++; last {
			if n++; n == len(e.buf.lines) {
				break
			}
			l, row = e.buf.lines[n], 0
		}
	}
	return out
}

// row draws a stretch of a line.
func (e *Editor) row(th *style.Theme, n, from, to int) style.Line {
	l := e.buf.lines[n]
	var out style.Line
	selFrom, selTo := e.selectedIn(n)
	base := style.Fg(th.Text)
	put := func(a, b int, attr style.Attr) { // with the part of it that is selected
		cut := func(x, y int, attr style.Attr) {
			if x < y {
				out = out.Add(l.text[x:y], attr)
			}
		}
		s, t := min(max(a, selFrom), b), max(min(b, selTo), a)
		if s >= t {
			cut(a, b, attr)
			return
		}
		cut(a, s, attr)
		cut(s, t, style.Attr{FG: th.SelectedText, BG: th.Primary})
		cut(t, b, attr)
	}
	at := from
	for _, p := range l.toks {
		if p.end() <= from || p.at >= to {
			continue
		}
		if p.at > at {
			put(at, p.at, base)
		}
		put(max(p.at, from), min(p.end(), to), p.tok.look(th))
		at = min(p.end(), to)
	}
	if at < to {
		put(at, to, base)
	}
	if selFrom <= to && selTo > len(l.text) && to == len(l.text) { // the break is selected too
		out = out.Add(" ", style.Attr{BG: th.Primary})
	}
	return out
}

// selectedIn returns what of a line is selected; behind its end means the break, too.
func (e *Editor) selectedIn(n int) (from, to int) {
	if !e.marked {
		return 0, 0
	}
	a, b := e.selection()
	if n < a.line || n > b.line {
		return 0, 0
	}
	from, to = 0, len(e.buf.lines[n].text)+1
	if n == a.line {
		from = a.off
	}
	if n == b.line {
		to = b.off
	}
	return from, to
}
