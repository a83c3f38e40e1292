package editor

import (
	"slices"
	"strings"
)

// pos is a position between two characters: never inside a token or a grapheme cluster.
type pos struct{ line, off int }

// before reports whether p comes first in the text.
func (p pos) before(q pos) bool { return p.line < q.line || p.line == q.line && p.off < q.off }

// line is an immutable line of the text without its break, except for the cached rows.
type line struct {
	text  string
	toks  []placed // in order, none over another
	rows  []int    // where each row begins
	width int      // the width of rows; 0 before the first wrap
}

// placed is a token with its position.
type placed struct {
	at  int
	tok *Token
}

func (p placed) end() int { return p.at + len(p.tok.Text) }

// tokenAround returns the token whose inside, or whose start, is at off.
func (l *line) tokenAround(off int) (placed, bool) {
	i, found := slices.BinarySearchFunc(l.toks, off, func(p placed, off int) int { return p.at - off })
	if found {
		return l.toks[i], true
	}
	if i > 0 && off < l.toks[i-1].end() {
		return l.toks[i-1], true
	}
	return placed{}, false
}

// tokenBefore returns the token that ends at off.
func (l *line) tokenBefore(off int) (placed, bool) {
	if off == 0 {
		return placed{}, false
	}
	return l.tokenAround(off - 1)
}

// cut returns a stretch of the line.
func (l *line) cut(from, to int) *line {
	if from == 0 && to == len(l.text) {
		return l
	}
	out := &line{text: l.text[from:to]}
	for _, p := range l.toks {
		if p.at >= from && p.end() <= to && p.at < to {
			out.toks = append(out.toks, placed{p.at - from, p.tok})
		}
	}
	return out
}

// joinLines puts stretches one behind the other.
func joinLines(parts ...*line) *line {
	texts := make([]string, len(parts))
	var toks []placed
	at := 0
	for i, p := range parts {
		texts[i] = p.text
		for _, t := range p.toks {
			toks = append(toks, placed{at + t.at, t.tok})
		}
		at += len(p.text)
	}
	return &line{text: strings.Join(texts, ""), toks: toks}
}

// buffer is the text. It always has a line.
type buffer struct {
	lines []*line
	size  int // in bytes, with the breaks
}

func newBuffer(lines []*line) buffer { return buffer{lines: lines, size: sizeOf(lines)} }

// sizeOf counts the bytes of lines, with the breaks between them.
func sizeOf(lines []*line) int {
	n := len(lines) - 1
	for _, l := range lines {
		n += len(l.text)
	}
	return n
}

// end is the position behind the last character.
func (b *buffer) end() pos {
	last := len(b.lines) - 1
	return pos{last, len(b.lines[last].text)}
}

// slice returns a stretch of the text.
func (b *buffer) slice(from, to pos) []*line {
	if from.line == to.line {
		return []*line{b.lines[from.line].cut(from.off, to.off)}
	}
	first := b.lines[from.line]
	out := []*line{first.cut(from.off, len(first.text))}
	out = append(out, b.lines[from.line+1:to.line]...)
	return append(out, b.lines[to.line].cut(0, to.off))
}

// replace replaces a range. It returns the removed lines and the end of the new text.
func (b *buffer) replace(from, to pos, with []*line) (removed []*line, end pos) {
	removed = b.slice(from, to)
	first, last := b.lines[from.line], b.lines[to.line]
	head, tail := first.cut(0, from.off), last.cut(to.off, len(last.text))
	b.size += sizeOf(with) - sizeOf(removed)
	n := len(with) - 1
	if n == 0 {
		end = pos{from.line, from.off + len(with[0].text)}
		now := joinLines(head, with[0], tail)
		if from.line == to.line {
			now.rewrap(first, from.off, to.off, end.off)
			b.lines[from.line] = now
			return removed, end
		}
		b.lines = slices.Replace(b.lines, from.line, to.line+1, now)
		return removed, end
	}
	end = pos{from.line + n, len(with[n].text)}
	made := make([]*line, 0, len(with))
	made = append(made, joinLines(head, with[0]))
	for _, l := range with[1:n] {
		made = append(made, &line{text: l.text, toks: l.toks})
	}
	made = append(made, joinLines(with[n], tail))
	b.lines = slices.Replace(b.lines, from.line, to.line+1, made...)
	return removed, end
}

// text returns the whole text, with tokens as displayed.
func (b *buffer) text() string {
	var s strings.Builder
	s.Grow(b.size)
	for i, l := range b.lines {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(l.text)
	}
	return s.String()
}

// offset counts the bytes before a place.
func (b *buffer) offset(p pos) int {
	n := p.off
	for _, l := range b.lines[:p.line] {
		n += len(l.text) + 1
	}
	return n
}

// at returns the position at a byte offset, or the next valid one.
func (b *buffer) at(offset int) pos {
	for i, l := range b.lines {
		if offset <= len(l.text) {
			return pos{i, l.snap(max(offset, 0))}
		}
		offset -= len(l.text) + 1
	}
	return b.end()
}

// plain makes lines of a text without tokens.
func plain(text string) []*line {
	parts := strings.Split(text, "\n")
	out := make([]*line, len(parts))
	for i, p := range parts {
		out[i] = &line{text: p}
	}
	return out
}
