package markdown

import (
	"slices"
	"strings"
)

// A text is read line by line, each once, into a flat list of leaves: paragraphs, headings, lines of code.
// Each leaf knows its quotes and list items. A leaf depends only on the text before
// its end, never on the text after it; so a finished leaf can be drawn once and cached, and the chunks in
// which a text arrived do not matter.

type leafKind uint8

const (
	leafNone    leafKind = iota
	leafPara             // also a table, a heading that is underlined, and definitions of links
	leafHeading          // with # before it
	leafCode             // one or more lines
	leafFence            // the marks around code
	leafHTML             // one or more lines
	leafRule
	leafBullet // an item of a list with nothing in it yet
)

// leaf is a piece of text that is drawn as a whole.
type leaf struct {
	kind   leafKind
	text   []byte
	in     []container // from the outermost; never changed in place
	shared int         // how many of them the leaf before stands in as well
	gap    bool        // an empty row before it
	cont   bool        // continues the last row of the previous leaf
	head   []byte      // the first rows of a table of which this is a later part
	lang   string
	block  int // lines of the same code have the same number
}

// container is a quote or an item of a list.
type container struct {
	id     int  // rises with each that is opened
	list   int  // the items of a list have the same
	quote  bool // otherwise an item
	bullet byte // the sign of the list; '.' or ')' where it is numbered
	number int
	indent int // minimum indentation of the content of the item
}

const (
	maxPara  = 2048 // bytes of a paragraph or a line that are drawn as a whole; longer ones are drawn in parts
	maxLeaf  = 4096 // the same of a table, whose columns should know more of it, and of code that is kept
	maxDepth = 16   // containers in each other
)

// scanner is the state of reading.
type scanner struct {
	stack []container
	open  leaf // a paragraph that may continue, or an item that is empty so far
	out   []leaf

	bullet leaf        // an item that was empty in its first line
	last   []container // the containers of the last leaf
	kind   leafKind    // its kind
	blank  bool        // an empty line since
	ids    int
	block  int // the number of the last block of lines
	begun  int // of the last one that has a line

	fence   fence
	html    htmlEnd
	indent  bool // in code that is only indented
	pending int  // empty lines in it
}

// fence is how open code ends.
type fence struct {
	sign   byte
	length int // 0: there is none
	indent int
	lang   string
}

// clone returns a scanner that can continue without changing this one.
func (s *scanner) clone() scanner {
	c := *s
	c.out = nil
	c.open.text = s.open.text[:len(s.open.text):len(s.open.text)]
	return c
}

// line reads a whole line, without its end.
func (s *scanner) line(text string) {
	matched, rest := s.match(strings.TrimSuffix(text, "\r"))
	all := matched == len(s.stack)
	if all && s.insideLines(rest) {
		return
	}
	if isBlank(rest) {
		s.blankLine(matched)
		return
	}
	if s.indent {
		s.indent, s.pending = false, 0
	}
	if all && s.open.kind == leafBullet { // the content of the item starts on the next line
		s.bullet, s.open = s.open, leaf{}
	}
	s.begin(detab(rest), matched, all)
}

// more reads a further part of a line that is too long to be kept whole.
func (s *scanner) more(text string) {
	l := leaf{kind: leafPara, text: []byte(text), in: s.stack, cont: true, shared: len(s.stack), block: s.block}
	switch {
	case s.fence.length > 0 || s.indent:
		l.kind, l.lang = leafCode, s.fence.lang
		s.out = append(s.out, l)
	case s.html.on:
		l.kind = leafHTML
		s.out = append(s.out, l)
	default:
		s.flush()
		s.open, s.last = l, s.stack
	}
}

// match goes through the containers as far as the line belongs to them.
func (s *scanner) match(rest string) (int, string) {
	for i, c := range s.stack {
		switch {
		case c.quote:
			ind := indentOf(rest)
			if ind > 3 || ind == len(rest) || rest[ind] != '>' {
				return i, rest
			}
			rest = afterQuote(rest[ind+1:])
		case isBlank(rest):
			rest = ""
		default:
			if indentOf(rest) < c.indent {
				rest = detab(rest) // only where it must be: tabs within code stay whole
			}
			if indentOf(rest) < c.indent {
				return i, rest
			}
			rest = rest[c.indent:]
		}
	}
	return len(s.stack), rest
}

