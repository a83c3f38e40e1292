// Package jsonscan scans small pieces of JSON of a known shape, for the few events of a stream
// that come hundreds of times.
//
// It accepts less than a JSON parser and nothing that is not JSON. Every method of a [Cursor]
// reports whether it found its token; at anything else a scanner gives up and leaves the piece
// to a parser. It does not allocate. A Cursor is for one goroutine.
package jsonscan

import (
	"bytes"
	"encoding/binary"
)

// Cursor is a place in JSON without control characters.
type Cursor struct {
	b []byte
	i int
}

// New returns a cursor at the start of b, and whether it can walk there: control characters in
// strings are not JSON, and elsewhere no provider sends them with deltas.
func New(b []byte) (Cursor, bool) { return Cursor{b: b}, !hasControl(b) }

func hasControl(b []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for len(b) >= 8 { // eight bytes at once: borrowing sets the high bit of each below 0x20
		x := binary.LittleEndian.Uint64(b)
		if (x-0x20*ones)&^x&highs != 0 {
			return true
		}
		b = b[8:]
	}
	for _, c := range b {
		if c < 0x20 {
			return true
		}
	}
	return false
}

func (c *Cursor) space() {
	for c.i < len(c.b) && c.b[c.i] == ' ' {
		c.i++
	}
}

// Consume steps over one character.
func (c *Cursor) Consume(want byte) bool {
	c.space()
	if c.i < len(c.b) && c.b[c.i] == want {
		c.i++
		return true
	}
	return false
}

// Literal steps over a literal.
func (c *Cursor) Literal(want string) bool {
	c.space()
	if len(c.b)-c.i >= len(want) && string(c.b[c.i:c.i+len(want)]) == want {
		c.i += len(want)
		return true
	}
	return false
}

// Null steps over null.
func (c *Cursor) Null() bool { return c.Literal("null") }

// Text returns a string with its quotes; its escapes are right.
func (c *Cursor) Text() ([]byte, bool) {
	c.space()
	b := c.b[c.i:]
	if len(b) < 2 || b[0] != '"' {
		return nil, false
	}
	end := bytes.IndexByte(b[1:], '"') + 1
	if end > 0 && bytes.IndexByte(b[1:end], '\\') >= 0 {
		end = escapedEnd(b)
	}
	if end <= 0 {
		return nil, false
	}
	c.i += end + 1
	return b[:end+1], true
}

// escapedEnd returns where a string with escapes ends, 0 if it does not or one is wrong.
func escapedEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i
		case '\\':
			n := escapeLength(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		}
	}
	return 0
}

// escapeLength is how long the escape at the start of b is, 0 if it is none.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) && isHex(b[5]) {
			return 6
		}
	}
	return 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// TextOrNull returns a string, or nil for null.
func (c *Cursor) TextOrNull() ([]byte, bool) {
	if c.Null() {
		return nil, true
	}
	return c.Text()
}

// Number returns a whole number.
func (c *Cursor) Number() (n int, ok bool) {
	c.space()
	from := c.i
	for c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		n = n*10 + int(c.b[c.i]-'0')
		c.i++
	}
	digits := c.i - from
	return n, digits > 0 && digits <= 15 && (digits == 1 || c.b[from] != '0')
}

// Scalar steps over a string, a whole number or null.
func (c *Cursor) Scalar() bool {
	c.space()
	if c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		_, ok := c.Number()
		return ok
	}
	_, ok := c.TextOrNull()
	return ok
}

// Member steps to the next member of an object and returns its name, or nil at the end. The
// first call steps into the object.
func (c *Cursor) Member(first bool) (name []byte, ok bool) {
	if first && !c.Consume('{') {
		return nil, false
	}
	if c.Consume('}') {
		return nil, true
	}
	if !first && !c.Consume(',') {
		return nil, false
	}
	if name, ok = c.Text(); !ok || !c.Consume(':') {
		return nil, false
	}
	return name[1 : len(name)-1], true
}

// Object steps over an object; each steps over the value of the member of that name.
func (c *Cursor) Object(each func(name []byte) bool) bool {
	for first := true; ; first = false {
		name, ok := c.Member(first)
		if !ok || name == nil {
			return ok
		}
		if !each(name) {
			return false
		}
	}
}

// AtEnd reports whether nothing is left.
func (c *Cursor) AtEnd() bool {
	c.space()
	return c.i == len(c.b)
}

// Skip steps over any value.
func (c *Cursor) Skip() bool { return c.skip(0) }

// maxDepth bounds how deep a value may be that is stepped over.
const maxDepth = 64

func (c *Cursor) skip(depth int) bool {
	c.space()
	if c.i >= len(c.b) || depth > maxDepth {
		return false
	}
	switch c.b[c.i] {
	case '"':
		_, ok := c.Text()
		return ok
	case '{':
		return c.Object(func([]byte) bool { return c.skip(depth + 1) })
	case '[':
		for first := true; ; first = false {
			more, ok := c.Item(first)
			if !ok || !more {
				return ok
			}
			if !c.skip(depth + 1) {
				return false
			}
		}
	case 't':
		return c.Literal("true")
	case 'f':
		return c.Literal("false")
	case 'n':
		return c.Null()
	default:
		_, ok := c.Number()
		return ok
	}
}

// Item steps to the next item of a list and reports whether there is one. The first call steps
// into the list.
func (c *Cursor) Item(first bool) (more, ok bool) {
	if first && !c.Consume('[') {
		return false, false
	}
	if c.Consume(']') {
		return false, true
	}
	return true, first || c.Consume(',')
}

// Seen marks members that may come only once: of two, a parser takes the last.
type Seen uint16

// First reports whether the bit was not set, and sets it.
func (s *Seen) First(bit Seen) bool {
	was := *s&bit != 0
	*s |= bit
	return !was
}

// IsPlain reports whether a string has no escapes and no invalid bytes.
func IsPlain(s []byte) bool {
	for _, c := range s {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}
