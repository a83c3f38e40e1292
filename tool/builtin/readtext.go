package builtin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

const (
	sumLimit   = 10 << 20 // bytes of a file whose sum is remembered
	countLimit = 1 << 30  // bytes that are read only to count lines
)

// fileDisplay is what clients show of a file.
type fileDisplay struct {
	Type       string `json:"type"`
	Path       string `json:"path"`
	Text       string `json:"text"`
	LineStart  int    `json:"lineStart"`
	LineEnd    int    `json:"lineEnd"`
	TotalLines int    `json:"totalLines"`
	Truncated  bool   `json:"truncated"`
}

// text shows lines of a file.
func (r readRun) text(file io.Reader, size int64) (tool.Result, error) {
	s := excerpt{first: r.first, limit: r.limit}
	if size <= sumLimit {
		s.sum = sha256.New()
	}
	if err := s.run(r.ctx, file, size); err != nil {
		if ended := r.ctx.Err(); ended != nil {
			return tool.Result{}, ended
		}
		return tool.Result{}, tool.Failf("Cannot read %s: %w.", r.target.Shown, err)
	}
	if r.first > s.total && (r.first > 1 || s.total > 0) {
		return tool.Result{}, tool.Failf("Offset %d is past the end of %s: it has %s. Call read with an offset from 1 to %[4]d.",
			r.first, r.target.Shown, phrase.Count(s.total, "line"), max(s.total, 1))
	}
	last := r.first + len(s.lines) - 1
	truncated := last < s.total || s.more
	var out strings.Builder
	out.Grow(s.size + 10*len(s.lines) + 500)
	fmt.Fprintf(&out, "<path>%s</path>\n<type>file</type>\n<content>\n", r.target.Shown)
	for i, line := range s.lines {
		out.WriteString(strconv.Itoa(r.first + i))
		out.WriteString(": ")
		out.WriteString(line)
		out.WriteByte('\n')
	}
	out.WriteString("\n(" + s.closing(r.first, last) + ")\n</content>")
	loaded, reminder := r.instructions()
	out.WriteString(reminder)
	meta := readMeta{
		Preview:   strings.Join(s.lines[:min(len(s.lines), previewSize)], "\n"),
		Truncated: truncated, Loaded: loaded,
		Display: fileDisplay{
			Type: "file", Path: r.target.Shown, Text: strings.Join(s.lines, "\n"),
			LineStart: r.first, LineEnd: last, TotalLines: s.total, Truncated: truncated,
		},
	}
	sum := "" // too large
	if s.sum != nil && !s.more {
		sum = hex.EncodeToString(s.sum.Sum(nil)[:8])
	}
	return r.result(out.String(), meta, &sum)
}

// excerpt goes through a text once, in pieces, and keeps only the lines that are wanted.
type excerpt struct {
	first, limit int
	sum          hash.Hash // nil where none is wanted

	lines   []string
	size    int  // bytes of lines
	total   int  // lines of the file, as far as it was read
	capped  bool // lines were left out because of their size
	cut     bool // a line was too long
	invalid bool // bytes were replaced
	more    bool // the file continues after the counted lines

	line   []byte // the beginning of the line that is being read
	length int    // of that line in characters, as far as it was read
	open   bool   // a line has started
}

// run goes through the file, which should have that size.
func (s *excerpt) run(ctx context.Context, file io.Reader, size int64) error {
	buf := make([]byte, min(64<<10, size+1))
	idle := 0 // bytes read only to count
	for start := true; ; start = false {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(file, buf)
		data := buf[:n]
		if s.sum != nil {
			s.sum.Write(data)
		}
		if start {
			data = bytes.TrimPrefix(data, []byte(phrase.BOM))
		}
		if s.done() {
			idle += n
		}
		s.piece(data)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			s.end()
			return nil
		case err != nil:
			return err
		case idle > countLimit:
			s.more = true
			s.end()
			return nil
		}
	}
}

// done reports whether no further line is wanted.
func (s *excerpt) done() bool { return s.capped || len(s.lines) >= s.limit }

// wanted reports whether the current line should be shown.
func (s *excerpt) wanted() bool { return s.total+1 >= s.first && !s.done() }

// piece takes the next bytes of the file.
func (s *excerpt) piece(data []byte) {
	for len(data) > 0 {
		if s.done() { // to the end
			s.count(data)
			return
		}
		if !s.wanted() {
			data = s.skip(data)
			continue
		}
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			s.collect(data)
			return
		}
		s.collect(data[:end])
		s.finish()
		data = data[end+1:]
	}
}

// count only counts.
func (s *excerpt) count(data []byte) {
	s.total += bytes.Count(data, []byte{'\n'})
	s.open = data[len(data)-1] != '\n'
}

// skip goes to the first line that is wanted and returns what is left.
func (s *excerpt) skip(data []byte) []byte {
	want := s.first - 1 - s.total // line ends to pass
	if n := bytes.Count(data, []byte{'\n'}); n < want {
		s.count(data)
		return nil
	}
	for range want {
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	s.total += want
	s.open = false
	return data
}

// collect keeps the beginning of a line and measures the rest.
func (s *excerpt) collect(data []byte) {
	s.open = true
	if space := (readWidth+1)*utf8.UTFMax - len(s.line); space > 0 { // one more for the \r of an end
		s.line = append(s.line, data[:min(space, len(data))]...)
	}
	for _, b := range data {
		if utf8.RuneStart(b) {
			s.length++
		}
	}
}

// finish ends a line that is wanted.
func (s *excerpt) finish() {
	line, length := s.line, s.length
	if cr := len(line) - 1; cr >= 0 && line[cr] == '\r' && length <= readWidth+1 {
		line, length = line[:cr], length-1
	}
	text := string(line)
	if !utf8.Valid(line) {
		text = strings.ToValidUTF8(text, "\ufffd")
		s.invalid = s.invalid || length <= readWidth || !utf8.ValidString(firstRunes(string(line), readWidth))
	}
	if length > readWidth {
		text = firstRunes(text, readWidth) + fmt.Sprintf("... (line cut: %d of %d characters)", readWidth, length)
		s.cut = true
	}
	if s.size += len(text) + 1; s.size > readBytes && len(s.lines) > 0 {
		s.capped = true
	} else {
		s.lines = append(s.lines, text)
	}
	s.total++
	s.line, s.length, s.open = s.line[:0], 0, false
}

// end is the end of the file: what follows the last line end is a line if it is anything.
func (s *excerpt) end() {
	switch {
	case !s.open:
	case s.wanted():
		s.finish()
	default:
		s.total++
	}
}

// closing names the lines shown and the next offset.
func (s *excerpt) closing(first, last int) string {
	var words string
	total := strconv.Itoa(s.total)
	if s.more {
		total = "more than " + total
	}
	switch {
	case s.total == 0:
		words = "The file is empty."
	case s.capped:
		words = fmt.Sprintf("Capped at %d KB: showing lines %d-%d of %s. Use offset=%d to continue, or grep to find a place.", readBytes>>10, first, last, total, last+1)
	case last < s.total || s.more:
		words = fmt.Sprintf("Showing lines %d-%d of %s. Use offset=%d to continue.", first, last, total, last+1)
	default:
		words = fmt.Sprintf("End of file, %s.", phrase.Count(s.total, "line"))
	}
	if s.cut {
		words += fmt.Sprintf(" Lines over %d characters are cut; grep or cut shows parts of them.", readWidth)
	}
	if s.invalid {
		words += " Some bytes are not UTF-8 and shown as \ufffd; the file is not changed by that."
	}
	return words
}

// firstRunes is the first n characters of a text.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