func afterQuote(rest string) string { return strings.TrimPrefix(detab(rest), " ") }

// insideLines takes the line where it belongs to code or HTML that is open.
func (s *scanner) insideLines(rest string) bool {
	switch {
	case s.fence.length > 0:
		ind := indentOf(rest)
		if ind <= 3 && s.fence.closedBy(rest[ind:]) {
			s.lineOf(leaf{kind: leafFence, text: []byte(rest[ind:])}, true)
			s.fence = fence{}
			return true
		}
		s.code(rest[min(ind, s.fence.indent):], s.fence.lang)
		return true
	case s.html.on:
		if s.html.mark == "" && isBlank(rest) {
			s.html = htmlEnd{}
			return false
		}
		s.htmlLine(rest)
		return true
	case s.indent && indentOf(detab(rest)) >= 4:
		rest = detab(rest)
		for ; s.pending > 0; s.pending-- {
			s.code("", "")
		}
		s.code(rest[4:], "")
		return true
	}
	return false
}

func (f fence) closedBy(text string) bool {
	n := runOf(text, f.sign)
	return n >= f.length && isBlank(text[n:])
}

func (s *scanner) blankLine(matched int) {
	s.leave(matched)
	s.flush()
	s.pending += b2i(s.indent)
	s.blank = true
}

// leave closes the containers from number n on, with their open blocks.
func (s *scanner) leave(n int) {
	if n == len(s.stack) {
		return
	}
	s.flush()
	s.stack = s.stack[:n:n]
	s.fence, s.html, s.indent, s.pending = fence{}, htmlEnd{}, false, 0
}

// emptyItem opens an item that has only a mark so far.
func (s *scanner) emptyItem(matched int) {
	if !s.stack[matched-1].quote {
		s.open = s.place(leaf{kind: leafBullet})
	}
}

// begin reads a line that is not empty and not in code: it opens new blocks or continues a paragraph.
func (s *scanner) begin(rest string, matched int, all bool) {
	opened := false
	for {
		ind := indentOf(rest)
		inPara := s.open.kind == leafPara && !opened
		if ind >= 4 {
			if inPara {
				break
			}
			s.leave(matched)
			s.block, s.indent = s.block+1, true
			s.code(rest[4:], "")
			return
		}
		r := rest[ind:]
		if inPara && all && isUnderline(r) {
			s.open.text = append(append(s.open.text, '\n'), r...)
			s.flush()
			return
		}
		if s.single(r, ind, matched, inPara) {
			return
		}
		var ok bool
		if rest, ok = s.enter(r, ind, matched, inPara && all); !ok {
			rest = r
			break
		}
		opened, all, matched = true, true, len(s.stack)
		if isBlank(rest) {
			s.emptyItem(matched)
			return
		}
	}
	if !opened && !all && s.open.kind == leafPara {
		matched = len(s.stack) // lazy continuation: a paragraph continues without the marks of its containers
	}
	s.leave(matched)
	s.para(rest)
}

// single opens a block that is one line, or that reads its own lines.
func (s *scanner) single(r string, ind, matched int, inPara bool) bool {
	if f, ok := opensFence(r); ok {
		s.leave(matched)
		f.indent = ind
		s.emit(leaf{kind: leafFence, text: []byte(r)})
		s.fence, s.block = f, s.block+1
		return true
	}
	end, isHTML := opensHTML(r, inPara)
	switch {
	case isHeading(r):
		s.leave(matched)
		s.emit(leaf{kind: leafHeading, text: []byte(r)})
	case isRule(r):
		s.leave(matched)
		s.emit(leaf{kind: leafRule, text: []byte(r)})
	case isHTML:
		s.leave(matched)
		s.html, s.block = end, s.block+1
		s.htmlLine(r)
	default:
		return false
	}
	return true
}

