package diff

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// maxText is the maximum length of a drawn line.
const maxText = 8192

// Row draws row i: one line, or several where it is wrapped. The result must not be changed.
func (s *Sheet) Row(i int, o Options) []style.Line {
	o.Max, o.Width = 0, max(o.Width, 1)
	if s.drawn == nil || s.look != o || len(s.drawn) > maxDrawn {
		s.drawn, s.look = map[int][]style.Line{}, o
	}
	if rows, ok := s.drawn[i]; ok {
		return rows
	}
	rows := s.draw(s.items(o)[i], o)
	s.drawn[i] = rows
	return rows
}

// draw renders an item: a file head, a hunk head, a note, or a line on one or both sides.
func (s *Sheet) draw(it item, o Options) []style.Line {
	th := o.Theme
	switch it.kind {
	case itemFile:
		return []style.Line{s.head(o).Truncate(o.Width)}
	case itemHunk:
		h := s.file.Hunks[it.left]
		text := "⋯ line " + strconv.Itoa(max(h.New, 1))
		if h.Section != "" {
			text += " · " + h.Section
		}
		l := style.Of(shorten(text), style.Attr{FG: th.DiffHunkHeader, BG: th.DiffContextBg})
		return []style.Line{l.Truncate(o.Width).Fit(o.Width, style.Attr{BG: th.DiffContextBg})}
	case itemNote:
		return style.Of(it.text, style.Fg(th.TextMuted)).Wrap(o.Width, nil)
	}
	if !s.split(o) {
		if it.left < 0 {
			return s.side(it.right, '+', o.Width, o)
		}
		return s.side(it.left, s.flat[it.left].Op, o.Width, o)
	}
	w := (o.Width - 1) / 2
	left, right := s.half(it.left, '-', w, o), s.half(it.right, '+', o.Width-1-w, o)
	out := make([]style.Line, max(len(left), len(right)))
	bar := style.Span{Text: "│", Attr: style.Attr{FG: th.BorderSubtle, BG: th.DiffContextBg}}
	for y := range out {
		out[y] = append(out[y], at(left, y, w, th)...)
		out[y] = append(out[y], bar)
		out[y] = append(out[y], at(right, y, o.Width-1-w, th)...)
	}
	return out
}

// half is one side of a pair: a line that both have is old on the left and new on the right.
func (s *Sheet) half(i int, op byte, width int, o Options) []style.Line {
	if i < 0 {
		return nil
	}
	if s.flat[i].Op == ' ' && op == '-' {
		return s.numbered(i, s.flat[i].old, ' ', width, o)
	}
	return s.side(i, s.flat[i].Op, width, o)
}

func at(rows []style.Line, y, width int, th *style.Theme) style.Line {
	if y < len(rows) {
		return rows[y]
	}
	return style.Line{{Text: strings.Repeat(" ", width), Attr: style.Attr{BG: th.DiffContextBg}}}
}

// head shows the file and its change.
func (s *Sheet) head(o Options) style.Line {
	th, f := o.Theme, s.file
	mark, c := "~ ", th.DiffContext
	switch f.Status {
	case Added:
		mark, c = "+ ", th.DiffAdded
	case Deleted:
		mark, c = "- ", th.DiffRemoved
	case Renamed, Copied:
		mark, c = "→ ", th.DiffHunkHeader
	}
	l := style.Of(mark, style.Bold(c)).Add(cmp.Or(f.Path(), "(no name)"), style.Bold(th.Text))
	if (f.Status == Renamed || f.Status == Copied) && f.Old != f.New {
		l = l.Add(" (from "+f.Old+")", style.Fg(th.TextMuted))
	}
	added, removed := Stat(*f)
	return append(l, Counts(th, added, removed)...)
}

func (s *Sheet) side(i int, op byte, width int, o Options) []style.Line {
	n := s.flat[i].new
	if op == '-' {
		n = s.flat[i].old
	}
	return s.numbered(i, n, op, width, o)
}

