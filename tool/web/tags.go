package web

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// dropped stands for an element that goes with all that is in it.
const dropped = "-"

// tagOf says as what an element goes into a page: "" leaves it out and keeps its content,
// [dropped] leaves out both, and "newline" is a line's end in preformatted text.
func (r *pageReader) tagOf(t html.Token) string {
	tag := tagNamed(t.Data)
	if tag == "nav" {
		if tag = dropped; r.nav {
			tag = "div"
		}
	}
	if tag == "" || tag == dropped || r.drops > 0 {
		return tag
	}
	if r.within("pre") {
		switch tag {
		case "br":
			return "newline"
		case "code":
			return tag
		}
		return ""
	}
	switch tag {
	case "a":
		if r.absolute(attribute(t, "href"), nil) == nil {
			return ""
		}
	case "table", "thead", "tbody", "tfoot", "tr", "td", "th":
		return r.tableTag(tag)
	}
	return tag
}

func tagNamed(name string) string {
	switch name {
	case "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "pre", "blockquote", "a", "em", "strong", "b", "i", "code", "br", "hr", "img", "nav",
		"table", "thead", "tbody", "tfoot", "tr", "td", "th", "del", "s":
		return name
	case "kbd", "samp", "tt":
		return "code"
	case "strike":
		return "del"
	case "div", "section", "article", "main", "aside", "header", "footer", "hgroup", "figure", "figcaption", "details", "summary", "form", "fieldset",
		"legend", "address", "center", "caption", "dl", "dt", "dd", "dialog", "body", "search":
		return "div"
	case "script", "style", "noscript", "iframe", "object", "template", "svg", "math", "canvas", "audio", "video", "select", "textarea", "noframes", "noembed":
		return dropped
	}
	return ""
}

// tableTag is what a part of a table goes as. Tables in tables are layout, or mean to be large;
// they become boxes, and so does the cell that is one too many.
func (r *pageReader) tableTag(tag string) string {
	tables := 0
	for _, e := range r.open {
		if e.name == "table" {
			tables++
		}
	}
	switch {
	case tag == "table" && tables == 0:
		return tag
	case tag == "table":
		return "div"
	case tables == 0:
		return ""
	case tables > 1:
		return "div"
	}
	// An element without its parents, such as a cell without a row, cannot be part of the table.
	i := slices.IndexFunc(r.open, func(e openElement) bool { return e.name == "table" })
	row := slices.ContainsFunc(r.open[i:], func(e openElement) bool { return e.node != nil && e.node.Data == "tr" })
	if tag != "td" && tag != "th" {
		return tag
	}
	if !row {
		return "div"
	}
	for _, e := range r.open[i:] {
		if e.node != nil && e.node.Data == "tr" && e.cells >= pageCells {
			return ""
		}
	}
	return tag
}

func known(name string) bool { return tagNamed(name) != "" && !isVoid(name) }

func isVoid(tag string) bool { return tag == "br" || tag == "hr" || tag == "img" }

func isInline(name string) bool {
	switch tagNamed(name) {
	case "a", "em", "strong", "b", "i", "code", "del", "s":
		return true
	}
	return false
}

func isHeading(name string) bool {
	return len(name) == 2 && name[0] == 'h' && strings.Contains("123456", name[1:])
}

// imply closes what a start tag closes without a word.
func (r *pageReader) imply(name, tag string) {
	inTable := func(open string) bool { return open == "table" }
	switch name {
	case "li":
		r.closeTo("li", func(open string) bool {
			return slices.Contains([]string{"ul", "ol", "td", "th", "blockquote"}, open)
		})
	case "dt", "dd":
		r.closeTo("dt", func(open string) bool { return open == "dl" || open == "td" || open == "th" }, "dd")
	case "td", "th":
		r.closeTo("td", func(open string) bool { return open == "tr" || open == "table" }, "th")
	case "tr":
		r.closeTo("tr", inTable)
	case "thead", "tbody", "tfoot":
		r.closeTo("thead", inTable, "tbody", "tfoot")
	case "a":
		r.closeTo("a", func(open string) bool { return !isInline(open) })
	}
	if tag == "newline" || isInline(name) || tag == "br" || tag == "img" {
		return
	}
	r.closeTo("p", func(open string) bool { return !isInline(open) })
	if top := r.top().name; isHeading(name) && isHeading(top) {
		r.closeTo(top, func(string) bool { return false })
	}
}

func attribute(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
