package search

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
	"unicode/utf8"
)

const (
	smallBuffer = 64 << 10
	largeBuffer = 256 << 10
	// maxBuffer is how much of one line is looked at in one piece. Of a longer line a match of up to
	// overlap bytes is found wherever it is.
	maxBuffer = 1 << 20
	overlap   = 64 << 10
	// sniffed is how much of a file is looked at to see whether it is binary.
	sniffed = 8 << 10
	// maxText limits the characters of a line in a result.
	maxText = 2000
)

// Line is one that matches. Of an expression that spells a line break it is all lines of the match.
type Line struct {
	Number     int   // the first of a file is 1
	Offset     int64 // of the first byte of the line in the text as UTF-8
	Text       string
	Start, End int  // the first match within Text, in bytes; both 0 where it lies outside
	Before     bool // something is cut off before Text
	After      bool // and behind it
}

var (
	errBinary  = errors.New("binary file")
	errStopped = errors.New("stopped")
)

// scanner looks through files, one after the other. It belongs to one goroutine and holds at most
// one buffer.
type scanner struct {
	re   *Regexp
	dfa  *dfa
	cur  cursor
	buf  []byte
	stop *atomic.Bool
	// remaining returns how many lines of the current file to keep; it is called once per file.
	remaining func() int

	lines  []Line
	count  int
	wanted int   // lines to keep, -1 before the call of remaining
	line   int   // the number of the line that place is in
	place  int   // up to where in the block lines are counted
	offset int64 // of the block in the file
}

func newScanner(re *Regexp, stop *atomic.Bool) *scanner {
	return &scanner{re: re, dfa: newDFA(re.prog), stop: stop, buf: make([]byte, smallBuffer)}
}

// file looks through a file and leaves what it found in lines and count. Size is how long the file
// is, -1 if that is not known.
func (s *scanner) file(r io.Reader, size int64) error {
	s.lines, s.count, s.wanted, s.line, s.place, s.offset = nil, 0, -1, 1, 0, 0
	if size >= largeBuffer && len(s.buf) < largeBuffer {
		s.buf = make([]byte, largeBuffer)
	}
	have, eof, err := s.fill(r, 0, size)
	if err != nil {
		return err
	}
	start := 0
	switch head := s.buf[:have]; {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		start = 3
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		r = newUTF16(io.MultiReader(bytes.NewReader(bytes.Clone(head)), r))
		size = -1
		if have, eof, err = s.fill(r, 0, size); err != nil {
			return err
		}
	}
	if bytes.IndexByte(s.buf[:min(have, sniffed)], 0) >= 0 {
		return errBinary
	}
	if start > 0 {
		have = copy(s.buf, s.buf[start:have])
		s.offset = int64(start)
	}
	if s.re.spans {
		return s.windows(r, have, eof, size)
	}
	return s.blocks(r, have, eof, size)
}

// fill reads until the buffer is full or the file ends.
func (s *scanner) fill(r io.Reader, have int, size int64) (int, bool, error) {
	for have < len(s.buf) {
		if s.stop.Load() {
			return have, false, errStopped
		}
		n, err := r.Read(s.buf[have:])
		have += n
		if errors.Is(err, io.EOF) || size > 0 && s.offset+int64(have) >= size && have < len(s.buf) {
			return have, true, nil // most files are smaller than the buffer: one read is enough
		}
		if err != nil {
			return have, false, err
		}
	}
	return have, false, nil
}

