package bash

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// ends keeps the beginning and the end of a text that grows, in memory that does not.
type ends struct {
	limits tool.Limits // both set

	head  []byte // the first bytes, up to the limit
	tail  []byte // the last bytes, at least the limit
	bytes int
	lines int // line breaks
	open  bool
}

func (e *ends) write(p []byte) {
	if len(p) == 0 {
		return
	}
	e.bytes += len(p)
	e.lines += bytes.Count(p, []byte("\n"))
	e.open = p[len(p)-1] != '\n'
	e.head = append(e.head, p[:min(len(p), e.limits.Bytes-len(e.head))]...)
	e.tail = appendLast(e.tail, p, e.limits.Bytes)
}

// appendLast appends and keeps at least the last most bytes, moving them only now and then.
func appendLast(tail, p []byte, most int) []byte {
	p = p[max(0, len(p)-most):]
	if len(tail)+len(p) > 2*most {
		tail = append(tail[:0], tail[len(tail)-most:]...)
	}
	return append(tail, p...)
}

func (e *ends) fits() bool {
	lines := e.lines
	if e.open {
		lines++
	}
	return e.bytes <= e.limits.Bytes && lines <= e.limits.Lines
}

// text is all of it, or three tenths of the limit from its beginning and the rest from its end,
// with the mark between them.
func (e *ends) text(mark func(lines, bytes int) string) string {
	if e.fits() {
		return string(e.head)
	}
	tail, newline := strings.CutSuffix(string(e.tail), "\n")
	few := tool.Limits{Lines: max(1, e.limits.Lines*3/10), Bytes: max(1, e.limits.Bytes*3/10)}
	many := tool.Limits{Lines: max(1, e.limits.Lines-few.Lines), Bytes: max(1, e.limits.Bytes-few.Bytes)}
	first, _, _ := few.Truncate(string(e.head), false)
	last, _, _ := many.Truncate(tail, true)
	if newline {
		last += "\n"
	}
	// A character at an edge of the stored text may be cut.
	first, last = strings.ToValidUTF8(first, ""), strings.ToValidUTF8(last, "")
	if len(first)+len(last) == e.bytes { // all but its last line break is within the limit
		return first + last
	}
	left := e.lines - strings.Count(first, "\n") - 1 - strings.Count(last, "\n")
	return first + "\n\n" + mark(max(left, 0), e.bytes-len(first)-len(last)) + "\n\n" + last
}

// spool keeps a text that may become long in a file: nothing is written before it is needed,
// and never more than a limit.
type spool struct {
	output tool.Output
	most   int   // bytes in memory
	limit  int64 // bytes in the file

	begun  []byte // until there is a file
	file   *os.File
	path   string // of the file when it is finished
	size   int64  // of what came
	stored int64  // of what is in the file
	err    error  // why no more is stored
}

func (s *spool) write(p []byte) {
	s.size += int64(len(p))
	if s.file == nil && s.err == nil && len(s.begun)+len(p) <= s.most {
		s.begun = append(s.begun, p...)
		return
	}
	s.open()
	s.put(p)
}

// open makes the file, once, and moves to it what is in memory.
func (s *spool) open() {
	if s.file != nil || s.err != nil {
		return
	}
	s.file, s.err = create(s.output)
	if s.err == nil {
		s.path = strings.TrimSuffix(s.file.Name(), partial)
		s.put(s.begun)
	}
	s.begun = nil
}

func (s *spool) put(p []byte) {
	p = p[:min(int64(len(p)), s.limit-s.stored)]
	if s.err != nil || len(p) == 0 {
		return
	}
	n, err := s.file.Write(p)
	s.stored += int64(n)
	s.err = err
}

// finish makes the file whole if it is wanted, and removes it if not. The path is "" if there
// is none.
func (s *spool) finish(wanted bool) string {
	if wanted {
		s.open()
	}
	if s.file == nil {
		return ""
	}
	if err := s.file.Close(); err != nil && s.err == nil {
		s.err = err
	}
	if wanted && s.stored > 0 {
		err := os.Rename(s.file.Name(), s.path)
		if err == nil {
			return s.path
		}
		s.err = errors.Join(s.err, err)
	}
	_ = os.Remove(s.file.Name()) // it is pruned some day if it cannot be removed now
	return ""
}

// partial marks a file that is still being written, or was when its process died.
const partial = ".part"

// create makes a file for an output under a new name, marked as partial.
func create(o tool.Output) (*os.File, error) {
	ids := o.IDs
	if ids == nil {
		ids = lathe.NewIDs()
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep a long output: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(o.Dir, ids.New(lathe.PrefixTool))+partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep a long output: %w", err)
	}
	return f, nil
}

// shownChars is how much of an output clients see, as the wire has it.
const shownChars = 30_000

// recent keeps the end of an output for clients, who get it as it is: colors are theirs.
type recent struct {
	tail []byte
	size int
}

func (r *recent) write(p []byte) {
	r.size += len(p)
	r.tail = appendLast(r.tail, p, shownChars*utf8.UTFMax)
}

// text is the last characters. One that has not come whole is left for later.
func (r *recent) text() string {
	tail, from := r.tail, len(r.tail)
	for range shownChars {
		if from == 0 {
			break
		}
		_, size := utf8.DecodeLastRune(tail[:from])
		from -= size
	}
	cut := from > 0 || r.size > len(tail)
	end := len(tail)
	for i := 1; i < utf8.UTFMax && end-i >= from; i++ {
		if b := tail[end-i]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(tail[end-i:]) {
				end -= i
			}
			break
		}
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(string(tail[from:end]), "\ufffd"), "\x00", "\ufffd")
	if cut {
		return "...\n\n" + text
	}
	return text
}
