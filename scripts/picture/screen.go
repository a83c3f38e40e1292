package main

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// screen emulates a terminal. Without a height, lines that scroll away stay. It supports the sequences of
// programs that print lines and of the terminal UI.
type screen struct {
	cols     int
	rows     int // 0 is no limit
	top, end int // the scrolling region, rows top to end-1
	lines    [][]cell
	row, col int
	style    style
	rest     []byte // the beginning of an incomplete sequence
}

type cell struct {
	text  string // a character with its marks; "" is the second half of a wide one
	style style
}

// style is the look of a character. A color is "" or #rrggbb.
type style struct {
	fg, bg                             string
	bold, faint, italic, under, turned bool
}

func newScreen(cols, rows int) *screen {
	return &screen{cols: cols, rows: rows, end: rows, lines: make([][]cell, max(rows, 1))}
}

// write processes the output of a program, cut anywhere.
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

// step processes one character or sequence and returns its length, 0 if it is incomplete.
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
	switch {
	case s.rows > 0 && s.row == s.end-1:
		s.scroll(s.top, 1)
	case s.row < len(s.lines)-1:
		s.row++
	case s.rows == 0:
		s.lines = append(s.lines, nil)
		s.row++
	}
}

// scroll moves the lines from a row to the end of the region up, or down if n is negative.
func (s *screen) scroll(from, n int) {
	if from < s.top || from >= s.end {
		return
	}
	for ; n > 0; n-- {
		s.lines = slices.Insert(slices.Delete(s.lines, from, from+1), s.end-1, nil)
		s.clear(s.end-1, 0, s.cols)
	}
	for ; n < 0; n++ {
		s.lines = slices.Insert(slices.Delete(s.lines, s.end-1, s.end), from, nil)
		s.clear(from, 0, s.cols)
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

// width returns the number of columns of a character.
func width(r rune) int {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	default:
		return 1
	}
}

// escape processes a sequence that begins with ESC.
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
	case 'M':
		if s.rows > 0 && s.row == s.top {
			s.scroll(s.top, -1)
		} else {
			s.row = max(s.row-1, 0)
		}
	}
	return 2
}

// control moves the cursor, erases and changes colors. Of the private modes, only the alternate screen
// changes the picture.
func (s *screen) control(args string, final byte) {
	if args == "?1049" && final == 'h' && s.rows > 0 {
		*s = *newScreen(s.cols, s.rows)
	}
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
	case 'd':
		s.row = min(n, len(s.lines)) - 1
	case 'H':
		s.row, s.col = min(n, len(s.lines))-1, 0
		if len(list) > 1 {
			s.col = min(max(list[1], 1), s.cols) - 1
		}
	case 'J', 'K':
		s.erase(list[0], final == 'J')
	case 'S', 'T', 'L', 'M', 'r':
		s.region(final, n, list)
	case 'P', '@':
		s.shift(final == 'P', n)
	case 'X':
		s.clear(s.row, s.col, min(s.col+n, s.cols))
	case 'm':
		s.style = s.style.with(list)
	}
}

// shift deletes or inserts n cells at the cursor.
func (s *screen) shift(left bool, n int) {
	line := s.lines[s.row]
	if s.col >= len(line) {
		return
	}
	if left {
		s.lines[s.row] = slices.Delete(line, s.col, min(s.col+n, len(line)))
		s.clear(s.row, max(s.cols-n, s.col), s.cols)
		return
	}
	line = slices.Insert(line, s.col, make([]cell, n)...)
	s.lines[s.row] = line[:min(len(line), s.cols)]
	s.clear(s.row, s.col, min(s.col+n, s.cols))
}

// region scrolls, inserts and deletes lines, and sets the scrolling region.
func (s *screen) region(final byte, n int, list []int) {
	switch {
	case s.rows == 0:
	case final == 'S':
		s.scroll(s.top, n)
	case final == 'T':
		s.scroll(s.top, -n)
	case final == 'M':
		s.scroll(s.row, n)
	case final == 'L':
		s.scroll(s.row, -n)
	default:
		s.top, s.end, s.row, s.col = min(n, s.rows)-1, s.rows, 0, 0
		if len(list) > 1 && list[1] > s.top {
			s.end = min(list[1], s.rows)
		}
	}
}

// erase clears to the end (0), from the beginning (1) or all (2) of the line, or of the screen.
func (s *screen) erase(which int, screen bool) {
	from, to := 0, s.cols
	switch which {
	case 0:
		from = s.col
	case 1:
		to = s.col + 1
	}
	s.clear(s.row, from, to)
	for row := range s.lines {
		if screen && (row < s.row && which != 0 || row > s.row && which != 1) {
			s.clear(row, 0, s.cols)
		}
	}
	if screen && which == 0 && s.rows == 0 {
		s.lines = s.lines[:s.row+1]
	}
}

// clear gives cells of a row the current background, as terminals do.
func (s *screen) clear(row, from, to int) {
	line := s.lines[row]
	if s.style.bg == "" && to >= len(line) {
		s.lines[row] = line[:min(from, len(line))]
		return
	}
	for len(line) < to {
		line = append(line, cell{text: " "})
	}
	for i := from; i < to; i++ {
		line[i] = cell{" ", style{bg: s.style.bg}}
	}
	s.lines[row] = line
}

// text returns the text of a line without spaces at its end.
func text(line []cell) string {
	var b strings.Builder
	for _, c := range line {
		b.WriteString(c.text)
	}
	return strings.TrimRight(b.String(), " ")
}