// enter opens a quote or an item. interrupts says that a paragraph is open just here.
func (s *scanner) enter(r string, ind, matched int, interrupts bool) (string, bool) {
	if len(s.stack) >= maxDepth {
		return r, false
	}
	if r[0] == '>' {
		s.leave(matched)
		s.flush()
		s.push(container{quote: true})
		return afterQuote(r[1:]), true
	}
	c, width, ok := opensItem(r)
	if !ok || interrupts && (isBlank(r[width:]) || isNumbered(c.bullet) && c.number != 1) {
		return r, false
	}
	if matched < len(s.stack) {
		if before := s.stack[matched]; !before.quote && before.bullet == c.bullet {
			c.number, c.list = before.number+1, before.list
		}
	}
	s.leave(matched)
	s.flush()
	rest := detab(r[width:])
	space := indentOf(rest)
	switch {
	case space == len(rest):
		rest, space = "", 1
	case space > 4:
		rest, space = rest[1:], 1
	default:
		rest = rest[space:]
	}
	c.indent = ind + width + space
	s.push(c)
	return rest, true
}

func (s *scanner) push(c container) {
	s.ids++
	c.id = s.ids
	if c.list == 0 {
		c.list = c.id
	}
	s.stack = append(s.stack[:len(s.stack):len(s.stack)], c)
}

// para continues the open paragraph or opens one.
func (s *scanner) para(text string) {
	if s.open.kind != leafPara {
		s.open = s.place(leaf{kind: leafPara, text: []byte(text)})
		return
	}
	if size := len(s.open.text) + len(text); size > maxPara && (size > maxLeaf || tableHead(s.open) == nil) {
		l := leaf{kind: leafPara, text: []byte(text), in: s.stack, shared: len(s.stack), head: tableHead(s.open)}
		s.flush()
		s.open, s.last = l, s.stack
		return
	}
	s.open.text = append(append(s.open.text, '\n'), text...)
}

func (s *scanner) code(text, lang string) {
	s.lineOf(leaf{kind: leafCode, text: []byte(text), lang: lang, block: s.block}, s.fence.length > 0)
}

// lineOf adds a line to a block of lines. Only its first may have an empty row before it, and not even that
// where the mark of a fence stands there.
func (s *scanner) lineOf(l leaf, inner bool) {
	s.flush()
	l = s.place(l)
	l.gap = l.gap && !inner && s.begun != s.block
	s.begun = s.block
	s.out = append(s.out, l)
}

func (s *scanner) htmlLine(text string) {
	s.lineOf(leaf{kind: leafHTML, text: []byte(text), block: s.block}, false)
	if s.html.mark != "" && strings.Contains(strings.ToLower(text), s.html.mark) {
		s.html = htmlEnd{}
	}
}

// emit adds a leaf that has ended.
func (s *scanner) emit(l leaf) {
	s.flush()
	s.out = append(s.out, s.place(l))
}

// flush ends the open paragraph.
func (s *scanner) flush() {
	if s.open.kind != leafNone {
		s.out = append(s.out, s.open)
		s.open = leaf{}
	}
}

func hasItem(in []container) bool {
	return slices.ContainsFunc(in, func(c container) bool { return !c.quote })
}

// place says where a leaf stands and whether an empty row comes before it: where the text has an empty
// line, and between blocks that are not of a list.
func (s *scanner) place(l leaf) leaf {
	l.in = s.stack
	for l.shared < len(l.in) && l.shared < len(s.last) && l.in[l.shared].id == s.last[l.shared].id {
		l.shared++
	}
	k := l.shared
	sibling := k < len(l.in) && k < len(s.last) && l.in[k].list == s.last[k].list
	listed := sibling || hasItem(l.in[:k]) || hasItem(l.in) && s.kind == leafPara
	l.gap = s.blank || !listed
	if s.bullet.kind != leafNone {
		l.gap, l.shared, s.bullet = s.bullet.gap, min(l.shared, s.bullet.shared), leaf{}
	}
	s.blank, s.last, s.kind = false, l.in, l.kind
	return l
}
