package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/lathe-agent/lathe/tui/style"
)

// Another reader of the same language draws the same tree in the same looks, so that ours can be held
// against it.

func otherParser() parser.Parser {
	at := func(v any, priority int) util.PrioritizedValue { return util.Prioritized(v, priority) }
	return parser.NewParser(
		parser.WithBlockParsers(
			at(parser.NewSetextHeadingParser(), 100),
			at(parser.NewATXHeadingParser(), 600),
			at(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			at(parser.NewCodeSpanParser(), 100),
			at(parser.NewLinkParser(), 200),
			at(parser.NewAutoLinkParser(), 300),
			at(parser.NewRawHTMLParser(), 400),
			at(parser.NewEmphasisParser(), 500),
			at(extension.NewStrikethroughParser(), 500),
			at(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(
			at(parser.LinkReferenceParagraphTransformer, 100),
			at(extension.NewTableParagraphTransformer(), 200),
		),
		parser.WithASTTransformers(at(extension.NewTableASTTransformer(), 0)),
	)
}

// theirs draws a leaf as the other reader sees it: a line for each of its lines, and for each row of a table.
func theirs(p parser.Parser, src []byte, o Options) []style.Line {
	root := p.Parse(text.NewReader(src))
	var out []style.Line
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if !n.HasChildren() && n.Kind() != ast.KindHeading {
			continue // the definition of a link
		}
		if t, ok := n.(*east.Table); ok {
			out = append(out, theirTable(t, src, o)...)
			continue
		}
		w := otherInline{inline: inline{th: o.Theme, conceal: o.Conceal, lines: []style.Line{nil}}, src: src}
		a := style.Fg(o.Theme.MarkdownText)
		if h, ok := n.(*ast.Heading); ok {
			a = style.Bold(o.Theme.MarkdownHeading)
			a.Underline = h.Level == 1 && o.Conceal
			w.mark(strings.Repeat("#", h.Level) + " ")
		}
		w.children(n, a)
		out = append(out, w.lines...)
	}
	return merged(out)
}

func theirTable(t *east.Table, src []byte, o Options) (out []style.Line) {
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		a := style.Fg(o.Theme.MarkdownText)
		if len(out) == 0 {
			a = style.Bold(o.Theme.MarkdownHeading)
		}
		var row style.Line
		i := 0
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			w := otherInline{inline: inline{th: o.Theme, conceal: o.Conceal, lines: []style.Line{nil}}, src: src}
			w.children(c, a)
			for _, l := range w.lines {
				row = join(row, l)
			}
			side := map[east.Alignment]string{east.AlignCenter: "=", east.AlignRight: ">"}[t.Alignments[i]]
			row = row.Add(side+"│", style.Attr{})
			i++
		}
		out = append(out, row)
	}
	return out
}

// ours draws it in the same way as we see it.
func ours(src []byte, kind leafKind, o Options) []style.Line {
	found := parse(src, kind)
	p := pen{look: o}
	var out []style.Line
	for _, b := range found.blocks {
		if b.table == nil {
			w := p.inline(found.refs)
			w.lines = []style.Line{nil}
			w.block(b)
			out = append(out, w.lines...)
			continue
		}
		for _, cells := range p.cells(b.table, found.refs) {
			var row style.Line
			for i, c := range cells {
				row = join(row, c).Add([]string{"", "=", ">"}[b.table.align[i]]+"│", style.Attr{})
			}
			out = append(out, row)
		}
	}
	return merged(out)
}

// merged joins pieces that look the same.
func merged(lines []style.Line) []style.Line {
	out := make([]style.Line, len(lines))
	for i, l := range lines {
		out[i] = style.Line{}
		for _, s := range l {
			if k := len(out[i]) - 1; k >= 0 && out[i][k].Attr == s.Attr {
				out[i][k].Text += s.Text
			} else if s.Text != "" {
				out[i] = append(out[i], s)
			}
		}
		if k := len(out[i]) - 1; k >= 0 && strings.HasSuffix(out[i][k].Text, " ") { // seen by nobody
			if out[i][k].Text = strings.TrimRight(out[i][k].Text, " "); out[i][k].Text == "" {
				out[i] = out[i][:k]
			}
		}
	}
	return out
}

func same(a, b []style.Line) bool {
	return slices.EqualFunc(a, b, func(x, y style.Line) bool { return slices.Equal(x, y) })
}

type otherInline struct {
	inline
	src []byte
}

func (w *otherInline) children(n ast.Node, a style.Attr) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c, a)
	}
}

func (w *otherInline) node(n ast.Node, a style.Attr) {
	switch n := n.(type) {
	case *ast.Text:
		b := n.Segment.Value(w.src)
		if !n.IsRaw() && bytes.ContainsAny(b, "\\&") {
			if bytes.Contains(b, []byte("\\&")) { // it would resolve that twice
				w.put(plainText(b), a)
				b = nil
			}
			b = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b)))
		}
		w.put(string(b), a)
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.lines = append(w.lines, nil)
		}
	case *ast.CodeSpan:
		var b []byte
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			b = append(b, c.(*ast.Text).Segment.Value(w.src)...)
		}
		w.code(string(b), a)
	case *ast.Emphasis:
		w.mark(signOf('*', int32(n.Level)))
		w.children(n, w.emphasis(n.Level > 1, a))
		w.mark(signOf('*', int32(n.Level)))
	case *east.Strikethrough:
		a.Strike = true
		w.mark("~~")
		w.children(n, a)
		w.mark("~~")
	case *ast.Link:
		t := token{url: string(n.Destination)}
		w.children(n, w.open(t, a))
		w.close(t)
	case *ast.Image:
		t := token{url: string(n.Destination), image: true, empty: !n.HasChildren()}
		w.children(n, w.open(t, a))
		w.close(t)
	case *ast.AutoLink:
		url := string(n.URL(w.src))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(url, "mailto:") {
			url = "mailto:" + url
		}
		a.FG, a.Underline, a.Link = w.th.MarkdownLink, true, address(url)
		w.put(string(n.Label(w.src)), a)
	case *ast.RawHTML:
		w.html(string(n.Segments.Value(w.src)), a)
	default:
		w.children(n, a)
	}
}
