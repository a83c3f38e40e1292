package markdown

import (
	"bytes"
	"slices"
	"strings"
)

// A leaf contains paragraphs, headings, tables and link definitions. The scanner has already separated
// lists, quotes and code.

// part is a piece of a leaf.
type part struct {
	level int    // of a heading; 0 where it is none
	text  []byte // without spaces at the beginnings of its lines
	table *table // in place of the text
}

// reference is where links with a label lead.
type reference struct{ label, url string }

// parts is the content of a leaf.
type parts struct {
	blocks []part
	refs   []reference // that it defines
}

const blanks = " \t\r\n"

// parse reads a leaf.
func parse(src []byte, kind leafKind) parts {
	var p parts
	if kind == leafHeading {
		p.heading(bytes.Trim(src, blanks))
		return p
	}
	begin := 0 // of the open paragraph
	for at := 0; at < len(src); {
		next := len(src)
		if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := src[at:next]
		if len(bytes.Trim(line, blanks)) == 0 {
			p.para(src[begin:at], 0)
			begin = next
		} else if level := underline(line); level > 0 && at > begin {
			used := p.para(src[begin:at], level)
			begin = next
			if !used {
				begin = at
			}
		}
		at = next
	}
	p.para(src[begin:], 0)
	return p
}

// underline returns of which level a line makes the paragraph above a heading.
func underline(line []byte) int {
	ind := indentOf(string(line[:min(len(line), 4)]))
	line = bytes.TrimRight(line[min(ind, len(line)):], blanks)
	if ind > 3 || len(line) == 0 || line[0] != '=' && line[0] != '-' || len(bytes.Trim(line, string(line[0]))) > 0 {
		return 0
	}
	return 1 + b2i(line[0] == '-')
}

// heading reads a line that begins with #. Those at its end close it.
func (p *parts) heading(line []byte) {
	level := runOf(string(line[:min(len(line), 7)]), '#')
	text := bytes.Trim(line[level:], blanks)
	body := bytes.TrimRight(text, "#")
	if len(body) == 0 || len(body) < len(text) && strings.IndexByte(blanks, body[len(body)-1]) >= 0 {
		text = bytes.TrimRight(body, blanks)
	}
	p.blocks = append(p.blocks, part{level: level, text: text})
}

// para reads a paragraph, or one that is underlined. It reports whether the underline has anything to do: a
// table or a definition above it needs none.
func (p *parts) para(src []byte, level int) bool {
	text := unindent(src)
	for len(text) > 0 && text[0] == '[' {
		ref, n := definition(text)
		if n == 0 {
			break
		}
		if known := slices.ContainsFunc(p.refs, func(r reference) bool { return r.label == ref.label }); !known && len(p.refs) < maxRefs {
			p.refs = append(p.refs, ref)
		}
		text = text[n:]
	}
	if len(text) == 0 {
		return false
	}
	before, t := tableIn(text)
	if t == nil {
		p.blocks = append(p.blocks, part{level: level, text: text})
		return true
	}
	if len(before) > 0 {
		p.blocks = append(p.blocks, part{text: before})
	}
	p.blocks = append(p.blocks, part{table: t})
	return false
}

// unindent returns a text without spaces at the beginning of its lines and at its end. It is the same
// memory where there are none.
func unindent(src []byte) []byte {
	src = bytes.Trim(src, blanks)
	for i, c := range src {
		if c == '\n' && (src[i+1] == ' ' || src[i+1] == '\t') { // it does not end with a line's end
			out := make([]byte, 0, len(src))
			for line := range bytes.SplitSeq(src, []byte("\n")) {
				out = append(append(out, bytes.TrimLeft(line, blanks)...), '\n')
			}
			return out[:len(out)-1]
		}
	}
	return src
}

// definition reads where a label leads, from the beginning of a paragraph, and how much of it that takes.
func definition(text []byte) (reference, int) {
	name, n := labelAt(text)
	if n == 0 || n >= len(text) || text[n] != ':' || len(bytes.Trim(name, blanks)) == 0 {
		return reference{}, 0
	}
	url, n, ok := destination(text, skipBlanks(text, n+1))
	if !ok {
		return reference{}, 0
	}
	ref := reference{normalizeLabel(name), string(url)}
	plain, alone := lineEnd(text, n)
	if at := skipBlanks(text, n); at > n {
		if end, ok := title(text, at); ok {
			if end, alone := lineEnd(text, end); alone {
				return ref, end
			}
		}
	}
	if !alone {
		return reference{}, 0
	}
	return ref, plain
}

// lineEnd returns where the next line begins, if nothing else stands in this one.
func lineEnd(text []byte, at int) (int, bool) {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	if at == len(text) {
		return at, true
	}
	return at + 1, text[at] == '\n'
}
