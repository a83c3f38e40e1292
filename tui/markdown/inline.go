package markdown

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// words draws a paragraph, a heading or a table.
func (p *pen) words(l *leaf, before style.Line, width int) []style.Line {
	src := l.text
	if p.open {
		src = closeMarks(src)
	}
	if l.head != nil {
		src = append(l.head[:len(l.head):len(l.head)], src...)
	}
	var lead, hang style.Line
	if box, rest, ok := taskOf(src); ok && p.isTask(l) {
		lead, hang, src = p.task(box), style.Line{{Text: "  "}}, rest
	}
	if len(before) > 0 && len(src) > 0 && src[0] == ' ' { // the parser takes it for an indentation
		before = before[:len(before):len(before)].Add(" ", style.Fg(p.look.Theme.MarkdownText))
	}
	found := parse(src, l.kind)
	var out []style.Line
	for _, b := range found.blocks {
		if len(out) > 0 {
			out = append(out, nil)
		}
		if b.table != nil {
			out = append(out, p.table(b.table, found.refs, l.head != nil, width)...)
			continue
		}
		w := p.inline(found.refs)
		w.lines = []style.Line{join(before, lead)}
		before, lead = nil, nil
		w.block(b)
		for i, line := range w.lines {
			if i > 0 && len(hang) > 0 {
				line = join(hang, line)
			}
			out = append(out, line.Wrap(width, hang)...)
		}
	}
	return out
}

// isTask reports whether a leaf is an item that can be ticked. Its box stands in place of the bullet.
func (p *pen) isTask(l *leaf) bool {
	k := len(l.in) - 1
	if l.kind != leafPara || l.cont || k < 0 || l.in[k].quote || l.in[k].id <= p.drawn || isNumbered(l.in[k].bullet) {
		return false
	}
	_, _, ok := taskOf(l.text)
	return ok
}

// taskOf splits the box off an item that can be ticked.
func taskOf(src []byte) (box byte, rest []byte, ok bool) {
	if len(src) < 4 || src[0] != '[' || src[2] != ']' || src[3] != ' ' || strings.IndexByte(" xX", src[1]) < 0 {
		return 0, src, false
	}
	return src[1], src[4:], true
}

func (p *pen) task(box byte) style.Line {
	if box == ' ' {
		return style.Line{{Text: "[ ] ", Attr: style.Fg(p.look.Theme.TextMuted)}}
	}
	mark := "[✓] "
	if !p.look.Conceal {
		mark = "[" + string(rune(box)) + "] "
	}
	return style.Line{{Text: mark, Attr: style.Fg(p.look.Theme.Success)}}
}

// inline draws the inline content of a block, one line for each line of the text.
type inline struct {
	th      *style.Theme
	conceal bool
	cell    bool // of a table

	addresses bool
	refs      [2][]reference
	lines     []style.Line
	around    []style.Attr // the styles of open spans
}

func (p *pen) inline(refs []reference) inline {
	return inline{th: p.look.Theme, conceal: p.look.Conceal, addresses: p.look.Addresses, refs: [2][]reference{p.refs, refs}}
}

func (w *inline) put(text string, a style.Attr) {
	k := len(w.lines) - 1
	w.lines[k] = w.lines[k].Add(text, a)
}

// mark writes a sign of the syntax, where those are to be seen.
func (w *inline) mark(text string) {
	if !w.conceal {
		w.put(text, style.Fg(w.th.TextMuted))
	}
}

func (w *inline) block(b part) {
	a := style.Fg(w.th.MarkdownText)
	if b.level > 0 {
		a = style.Bold(w.th.MarkdownHeading)
		a.Underline = b.level == 1 && w.conceal
		w.mark(strings.Repeat("#", b.level) + " ")
	}
	w.text(b.text, a)
}

