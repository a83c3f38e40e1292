package markdown

import (
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// pen draws leaves in sequence. A copy of it can continue without affecting it, as long as it only
// appends rows.
type pen struct {
	look Options
	refs []reference
	rows []style.Line

	gap   bool // an empty row is due before the next
	bars  int  // how many containers of the next leaf it stands in
	drawn int  // the last container whose mark has been drawn
	block int  // the code that lexer is in
	lexer Lexer
	cols  []int // how wide the columns of the last table are
	open  bool  // the leaf is the last, and more of it will come

	lastLead style.Line // the two halves of the last row, which a long line continues
	lastBody style.Line
}

// draw adds the rows of a leaf.
func (p *pen) draw(l *leaf) {
	p.gap, p.bars = p.gap || l.gap, min(p.bars, l.shared)
	lead, hang := p.prefix(l)
	width := max(p.look.Width-hang.Width(), 1)
	if k := len(lead) - 1; k >= 0 && p.isTask(l) {
		lead = lead[:k]
	}
	continued := l.cont && len(p.rows) > 0
	var before style.Line
	if continued {
		before, lead = p.lastBody, p.lastLead
	}
	body := p.body(l, before, width)
	if len(body) == 0 {
		return
	}
	if continued {
		p.rows = p.rows[:len(p.rows)-1]
	} else if p.gap && len(p.rows) > 0 {
		_, bars := p.prefix(&leaf{in: quotesOf(l.in[:p.bars])})
		p.rows = append(p.rows, bars)
	}
	p.gap, p.bars = false, len(l.in)
	if n := len(l.in); n > 0 {
		p.drawn = max(p.drawn, l.in[n-1].id)
	}
	for i, b := range body {
		if i > 0 {
			lead = hang
		}
		row := b
		if len(lead) > 0 {
			row = append(lead[:len(lead):len(lead)], b...)
		}
		p.rows = append(p.rows, row)
		p.lastBody, p.lastLead = b, lead
	}
}

// quotesOf are the containers that show between two leaves.
func quotesOf(in []container) []container {
	for len(in) > 0 && !in[len(in)-1].quote {
		in = in[:len(in)-1]
	}
	return in
}

// prefix returns the prefix of the first row of a leaf and of the others. Where containers lie too
// deep for the width, the inner ones are not indented.
func (p *pen) prefix(l *leaf) (lead, hang style.Line) {
	th, room, used := p.look.Theme, p.look.Width-min(p.look.Width/2, 20), 0
	for _, c := range l.in {
		if c.quote {
			if used+2 <= room {
				bar := style.Span{Text: "│ ", Attr: style.Fg(th.MarkdownBlockQuote)}
				lead, hang, used = append(lead, bar), append(hang, bar), used+2
			}
			continue
		}
		mark, a := "• ", style.Fg(th.MarkdownListItem)
		if isNumbered(c.bullet) {
			mark, a = strconv.Itoa(c.number)+string(rune(c.bullet))+" ", style.Fg(th.MarkdownListEnumeration)
		} else if !p.look.Conceal {
			mark = string(rune(c.bullet)) + " "
		}
		w := style.Width(mark)
		if used+w > room {
			continue
		}
		used += w
		space := style.Span{Text: strings.Repeat(" ", w)}
		hang = append(hang, space)
		if c.id > p.drawn {
			space = style.Span{Text: mark, Attr: a}
		}
		lead = append(lead, space)
	}
	return lead, hang
}

// body returns the rows of a leaf without their prefix. The first row continues before.
func (p *pen) body(l *leaf, before style.Line, width int) []style.Line {
	th := p.look.Theme
	switch l.kind {
	case leafPara, leafHeading:
		return p.words(l, before, width)
	case leafCode:
		return p.code(l, before, width)
	case leafFence:
		if p.look.Conceal {
			return nil
		}
		return style.Of(string(l.text), style.Fg(th.TextMuted)).Wrap(width, nil)
	case leafHTML:
		var out []style.Line
		for line := range strings.SplitSeq(string(l.text), "\n") {
			out = append(out, join(before, style.Of(line, style.Fg(th.TextMuted))).Wrap(width, nil)...)
			before = nil
		}
		return out
	case leafRule:
		return []style.Line{{{Text: strings.Repeat("─", width), Attr: style.Fg(th.MarkdownHorizontalRule)}}}
	default:
		return []style.Line{nil}
	}
}

func join(a, b style.Line) style.Line { return append(a[:len(a):len(a)], b...) }

// code draws lines of code on their own background, with a margin of one cell if the width allows it.
func (p *pen) code(l *leaf, before style.Line, width int) []style.Line {
	if p.block != l.block || !p.lexer.IsSupported() {
		p.block, p.lexer = l.block, NewLexer(l.lang)
	}
	bg := p.look.Theme.BackgroundElement
	pad := style.Span{Text: " ", Attr: style.Attr{BG: bg}}
	edge := b2i(width >= 10)
	if len(before) > 0 {
		before = unpad(before, edge)
	}
	var out []style.Line
	for line := range strings.SplitSeq(string(l.text), "\n") {
		colored := join(before, p.lexer.Line(line, p.look.Theme))
		before = nil
		for _, row := range colored.Wrap(width-2*edge, nil) {
			if edge > 0 {
				row = append(style.Line{pad}, row...)
			}
			out = append(out, row.On(bg).Fit(width, pad.Attr))
		}
	}
	return out
}

// unpad removes the padding of a row of code.
func unpad(row style.Line, edge int) style.Line {
	w := row.Width()
	if k := len(row) - 1; k > 0 && strings.Trim(row[k].Text, " ") == "" {
		w -= len(row[k].Text)
	}
	return row.Cut(edge, w)
}
