package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/lathe-agent/lathe/tui/style"
)

// words draws a paragraph, a heading or a table.
func (p *pen) words(l *leaf, before style.Line, width int) []style.Line {
	src := l.text
	if p.open {
		src = closed(src)
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
	root, _ := parse(src, p.refs)
	var out []style.Line
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if !n.HasChildren() && n.Kind() != ast.KindHeading {
			continue // the definition of a link
		}
		if len(out) > 0 {
			out = append(out, nil)
		}
		if t, ok := n.(*east.Table); ok {
			out = append(out, p.table(t, src, l.head != nil, width)...)
			continue
		}
		w := inline{th: p.look.Theme, conceal: p.look.Conceal, src: src}
		w.lines = []style.Line{join(before, lead)}
		before, lead = nil, nil
		w.block(n)
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

// inline gathers what stands within a block, a line for each that the text has.
type inline struct {
	th      *style.Theme
	conceal bool
	src     []byte
	lines   []style.Line
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

func (w *inline) block(n ast.Node) {
	a := style.Fg(w.th.MarkdownText)
	if h, ok := n.(*ast.Heading); ok {
		a = style.Bold(w.th.MarkdownHeading)
		a.Underline = h.Level == 1 && w.conceal
		w.mark(strings.Repeat("#", h.Level) + " ")
	}
	w.children(n, a)
}

func (w *inline) children(n ast.Node, a style.Attr) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c, a)
	}
}

func (w *inline) node(n ast.Node, a style.Attr) {
	switch n := n.(type) {
	case *ast.Text:
		w.put(plainText(n.Segment.Value(w.src), n.IsRaw()), a)
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.lines = append(w.lines, nil)
		}
	case *ast.String:
		w.put(plainText(n.Value, n.IsRaw() || n.IsCode()), a)
	case *ast.CodeSpan:
		w.code(n, a)
	case *ast.Emphasis:
		w.emphasis(n, a)
	case *east.Strikethrough:
		a.Strike = true
		w.mark("~~")
		w.children(n, a)
		w.mark("~~")
	case *ast.Link:
		w.link(n, string(n.Destination), a)
	case *ast.Image:
		w.image(n, a)
	case *ast.AutoLink:
		url := string(n.URL(w.src))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(url, "mailto:") {
			url = "mailto:" + url
		}
		a.FG, a.Underline, a.Link = w.th.MarkdownLink, true, address(url)
		w.put(string(n.Label(w.src)), a)
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			seg := n.Segments.At(i)
			w.html(string(seg.Value(w.src)), a)
		}
	default:
		w.children(n, a)
	}
}

// plainText resolves what stands for other characters.
func plainText(b []byte, raw bool) string {
	if raw || !bytes.ContainsAny(b, "\\&") {
		return string(b)
	}
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b))))
}

func (w *inline) code(n *ast.CodeSpan, a style.Attr) {
	a.FG, a.BG = w.th.MarkdownCode, w.th.BackgroundElement
	w.mark("`")
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			w.put(strings.ReplaceAll(string(t.Segment.Value(w.src)), "\n", " "), a)
		}
	}
	w.mark("`")
}

func (w *inline) emphasis(n *ast.Emphasis, a style.Attr) {
	heading := a.Bold && a.FG == w.th.MarkdownHeading
	sign := "*"
	if n.Level > 1 {
		a.Bold, sign = true, "**"
		if !heading {
			a.FG = w.th.MarkdownStrong
		}
	} else {
		a.Italic = true
		if !heading && !a.Bold {
			a.FG = w.th.MarkdownEmph
		}
	}
	w.mark(sign)
	w.children(n, a)
	w.mark(sign)
}

func (w *inline) link(n ast.Node, url string, a style.Attr) {
	a.FG, a.Underline, a.Link = w.th.MarkdownLinkText, true, address(url)
	w.mark("[")
	w.children(n, a)
	w.mark("](")
	if !w.conceal {
		w.put(url, style.Attr{FG: w.th.MarkdownLink, Link: address(url)})
	}
	w.mark(")")
}

// image shows what a picture is of; where it lies only if nothing else is known of it.
func (w *inline) image(n *ast.Image, a style.Attr) {
	url := string(n.Destination)
	a.FG, a.Link = w.th.MarkdownImageText, address(url)
	if w.conceal {
		w.put("▣ ", style.Fg(w.th.MarkdownImage))
	}
	w.mark("![")
	if n.HasChildren() {
		w.children(n, a)
	} else if w.conceal {
		w.put(url, a)
	}
	w.mark("](")
	if !w.conceal {
		w.put(url, style.Attr{FG: w.th.MarkdownImage, Link: address(url)})
	}
	w.mark(")")
}

// html shows tags as they are, but a break as what it says.
func (w *inline) html(tag string, a style.Attr) {
	if t := strings.ToLower(strings.ReplaceAll(tag, " ", "")); w.conceal && (t == "<br>" || t == "<br/>") {
		w.lines = append(w.lines, nil)
		return
	}
	a.FG = w.th.TextMuted
	w.put(tag, a)
}

// address returns where a click may lead: the web, a mailbox, a file. Everything else is only shown.
func address(url string) string {
	low := strings.ToLower(url)
	for _, scheme := range [...]string{"http://", "https://", "mailto:", "file://"} {
		if strings.HasPrefix(low, scheme) {
			return string(util.URLEscape([]byte(url), true))
		}
	}
	return ""
}
