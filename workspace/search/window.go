package search

import (
	"bytes"
	"io"
)

// longLine looks through a line that is longer than the buffer, by pieces that overlap. The buffer
// has have bytes, all of that line. It leaves what follows the line in the buffer.
func (s *scanner) longLine(r io.Reader, have int, size int64) (int, bool, error) {
	var found bool
	began, first := s.offset, true
	note := func(piece []byte, last bool) {
		if found {
			return
		}
		at := s.piece(piece, first, last)
		if found = at != nil; !found || !s.wants() {
			return
		}
		l := cut(Line{Number: s.line, Offset: began, Start: at[0], End: at[1]}, piece)
		l.Before, l.After = l.Before || !first, l.After || !last
		s.lines = append(s.lines, l)
	}
	for {
		note(s.buf[:have], false)
		first = false
		tail := copy(s.buf, s.buf[have-overlap:have])
		s.offset += int64(have - tail)
		var eof bool
		var err error
		if have, eof, err = s.fill(r, tail, size); err != nil {
			return 0, false, err
		}
		end := bytes.IndexByte(s.buf[tail:have], '\n')
		switch {
		case end >= 0:
			end += tail
			note(text(s.buf[:end]), true)
			s.line++
			s.offset += int64(end + 1)
			return copy(s.buf, s.buf[end+1:have]), eof, nil
		case eof:
			note(s.buf[:have], true)
			s.offset += int64(have)
			return 0, true, nil
		}
	}
}

// piece finds a match in a part of a line. What touches an edge that is none of the line's does
// not count where the expression looks around: the next piece has it, too, with what is beyond.
func (s *scanner) piece(b []byte, first, last bool) []int {
	if s.re.finder != nil && !s.re.finder.blind(b) {
		if s.cur.reset(s.re.finder, b); s.cur.find(0) < 0 {
			return nil
		}
	}
	if !s.re.looks {
		if s.dfa.resets <= maxResets && !s.dfa.matches(b) {
			return nil
		}
		return s.re.re.FindIndex(b)
	}
	for _, at := range s.re.re.FindAllIndex(b, -1) {
		if (first || at[0] > 0) && (last || at[1] < len(b)) {
			return at
		}
	}
	return nil
}

// windows goes through a file by pieces that overlap, for expressions that spell a line break. Line
// breaks of two characters count as one.
func (s *scanner) windows(r io.Reader, have int, eof bool, size int64) error {
	if len(s.buf) < maxBuffer && !eof {
		grown := make([]byte, maxBuffer)
		have = copy(grown, s.buf[:have])
		s.buf = grown
		var err error
		if have, eof, err = s.fill(r, have, size); err != nil {
			return err
		}
	}
	done, clean := 0, true // up to where matches are known; whether a line begins the window
	for {
		b := unixBreaks(s.buf[:have])
		s.place = 0
		edge := len(b) // where the next window begins: where a line does, if one does
		keep := b[len(b)-min(overlap, len(b)):]
		next := bytes.IndexByte(keep, '\n') + 1
		if !eof {
			edge -= len(keep) - next
		}
		done = s.window(b, done, edge, clean)
		if eof {
			return nil
		}
		s.line += bytes.Count(b[s.place:edge], []byte{'\n'})
		done, clean = max(0, done-edge), next > 0
		tail := copy(s.buf, b[edge:])
		s.offset += int64(edge)
		var err error
		if have, eof, err = s.fill(r, tail, size); err != nil {
			return err
		}
	}
}

// window notes the matches of one window that begin from a place on, and returns where the lines
// of the last of them end. One that reaches the end of the window is left to the next one, which
// begins at edge, if that has all of it.
func (s *scanner) window(b []byte, done, edge int, clean bool) int {
	if s.re.finder != nil && !s.re.finder.blind(b) {
		if s.cur.reset(s.re.finder, b); s.cur.find(0) < 0 {
			return done
		}
	}
	for _, at := range s.re.re.FindAllIndex(b, -1) {
		if s.stop.Load() {
			return done
		}
		if at[0] < done || at[1] == len(b) && at[0] >= edge && edge < len(b) || !clean && at[0] == 0 {
			continue
		}
		start := bytes.LastIndexByte(b[:at[0]], '\n') + 1
		end := len(b)
		from := max(at[0], at[1]-1) // a line break that ends the match ends its line
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			end = from + i
		}
		done = end + 1
		if !s.wants() {
			continue
		}
		s.line += bytes.Count(b[s.place:start], []byte{'\n'})
		s.place = start
		l := Line{Number: s.line, Offset: s.offset + int64(start), Start: at[0] - start, End: min(at[1], end) - start}
		s.lines = append(s.lines, cut(l, b[start:end]))
	}
	return done
}

// unixBreaks takes the first character out of every line break of two, in place.
func unixBreaks(b []byte) []byte {
	if !bytes.Contains(b, []byte("\r\n")) {
		return b
	}
	out := b[:0]
	for i, c := range b {
		if c != '\r' || i+1 == len(b) || b[i+1] != '\n' {
			out = append(out, c)
		}
	}
	return out
}
