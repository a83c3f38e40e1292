package patch

import (
	"slices"
	"strings"
)

const bom = "\ufeff"

// source is a text to search in: without its byte order mark and with plain line endings. What it
// finds is given back in the bytes of the original.
type source struct {
	bom  bool
	raw  string // the original, without the mark
	text string // raw with \n for \r\n
	crs  []int  // where in text a \n was a \r\n

	starts []int    // of the lines in text; see split
	lines  []string // without their \n
}

func newSource(content string) *source {
	s := &source{}
	s.raw, s.bom = strings.CutPrefix(content, bom)
	s.text = s.raw
	if !strings.Contains(s.raw, "\r\n") {
		return s
	}
	s.text = plain(s.raw)
	for at, n := 0, 0; ; n++ {
		i := strings.Index(s.raw[at:], "\r\n")
		if i < 0 {
			return s
		}
		s.crs = append(s.crs, at+i-n)
		at += i + 2
	}
}

// plain has \n for every \r\n.
func plain(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// split cuts the text into lines. The last one has no \n and may be empty.
func (s *source) split() {
	if s.lines != nil {
		return
	}
	s.lines = strings.Split(s.text, "\n")
	s.starts = make([]int, len(s.lines))
	at := 0
	for i, line := range s.lines {
		s.starts[i] = at
		at += len(line) + 1
	}
}

// lineAt is the number of the line that holds an offset, counted from 1.
func (s *source) lineAt(offset int) int {
	return strings.Count(s.text[:offset], "\n") + 1
}

// rawOffset is where an offset in text lies in raw: before the \r where it lies before the \n.
func (s *source) rawOffset(offset int) int {
	n, _ := slices.BinarySearch(s.crs, offset)
	return offset + n
}

// ending is the line ending that a text put in place of a span gets: that of the span's own
// lines, or of the line it lies in.
func (s *source) ending(sp span) string {
	if len(s.crs) == 0 {
		return "\n"
	}
	from, _ := slices.BinarySearch(s.crs, sp.start)
	to, _ := slices.BinarySearch(s.crs, sp.end)
	if all := strings.Count(s.text[sp.start:sp.end], "\n"); all > 0 {
		if 2*(to-from) >= all {
			return "\r\n"
		}
		return "\n"
	}
	next := strings.IndexByte(s.text[sp.end:], '\n')
	if next < 0 {
		next = strings.LastIndexByte(s.text[:sp.start], '\n')
	} else {
		next += sp.end
	}
	if _, crlf := slices.BinarySearch(s.crs, next); crlf {
		return "\r\n"
	}
	return "\n"
}

// put replaces spans, which are sorted and do not overlap, by a text with plain endings.
func (s *source) put(spans []span, text string) string {
	var out strings.Builder
	out.Grow(len(s.raw) + len(bom) + len(spans)*len(text))
	if s.bom {
		out.WriteString(bom)
	}
	at := 0
	for _, sp := range spans {
		out.WriteString(s.raw[at:s.rawOffset(sp.start)])
		if s.ending(sp) == "\r\n" {
			out.WriteString(strings.ReplaceAll(text, "\n", "\r\n"))
		} else {
			out.WriteString(text)
		}
		at = s.rawOffset(sp.end)
	}
	out.WriteString(s.raw[at:])
	return out.String()
}

// span is a passage of a source's text.
type span struct{ start, end int }

func (s *source) slice(sp span) string { return s.text[sp.start:sp.end] }

// indent is the white space a line begins with.
func indent(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// budget is the work that may still be done, in steps of about a nanosecond. It is counted and
// not timed, so that the same call ends the same way on every machine.
type budget struct{ left int }

// spend takes n steps and reports whether there was that much left.
func (b *budget) spend(n int) bool {
	b.left -= n
	return b.left >= 0
}

func (b *budget) spent() bool { return b.left < 0 }
