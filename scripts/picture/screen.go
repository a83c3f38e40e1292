package main

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// screen is a terminal without an end: lines that scroll away stay. It knows as much as programs use that
// write lines and mend the last ones.
type screen struct {
	cols     int
	lines    [][]cell
	row, col int
	style    style
	rest     []byte // the beginning of a sequence that is not complete
}

type cell struct {
	text  string // a character with its marks; "" is the second half of a wide one
	style style
}

// style is how a character looks; a colour is "" or #rrggbb.
type style struct {
	fg, bg                             string
	bold, faint, italic, under, turned bool
}

func newScreen(cols int) *screen { return &screen{cols: cols, lines: make([][]cell, 1)} }

// write takes what a program prints, cut anywhere.
func (s *screen) write(b []byte) {
	b = append(s.rest, b...)
	s.rest = nil
	for len(b) > 0 {
		n := s.step(b)
		if n == 0 {
			s.rest = slices.Clone(b)
			return
		}
		b = b[n:]
	}
}

// step takes one character or sequence and returns its length, 0 if it is not complete.
func (s *screen) step(b []byte) int {
	switch b[0] {
	case '\r':
		s.col = 0
	case '\n':
		s.down()
	case '\b':
		s.col = max(s.col-1, 0)
	case '\t':
		s.col = min(s.col/8*8+8, s.cols-1)
	case 0x1b:
		return s.escape(b)
	default:
		if b[0] < 0x20 || b[0] == 0x7f {
			return 1
		}
		if !utf8.FullRune(b) {
			return 0
		}
		r, n := utf8.DecodeRune(b)
		s.put(r)
		return n
	}
	return 1
}

func (s *screen) down() {
	if s.row++; s.row == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

func (s *screen) put(r rune) {
	if unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200d' || r == '\ufe0f' {
		if line := s.lines[s.row]; s.col > 0 && s.col <= len(line) {
			line[s.col-1].text += string(r)
		}
		return
	}
	n := width(r)
	if s.col+n > s.cols {
		s.col = 0
		s.down()
	}
	s.set(s.col, cell{string(r), s.style})
	if n == 2 {
		s.set(s.col+1, cell{"", s.style})
	}
	s.col += n
}

func (s *screen) set(col int, c cell) {
	line := s.lines[s.row]
	for len(line) <= col {
		line = append(line, cell{text: " "})
	}
	line[col] = c
	s.lines[s.row] = line
}

// width is how many columns a character takes.
func width(r rune) int {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	default:
		return 1
	}
}

// escape takes a sequence that begins with ESC.
func (s *screen) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				s.control(string(b[2:i]), b[i])
				return i + 1
			}
		}
		return 0
	case ']', 'P', '_', '^': // a title, a link, a string: up to its end
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) {
				return i + 2
			}
		}
		return 0
	default:
		return 2
	}
}

// control moves, erases and changes colours. Private modes (the cursor, pasting) have no picture.
func (s *screen) control(args string, final byte) {
	if strings.HasPrefix(args, "?") || strings.HasPrefix(args, ">") {
		return
	}
	var list []int
	for a := range strings.SplitSeq(strings.ReplaceAll(args, ":", ";"), ";") {
		n, _ := strconv.Atoi(a)
		list = append(list, n)
	}
	n := max(list[0], 1)
	switch final {
	case 'A':
		s.row = max(s.row-n, 0)
	case 'B':
		s.row = min(s.row+n, len(s.lines)-1)
	case 'C':
		s.col = min(s.col+n, s.cols-1)
	case 'D':
		s.col = max(s.col-n, 0)
	case 'E':
		s.row, s.col = min(s.row+n, len(s.lines)-1), 0
	case 'F':
		s.row, s.col = max(s.row-n, 0), 0
	case 'G':
		s.col = min(n, s.cols) - 1
	case 'J', 'K':
		s.erase(list[0], final == 'J')
	case 'm':
		s.style = s.style.with(list)
	}
}

// erase clears to the end (0), from the beginning (1) or all (2) of the line, or of the screen.
func (s *screen) erase(which int, below bool) {
	line := s.lines[s.row]
	if which == 0 && s.col < len(line) {
		s.lines[s.row] = line[:s.col]
	}
	for i := range line {
		if which == 2 || which == 1 && i <= s.col {
			line[i] = cell{text: " "}
		}
	}
	if below && which == 0 {
		s.lines = s.lines[:s.row+1]
	}
}

// text is a line as it reads.
func text(line []cell) string {
	var b strings.Builder
	for _, c := range line {
		b.WriteString(c.text)
	}
	return strings.TrimRight(b.String(), " ")
}
