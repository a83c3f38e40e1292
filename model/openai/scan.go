package openai

import (
	"bytes"
	"encoding/binary"
)

// cursor walks over JSON without control characters. It takes less than the general path
// does: every method reports whether it found what it stands for, and a scanner that meets
// anything else gives up.
type cursor struct {
	b []byte
	i int
}

// hasControl reports whether there are control characters: in strings they are not JSON, and
// elsewhere nobody sends them with deltas.
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

func (c *cursor) space() {
	for c.i < len(c.b) && c.b[c.i] == ' ' {
		c.i++
	}
}

// is steps over one character.
func (c *cursor) is(want byte) bool {
	c.space()
	if c.i < len(c.b) && c.b[c.i] == want {
		c.i++
		return true
	}
	return false
}

// word steps over a literal.
func (c *cursor) word(want string) bool {
	c.space()
	if len(c.b)-c.i >= len(want) && string(c.b[c.i:c.i+len(want)]) == want {
		c.i += len(want)
		return true
	}
	return false
}

func (c *cursor) null() bool { return c.word("null") }

// str returns a string with its quotes; its escapes are right.
func (c *cursor) str() ([]byte, bool) {
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

// strOrNull returns a string, or nil for null.
func (c *cursor) strOrNull() ([]byte, bool) {
	if c.null() {
		return nil, true
	}
	return c.str()
}

// num returns a whole number.
func (c *cursor) num() (n int, ok bool) {
	c.space()
	from := c.i
	for c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		n = n*10 + int(c.b[c.i]-'0')
		c.i++
	}
	digits := c.i - from
	return n, digits > 0 && digits <= 15 && (digits == 1 || c.b[from] != '0')
}

// scalar steps over a string, a whole number or null.
func (c *cursor) scalar() bool {
	c.space()
	if c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		_, ok := c.num()
		return ok
	}
	_, ok := c.strOrNull()
	return ok
}

// member steps to the next member of an object and returns its name, or nil at the end. The
// first call steps into the object.
func (c *cursor) member(first bool) (name []byte, ok bool) {
	if first && !c.is('{') {
		return nil, false
	}
	if c.is('}') {
		return nil, true
	}
	if !first && !c.is(',') {
		return nil, false
	}
	if name, ok = c.str(); !ok || !c.is(':') {
		return nil, false
	}
	return name[1 : len(name)-1], true
}

// end reports whether nothing is left.
func (c *cursor) end() bool {
	c.space()
	return c.i == len(c.b)
}