// text draws words that look so where nothing else is said of them.
func (w *inline) text(text []byte, a style.Attr) {
	read := reader{src: text, refs: w.refs}
	read.read()
	for i := 0; i < len(read.tokens); i++ {
		t := read.tokens[i]
		switch t.kind {
		case tokenText:
			for ; i+1 < len(read.tokens) && read.isText(i+1); i++ {
				t.to = read.tokens[i+1].to
			}
			w.put(plainText(text[t.from:t.to]), a)
		case tokenBreak:
			w.lines = append(w.lines, nil)
		case tokenCode:
			w.code(string(text[t.from:t.to]), a)
		case tokenHTML:
			w.html(string(text[t.from:t.to]), a)
		case tokenAddress:
			b := a
			b.FG, b.Underline, b.Link = w.th.MarkdownLink, true, address(t.url)
			w.put(string(text[t.from:t.to]), b)
		case tokenRun:
			a = w.run(&read.runs[t.run], read.takes, a)
		case tokenOpen:
			w.around = append(w.around, a)
			a = w.open(t, a)
		case tokenClose:
			w.close(t)
			a = w.pop()
		}
	}
}

func (w *inline) pop() style.Attr {
	k := len(w.around) - 1
	a := w.around[k]
	w.around = w.around[:k]
	return a
}

// run ends what signs close, shows those that mean nothing, and begins what they open. It returns how the
// text behind them looks.
func (w *inline) run(r *signRun, takes []take, a style.Attr) style.Attr {
	for k := r.closed; k != 0; k = takes[k].next {
		w.mark(signOf(r.sign, takes[k].n))
		a = w.pop()
	}
	if r.left > 0 {
		w.put(strings.Repeat(string(rune(r.sign)), r.left), a)
	}
	for k := r.opened; k != 0; k = takes[k].next {
		w.around = append(w.around, a)
		w.mark(signOf(r.sign, takes[k].n))
		if r.sign == '~' {
			a.Strike = true
		} else {
			a = w.emphasis(takes[k].n > 1, a)
		}
	}
	return a
}

// signOf is how a mark is shown: one for each meaning.
func signOf(sign byte, n int32) string {
	switch {
	case sign == '~':
		return "~~"
	case n > 1:
		return "**"
	default:
		return "*"
	}
}

// emphasis changes the style for emphasized text. In a heading it keeps the heading color.
func (w *inline) emphasis(strong bool, a style.Attr) style.Attr {
	heading := a.Bold && a.FG == w.th.MarkdownHeading
	if strong {
		a.Bold = true
		if !heading {
			a.FG = w.th.MarkdownStrong
		}
		return a
	}
	a.Italic = true
	if !heading && !a.Bold {
		a.FG = w.th.MarkdownEmph
	}
	return a
}

func (w *inline) code(text string, a style.Attr) {
	a.FG, a.BG = w.th.MarkdownCode, w.th.BackgroundElement
	if w.cell {
		text = strings.ReplaceAll(text, `\|`, "|")
	}
	w.mark("`")
	w.put(strings.ReplaceAll(text, "\n", " "), a)
	w.mark("`")
}

// open begins a link, or an image: that shows what it is of, and where it lies only if nothing else is known
// of it. It returns how its text looks.
func (w *inline) open(t token, a style.Attr) style.Attr {
	a.Link = address(t.url)
	if !t.image {
		a.FG, a.Underline = w.th.MarkdownLinkText, true
		w.mark("[")
		return a
	}
	a.FG = w.th.MarkdownImageText
	if w.conceal {
		w.put("▣ ", style.Fg(w.th.MarkdownImage))
	}
	w.mark("![")
	if t.empty && w.conceal {
		w.put(t.url, a)
	}
	return a
}

// close ends a link with its address, if addresses or syntax are shown.
func (w *inline) close(t token) {
	if w.conceal {
		if w.addresses && !t.image && t.url != "" {
			w.put(" ("+t.url+")", style.Fg(w.th.TextMuted))
		}
		return
	}
	color := w.th.MarkdownLink
	if t.image {
		color = w.th.MarkdownImage
	}
	w.mark("](")
	w.put(t.url, style.Attr{FG: color, Link: address(t.url)})
	w.mark(")")
}

// html shows tags verbatim, except a line break.
func (w *inline) html(tag string, a style.Attr) {
	if t := strings.ToLower(strings.ReplaceAll(tag, " ", "")); w.conceal && (t == "<br>" || t == "<br/>") {
		w.lines = append(w.lines, nil)
		return
	}
	a.FG = w.th.TextMuted
	w.put(tag, a)
}
