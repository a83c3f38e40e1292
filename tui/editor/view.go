package editor

import (
	"slices"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// pane is a text on the screen: wrapped into rows, scrolled, with keys to move in it and to change it.
type pane struct {
	text
	keys   *key.Map
	width  int // of the text, as last shown
	height int
	top    pos // first row that shows
	pad    int // empty rows above and below the text, as last shown

	caretX, caretY int
	caretOn        bool
}

// ViewOptions is how the prompt is to be shown.
type ViewOptions struct {
	Bar         style.Color // of the bar at the left
	Placeholder string      // shown while there is no text
	Focused     bool        // has the cursor
	Padded      bool        // with an empty row above and below the text
}

// The width left of the text, which is the bar and a space, and right of it, where the cursor can stand behind the text.
const (
	gutter      = 2
	rightMargin = 2
)

// View shows the prompt, at most so high: as high as its text, one row at least, and the padding. All rows are as wide
// as asked.
func (pn *pane) View(th *style.Theme, look ViewOptions, width, height int) []style.Line {
	width, height = max(width, 1), max(height, 1)
	pn.width = max(1, width-gutter-rightMargin)
	if pn.pad = 0; look.Padded && height > 2 {
		pn.pad = 1
	}
	pn.height = height - 2*pn.pad
	pn.scroll()
	bg := th.BackgroundElement
	var rows []style.Line
	if pn.IsEmpty() && look.Placeholder != "" {
		rows = []style.Line{style.Of(look.Placeholder, style.Fg(th.TextMuted)).Truncate(pn.width)}
	} else {
		rows = pn.rows(th)
	}
	pn.caretOn = look.Focused
	if pn.pad > 0 {
		rows = slices.Concat([]style.Line{nil}, rows, []style.Line{nil})
	}
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
func (pn *pane) Cursor() (x, y int, ok bool) { return pn.caretX, pn.caretY + pn.pad, pn.caretOn }

// rows draws the rows from top on and notes where the cursor is.
func (pn *pane) rows(th *style.Theme) []style.Line {
	var out []style.Line
	n := pn.top.line
	l := pn.buf.lines[n]
	row := l.rowOf(pn.top.off, pn.width)
	for len(out) < pn.height {
		from, to, last := l.rowRange(row, pn.width)
		out = append(out, pn.row(th, n, from, to))
		if row++; last {
			if n++; n == len(pn.buf.lines) {
				break
			}
			l, row = pn.buf.lines[n], 0
		}
	}
	return out
}

// row draws a stretch of a line.
func (pn *pane) row(th *style.Theme, n, from, to int) style.Line {
	l := pn.buf.lines[n]
	var out style.Line
	selFrom, selTo := pn.selectedIn(n)
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
