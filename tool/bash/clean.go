package bash

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// cleaner makes text from terminal output, as it comes: without colors, of a line that was
// written over only its last state, a line that comes again and again only once with a count,
// and always valid UTF-8. What it holds back is at most a line of some size.
type cleaner struct {
	to func([]byte) // gets whole characters; must not retain them

	line    []byte
	broken  bool // a part of the line is out already, because it is long
	reset   bool // a carriage return came: what follows is written over the line
	state   escape
	escaped int // bytes since the escape began

	last  []byte // the line before
	times int    // how often it came; 0 means that there is none
}

// escape is where in a sequence for a terminal the text is.
type escape int

const (
	escNone    escape = iota
	escStarted        // after ESC
	escParams         // after ESC [
	escOne            // one more character
	escString         // a title, a link: until BEL or ESC \
	escEnding         // ESC inside of one
)

const (
	longLine   = 8 << 10 // bytes that are held back for it to be finished or written over
	longEscape = 4 << 10 // bytes after which it was none
)

// write takes raw output and drops control sequences, also those split between two writes.
func (c *cleaner) write(p []byte) {
	for len(p) > 0 {
		b := p[0]
		switch {
		case c.state != escNone && b != '\n' && c.escaped < longEscape:
			c.escape(b)
		case c.reset || b < ' ' || b == 0x7f:
			c.state = escNone
			if n := rubbish(p); n > 1 && !c.reset {
				p = p[n-1:] // one mark is enough for all of it
			}
			c.char(p[0])
		default: // most of it, so it is taken as it is up to the next character that is not
			c.state = escNone
			n := 1
			for n < len(p) && n < longLine && p[n] >= ' ' && p[n] != 0x7f {
				n++
			}
			c.add(p[:n])
			p = p[n:]
			continue
		}
		p = p[1:]
	}
}

// rubbish counts the bytes at the beginning that mean nothing to a terminal.
func rubbish(p []byte) int {
	n := 0
	for n < len(p) && p[n] < ' ' && (p[n] < '\b' || p[n] > '\r' && p[n] != 0x1b) {
		n++
	}
	return n
}

func (c *cleaner) char(b byte) {
	switch b {
	case '\n':
		c.reset = false
		c.endLine()
		return
	case '\r':
		c.reset = true
		return
	case 0x1b:
		c.state, c.escaped = escStarted, 0
		return
	case '\b':
		if n := len(c.line); n > 0 {
			_, size := utf8.DecodeLastRune(c.line)
			c.line = c.line[:n-size]
		}
		return
	case 0x7f:
		return
	}
	if c.reset {
		c.reset = false
		c.line = c.line[:0]
	}
	if b < ' ' && b != '\t' {
		if n := len(c.line); n > 0 && c.line[n-1] == noText {
			return
		}
		b = noText
	}
	c.add([]byte{b})
}

// noText is in no text, so it is marked like any other byte that is none.
const noText = 0xff

func (c *cleaner) add(p []byte) {
	c.line = append(c.line, p...)
	if len(c.line) >= longLine {
		c.breakLine()
	}
}

func (c *cleaner) escape(b byte) {
	c.escaped++
	switch c.state {
	case escStarted:
		switch b {
		case '[':
			c.state = escParams
		case ']', 'P', 'X', '^', '_':
			c.state = escString
		case '(', ')', '*', '+', '#', '%', ' ':
			c.state = escOne
		default:
			c.state = escNone
		}
	case escParams:
		if b >= 0x40 && b <= 0x7e {
			c.state = escNone
		}
	case escString:
		switch b {
		case 0x07:
			c.state = escNone
		case 0x1b:
			c.state = escEnding
		}
	case escEnding:
		if c.state = escString; b == '\\' {
			c.state = escNone
		}
	default:
		c.state = escNone
	}
}

// breakLine passes on what there is of a long line, in whole characters.
func (c *cleaner) breakLine() {
	n := len(c.line)
	for i := 1; i < utf8.UTFMax && i <= n; i++ {
		if b := c.line[n-i]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(c.line[n-i:]) {
				n -= i
			}
			break
		}
	}
	if !c.broken {
		c.endRun()
	}
	c.broken = true
	c.to(valid(c.line[:n]))
	c.line = append(c.line[:0], c.line[n:]...)
}

func (c *cleaner) endLine() {
	if c.broken {
		c.broken = false
		c.to(append(valid(c.line), '\n'))
		c.line = c.line[:0]
		return
	}
	if c.times > 0 && bytes.Equal(c.line, c.last) {
		c.times++
		c.line = c.line[:0]
		return
	}
	c.endRun()
	c.last, c.line = append(c.last[:0], c.line...), c.line[:0]
	c.times = 1
	c.to(append(valid(c.last), '\n'))
}

// endRun writes the repetitions of the line before: a few as they are, more as a count.
func (c *cleaner) endRun() {
	const few = 3
	switch {
	case c.times > few:
		c.to(fmt.Appendf(nil, "[the line above came %d times in a row]\n", c.times))
	case c.times > 1:
		line := append(valid(c.last), '\n')
		for range c.times - 1 {
			c.to(line)
		}
	}
	c.times = 0
}

// end passes on what was held back.
func (c *cleaner) end() {
	if !c.broken {
		c.endRun()
	}
	if len(c.line) > 0 {
		c.to(valid(c.line))
		c.line = c.line[:0]
	}
}

// valid is the text without bytes that are none; itself, where there are none.
func valid(p []byte) []byte {
	if utf8.Valid(p) {
		return p
	}
	return bytes.ToValidUTF8(p, []byte("\ufffd"))
}
