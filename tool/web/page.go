package web

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Limits of a page. A parser that follows the standard can be made to take quadratic time
// and to build trees without end; this one takes what matters for a text and no more.
const (
	pageText    = 2 << 20 // maximal bytes of text
	pageNodes   = 100_000
	pageOpen    = 200 // elements within each other
	pageNesting = 16  // of them, other than plain boxes
	pageCells   = 32  // of one row of a table
	pageLink    = 2000
)

// page is what was taken from an HTML document: a small, sound tree of a few elements.
type page struct {
	title string
	root  *html.Node
	cut   bool // there was more text
}

// pageReader makes a page.
type pageReader struct {
	base *url.URL
	nav  bool // navigation stays

	page  page
	open  []openElement
	text  strings.Builder // not yet in the tree
	nodes int
	bytes int
	drops int  // open elements whose content is dropped
	boxes int  // open elements that are plain boxes
	over  int  // elements that were not opened since there are too many
	lead  bool // a line end that comes now belongs to the tag before it
}

type openElement struct {
	name  string     // as the document has it
	node  *html.Node // nil where the content is dropped
	cells int        // of a row
}

// parsePage reads an HTML document. It always gives a page.
func parsePage(doc string, base *url.URL, nav bool) page {
	r := &pageReader{base: base, nav: nav}
	r.page.root = &html.Node{Type: html.ElementNode, Data: "div"}
	r.open = []openElement{{name: "", node: r.page.root}}
	z := html.NewTokenizer(strings.NewReader(doc))
	for !r.page.cut {
		kind := z.Next()
		if kind == html.ErrorToken {
			r.page.cut = z.Err() != io.EOF
			break
		}
		switch kind {
		case html.TextToken:
			r.addText(z.Token().Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.Data == "title" {
				r.addTitle(z)
				continue
			}
			r.start(t, kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(string(name))
		}
	}
	r.flush()
	return r.page
}

func (r *pageReader) addTitle(z *html.Tokenizer) {
	if z.Next() != html.TextToken {
		return
	}
	if title := strings.Join(strings.Fields(z.Token().Data), " "); r.page.title == "" && r.drops == 0 {
		r.page.title = title
	}
}

func (r *pageReader) top() *openElement { return &r.open[len(r.open)-1] }

func (r *pageReader) addText(s string) {
	if r.drops > 0 {
		return
	}
	if r.lead {
		s, r.lead = strings.TrimPrefix(s, "\n"), false
	}
	if r.bytes += len(s); r.bytes > pageText {
		s, r.page.cut = s[:max(0, len(s)-(r.bytes-pageText))], true
	}
	r.text.WriteString(s)
}

// flush puts the text so far into the tree. What stands in a table outside of its cells goes
// before the table, as browsers show it.
func (r *pageReader) flush() {
	s := r.text.String()
	r.text.Reset()
	if s == "" {
		return
	}
	i := len(r.open) - 1
	for r.open[i].node == nil { // the text is from before it
		i--
	}
	at := r.open[i].node
	n := &html.Node{Type: html.TextNode, Data: strings.ToValidUTF8(s, "\ufffd")}
	if !tablePart(at.Data) {
		r.add(at, n)
		return
	}
	if strings.TrimSpace(s) == "" {
		return
	}
	for at.Data != "table" && at.Parent != nil {
		at = at.Parent
	}
	if at.Parent != nil && r.count() {
		at.Parent.InsertBefore(n, at)
	}
}

func tablePart(tag string) bool {
	switch tag {
	case "table", "thead", "tbody", "tfoot", "tr":
		return true
	}
	return false
}

func (r *pageReader) count() bool {
	if r.nodes++; r.nodes > pageNodes {
		r.page.cut = true
		return false
	}
	return true
}

func (r *pageReader) add(to, n *html.Node) {
	if r.count() {
		to.AppendChild(n)
	}
}

func (r *pageReader) start(t html.Token, closed bool) {
	name := t.Data
	if name == "base" && r.base != nil && r.nodes == 0 {
		r.base = r.absolute(attribute(t, "href"), r.base)
		return
	}
	tag := r.tagOf(t)
	if r.lead = false; tag == "" {
		return
	}
	if tag == dropped {
		if !closed {
			r.push(openElement{name: name})
		}
		return
	}
	if r.drops > 0 {
		if r.imply(name, tag); !isVoid(tag) {
			r.push(openElement{name: name})
		}
		return
	}
	r.flush()
	r.imply(name, tag)
	switch {
	case tag == "newline":
		r.text.WriteByte('\n')
	case isVoid(tag):
		r.addVoid(t, tag)
	default:
		r.push(openElement{name: name, node: r.element(t, tag)})
		r.lead = tag == "pre"
	}
}

// push opens an element. One too many is not opened, so that neither this nor what walks the
// tree later goes deeper than it can; its text stays.
func (r *pageReader) push(e openElement) {
	box := e.node != nil && e.node.Data == "div"
	if len(r.open) >= pageOpen || !box && e.node != nil && len(r.open)-r.boxes > pageNesting {
		r.over++
		return
	}
	switch {
	case e.node == nil:
		r.drops++
	default:
		parent := r.top()
		r.add(parent.node, e.node)
		if box {
			r.boxes++
		}
		if e.node.Data == "td" || e.node.Data == "th" {
			parent.cells++
		}
	}
	r.open = append(r.open, e)
}

func (r *pageReader) pop() {
	e := r.top()
	switch {
	case e.node == nil:
		r.drops--
	case e.node.Data == "div":
		r.boxes--
	}
	r.open = r.open[:len(r.open)-1]
}

func (r *pageReader) addVoid(t html.Token, tag string) {
	n := &html.Node{Type: html.ElementNode, Data: tag}
	if tag == "img" {
		alt := strings.Join(strings.Fields(attribute(t, "alt")), " ")
		src := r.absolute(attribute(t, "src"), nil)
		if src == nil || len(alt) > pageLink {
			return
		}
		n.Attr = []html.Attribute{{Key: "src", Val: src.String()}, {Key: "alt", Val: alt}}
	}
	r.add(r.top().node, n)
}

// element makes a node with the attributes that matter.
func (r *pageReader) element(t html.Token, tag string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: tag}
	set := func(key, val string) { n.Attr = append(n.Attr, html.Attribute{Key: key, Val: val}) }
	switch tag {
	case "a":
		set("href", r.absolute(attribute(t, "href"), nil).String())
	case "pre", "code":
		if class := attribute(t, "class"); strings.Contains(class, "lang") && len(class) < 200 {
			set("class", class)
		}
	case "ol":
		if start := attribute(t, "start"); start != "" && len(start) < 7 {
			set("start", start)
		}
	}
	return n
}

// absolute is where a link of the page leads; other where that is nowhere one can fetch.
func (r *pageReader) absolute(ref string, other *url.URL) *url.URL {
	ref = strings.TrimSpace(ref)
	if ref == "" || strings.HasPrefix(ref, "#") || len(ref) > pageLink {
		return other
	}
	u, err := url.Parse(ref)
	if err != nil {
		return other
	}
	if r.base != nil {
		u = r.base.ResolveReference(u)
	}
	switch u.Scheme {
	case "http", "https", "mailto", "":
		return u
	}
	return other
}

// end closes the element of that name and what is still open in it.
func (r *pageReader) end(name string) {
	switch {
	case name == "br": // browsers take it for a line break
		r.start(html.Token{Type: html.StartTagToken, Data: "br"}, true)
		return
	case !known(name):
		return
	case r.over > 0:
		r.over--
		return
	}
	r.breakLine(name)
	r.closeTo(name, func(open string) bool {
		return (open == "td" || open == "th") && !tablePart(name) && name != "td" && name != "th"
	})
}

// breakLine ends a line of preformatted text where an element ends that stands for one.
func (r *pageReader) breakLine(name string) {
	switch name {
	case "div", "p", "li", "tr":
		if r.drops == 0 && r.within("pre") && !strings.HasSuffix(r.text.String(), "\n") {
			r.text.WriteByte('\n')
		}
	}
}

// closeTo closes the innermost element of one of the names, unless a barrier comes first.
func (r *pageReader) closeTo(name string, barrier func(open string) bool, also ...string) {
	for i := len(r.open) - 1; i > 0; i-- {
		open := r.open[i].name
		if open == name || slices.Contains(also, open) {
			if slices.ContainsFunc(r.open[i:], func(e openElement) bool { return e.node != nil }) {
				r.flush() // text around what is dropped stays in one piece
			}
			for len(r.open) > i {
				r.pop()
			}
			return
		}
		if barrier(open) {
			return
		}
	}
}

func (r *pageReader) within(tag string) bool {
	return slices.ContainsFunc(r.open, func(e openElement) bool { return e.node != nil && e.node.Data == tag })
}