// numbered draws a line with its number, on the background of its change.
func (s *Sheet) numbered(i, n int, op byte, width int, o Options) []style.Line {
	th := o.Theme
	bg, numberBg, sign := th.DiffContextBg, th.DiffContextBg, style.Fg(th.DiffContext)
	switch op {
	case '+':
		bg, numberBg, sign = th.DiffAddedBg, th.DiffAddedLineNumberBg, style.Fg(th.DiffAdded)
	case '-':
		bg, numberBg, sign = th.DiffRemovedBg, th.DiffRemovedLineNumberBg, style.Fg(th.DiffRemoved)
	}
	text := s.text(i, op, o)
	num := strconv.Itoa(n)
	gutter := style.Line{
		{Text: " " + strings.Repeat(" ", max(s.digit-len(num), 0)) + num + " ", Attr: style.Attr{FG: th.DiffLineNumber, BG: numberBg}},
		{Text: string(rune(op)) + " ", Attr: sign.On(bg)},
	}
	room := width - gutter.Width()
	if room < 8 { // the text is more important
		gutter, room = gutter[1:], width-2
	}
	room = max(room, 1)
	rows := []style.Line{text.Truncate(room)}
	if o.Wrap {
		rows = text.Wrap(room, nil)
	}
	fill := style.Attr{BG: bg}
	out := make([]style.Line, len(rows))
	for y, r := range rows {
		if y == 1 { // a number stands once
			gutter = slices.Clone(gutter)
			for k := range gutter {
				gutter[k].Text = strings.Repeat(" ", style.Width(gutter[k].Text))
			}
		}
		out[y] = append(slices.Clip(gutter), r...).On(bg).Fit(width, fill)
	}
	return out
}

// text is a line in the colors of its language, with the words that changed.
func (s *Sheet) text(i int, op byte, o Options) style.Line {
	r := &s.flat[i]
	text := r.Text
	if !o.Wrap {
		text = style.Prefix(text, 4*o.Width+64) // no more can be seen
	}
	text = shorten(text)
	x := s.lexer(i)
	line := x.Line(text, o.Theme)
	if !x.IsSupported() {
		line = style.Of(text, style.Fg(o.Theme.Text))
	}
	if r.mate < 0 || op == ' ' {
		return line
	}
	th := o.Theme
	mark := highlight(th.DiffHighlightAdded, th.DiffAdded, th.DiffAddedBg)
	old, now := s.flat[r.mate].Text, r.Text
	if op == '-' {
		mark = highlight(th.DiffHighlightRemoved, th.DiffRemoved, th.DiffRemovedBg)
		old, now = now, old
	}
	gone, come := diffWords(style.Clean(style.Prefix(old, maxWords)), style.Clean(style.Prefix(now, maxWords)))
	if op == '-' {
		return highlightSpans(line, gone, mark)
	}
	return highlightSpans(line, come, mark)
}

// highlight is how changed words look: on as strong a ground as they can be read on. Where there is none, as
// with colors of the terminal's own, which cannot be mixed, they are underlined.
func highlight(text, strong, ground style.Color) style.Attr {
	for _, share := range [...]float64{0.25, 0.17, 0.1} {
		if mixed := strong.Blend(ground, share); mixed != strong && style.Contrast(text, mixed) >= 4 {
			return style.Attr{FG: text, BG: mixed, Bold: true}
		}
	}
	return style.Attr{FG: text, Bold: true, Underline: true}
}

// shorten cuts a very long line, and counts the rest.
func shorten(text string) string {
	if len(text) <= maxText {
		return text
	}
	head := style.Prefix(text, maxText)
	return head + " … " + strconv.Itoa(len(text)-len(head)) + " more bytes"
}

// highlightSpans gives looks to stretches of a line.
func highlightSpans(l style.Line, spans []stretch, a style.Attr) style.Line {
	if len(spans) == 0 {
		return l
	}
	var out style.Line
	at := 0
	for _, s := range l {
		for text := s.Text; text != ""; {
			for len(spans) > 0 && spans[0].to <= at {
				spans = spans[1:]
			}
			n, looks := len(text), s.Attr
			if len(spans) > 0 {
				if at >= spans[0].from {
					n, looks = min(n, spans[0].to-at), a
				} else {
					n = min(n, spans[0].from-at)
				}
			}
			out = append(out, style.Span{Text: text[:n], Attr: looks})
			text, at = text[n:], at+n
		}
	}
	return out
}