// blocks goes through a file by as many whole lines as fit into the buffer.
func (s *scanner) blocks(r io.Reader, have int, eof bool, size int64) error {
	var err error
	for {
		end := have
		if !eof {
			end = bytes.LastIndexByte(s.buf[:have], '\n') + 1
		}
		switch {
		case end > 0:
			s.block(s.buf[:end])
		case !eof && len(s.buf) < maxBuffer:
			grown := make([]byte, 2*len(s.buf))
			copy(grown, s.buf[:have])
			s.buf = grown
		case !eof:
			if have, eof, err = s.longLine(r, have, size); err != nil {
				return err
			}
			if end = 0; eof && have > 0 {
				s.block(s.buf[:have])
			}
		}
		if eof {
			return nil
		}
		have = copy(s.buf, s.buf[end:have])
		s.offset += int64(end)
		if have, eof, err = s.fill(r, have, size); err != nil {
			return err
		}
	}
}

// block looks through whole lines.
func (s *scanner) block(b []byte) {
	s.place = 0
	finder := s.re.finder
	if finder != nil {
		if s.cur.reset(finder, b); finder.blind(b) {
			finder = nil
		}
	}
	for at := 0; at < len(b); {
		i := s.next(finder, b, at)
		if i < 0 {
			break
		}
		start := at + bytes.LastIndexByte(b[at:i], '\n') + 1
		end := len(b)
		if j := bytes.IndexByte(b[i:], '\n'); j >= 0 {
			end = i + j
		}
		if finder == nil || s.re.sure || s.matches(b[start:end]) {
			s.hit(b, start, end)
		}
		at = end + 1
	}
	if s.wanted != 0 && len(s.lines) != s.wanted {
		s.line += bytes.Count(b[s.place:], []byte{'\n'})
	}
}

// next returns a place in the next line that may match, or does where there is no finder.
func (s *scanner) next(f *finder, b []byte, at int) int {
	switch {
	case f != nil:
		return s.cur.find(at)
	case s.dfa.resets <= maxResets:
		if i := s.dfa.find(b[at:]); i >= 0 {
			return at + i
		}
		return -1
	}
	for at < len(b) && !s.stop.Load() {
		end := len(b)
		if j := bytes.IndexByte(b[at:], '\n'); j >= 0 {
			end = at + j
		}
		if s.re.re.Match(text(b[at:end])) {
			return at
		}
		at = end + 1
	}
	return -1
}

func (s *scanner) matches(line []byte) bool {
	if s.dfa.resets > maxResets {
		return s.re.re.Match(text(line))
	}
	return s.dfa.matches(line)
}

// text is a line without what ends it.
func text(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// hit notes a line that matches, from start to its line break at end.
func (s *scanner) hit(b []byte, start, end int) {
	if !s.wants() {
		return
	}
	s.line += bytes.Count(b[s.place:start], []byte{'\n'})
	s.place = start
	line := text(b[start:end])
	l := Line{Number: s.line, Offset: s.offset + int64(start)}
	if at := s.re.re.FindIndex(line); at != nil {
		l.Start, l.End = at[0], at[1]
	}
	s.lines = append(s.lines, cut(l, line))
}

// wants counts a match and reports whether to store it.
func (s *scanner) wants() bool {
	s.count++
	if s.wanted < 0 {
		s.wanted = s.remaining()
	}
	return len(s.lines) < s.wanted
}

// cut gives a line its text: all of it, or the part with the match.
func cut(l Line, line []byte) Line {
	if len(line) <= maxText || utf8.RuneCount(line) <= maxText {
		l.Text = string(line)
		return l
	}
	const lead = 200 // bytes before a match that lies far behind
	from := 0
	if utf8.RuneCount(line[:l.Start])+utf8.RuneCount(line[l.Start:min(l.End, l.Start+maxText)]) > maxText {
		from = max(0, l.Start-lead)
		for from > 0 && l.Start-from < lead+utf8.UTFMax && !utf8.RuneStart(line[from]) {
			from--
		}
	}
	to, n := from, 0
	for ; to < len(line) && n < maxText; n++ {
		_, width := utf8.DecodeRune(line[to:])
		to += width
	}
	l.Text = string(line[from:to])
	l.Before, l.After = from > 0, to < len(line)
	l.Start, l.End = l.Start-from, min(l.End, to)-from
	return l
}
