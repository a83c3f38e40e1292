package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

// jsonStream splits a long JSON text into values and holds one value at a time.
type jsonStream struct {
	r    io.Reader
	buf  []byte // read and not yet consumed
	err  error  // of the last read
	size int64  // bytes read

	line, column int // of buf[0], the column from 0
}

// streamChunk is how much is read at a time.
const streamChunk = 64 << 10

// fill reads more, behind what is there.
func (s *jsonStream) fill() error {
	if s.err != nil {
		return s.err
	}
	if cap(s.buf)-len(s.buf) < streamChunk {
		s.buf = append(make([]byte, 0, 2*len(s.buf)+streamChunk), s.buf...)
	}
	n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	s.size += int64(n)
	if s.err = err; s.size > MaxSize {
		s.err = lathe.Errorf(lathe.Invalid, "the export is larger than %d GB", MaxSize>>30)
	}
	if n > 0 {
		return nil
	}
	return s.err
}

// consume moves past n bytes.
func (s *jsonStream) consume(n int) {
	s.line, s.column = s.at(n)
	s.buf = s.buf[n:]
}

// at returns the line and column of a byte in the buffer.
func (s *jsonStream) at(n int) (line, column int) {
	before := s.buf[:min(n, len(s.buf))]
	last := bytes.LastIndexByte(before, '\n')
	if last < 0 {
		return s.line, s.column + len(before)
	}
	return s.line + bytes.Count(before, []byte("\n")), len(before) - last - 1
}

// position names a byte in the buffer for people.
func (s *jsonStream) position(n int) string {
	line, column := s.at(n)
	return fmt.Sprintf("line %d, column %d", line, column+1)
}

// skipMark skips a byte order mark.
func (s *jsonStream) skipMark() error {
	for len(s.buf) < 3 {
		if err := s.fill(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	s.buf = bytes.TrimPrefix(s.buf, []byte("\xef\xbb\xbf"))
	return nil
}

// peek skips white space and returns the next byte.
func (s *jsonStream) peek() (byte, error) {
	for {
		rest := bytes.TrimLeft(s.buf, " \t\r\n")
		s.consume(len(s.buf) - len(rest))
		if len(s.buf) > 0 {
			return s.buf[0], nil
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// wrong says that the next byte does not belong there.
func (s *jsonStream) wrong(where string) error {
	for !utf8.FullRune(s.buf) && s.fill() == nil {
	}
	if r, size := utf8.DecodeRune(s.buf); r == utf8.RuneError && size <= 1 {
		return lathe.Errorf(lathe.Invalid, "the export is not valid UTF-8 (%s)", s.position(0))
	}
	return lathe.Errorf(lathe.Invalid, "the export is not JSON (%s): invalid character %s %s", s.position(0), quoteByte(s.buf[0]), where)
}

// quoteByte writes a byte the way encoding/json does.
func quoteByte(c byte) string {
	switch c {
	case '\'':
		return `'\''`
	case '"':
		return `'"'`
	default:
		return fmt.Sprintf("%q", rune(c))
	}
}

// cut is the error of an end where more must come.
func (s *jsonStream) cut(err error) error {
	if err != io.EOF {
		return err
	}
	return lathe.Errorf(lathe.Invalid, "the export breaks off (%s): it is incomplete", s.position(len(s.buf)))
}

// end checks that nothing follows.
func (s *jsonStream) end() error {
	if _, err := s.peek(); err == io.EOF {
		return nil
	} else if err != nil {
		return err
	}
	return s.wrong("after top-level value")
}

// object calls member with each key of the outermost object; it must consume the value.
func (s *jsonStream) object(member func(key string) error) error {
	s.consume(1)
	for first := true; ; first = false {
		c, err := s.peek()
		switch {
		case err != nil:
			return s.cut(err)
		case c == '}' && first:
			s.consume(1)
			return nil
		case c != '"':
			return s.wrong("looking for beginning of object key string")
		}
		text, err := s.value(1)
		if err != nil {
			return err
		}
		var key string
		if err := json.Unmarshal(text, &key); err != nil {
			return lathe.Errorf(lathe.Invalid, "the export is not JSON: %v", err)
		}
		if c, err = s.peek(); err != nil {
			return s.cut(err)
		} else if c != ':' {
			return s.wrong("after object key")
		}
		s.consume(1)
		if err := member(key); err != nil {
			return err
		}
		if more, err := s.more('}', "after object key:value pair"); err != nil || !more {
			return err
		}
	}
}

// array calls f with each element; depth is the number of brackets around the array.
func (s *jsonStream) array(depth int, f func([]byte) error) error {
	s.consume(1)
	if c, err := s.peek(); err != nil {
		return s.cut(err)
	} else if c == ']' {
		s.consume(1)
		return nil
	}
	for {
		item, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		if err := f(item); err != nil {
			return err
		}
		if more, err := s.more(']', "after array element"); err != nil || !more {
			return err
		}
	}
}

// more consumes a comma or the closing bracket.
func (s *jsonStream) more(closing byte, where string) (bool, error) {
	c, err := s.peek()
	switch {
	case err != nil:
		return false, s.cut(err)
	case c != ',' && c != closing:
		return false, s.wrong(where)
	}
	s.consume(1)
	return c == ',', nil
}

// value returns a whole value, checked, in memory of its own.
func (s *jsonStream) value(depth int) ([]byte, error) {
	c, err := s.peek()
	if err != nil {
		return nil, s.cut(err)
	}
	if !bytes.ContainsRune([]byte(`{["-0123456789tfn`), rune(c)) {
		return nil, s.wrong("looking for beginning of value")
	}
	scan := valueScan{depth: depth}
	for !scan.done {
		if err := scan.next(s.buf); err != nil {
			return nil, err
		}
		if scan.done {
			break
		}
		if len(s.buf) > maxItem {
			return nil, lathe.Errorf(lathe.Invalid, "a value of the export is longer than %d MB (%s)", maxItem>>20, s.position(0))
		}
		err := s.fill()
		if err == io.EOF && scan.plain { // a number may end with the file
			break
		}
		if err == io.EOF {
			return nil, cmp.Or(s.check(s.buf), s.cut(err))
		}
		if err != nil {
			return nil, err
		}
	}
	item := bytes.Clone(s.buf[:scan.at])
	if err := s.check(item); err != nil {
		return nil, err
	}
	s.consume(scan.at)
	return item, nil
}

// check refuses a value at the beginning of the buffer that is not JSON, and says where it is wrong.
func (s *jsonStream) check(data []byte) error {
	if !utf8.Valid(data) {
		return lathe.Errorf(lathe.Invalid, "the export is not valid UTF-8 (%s)", s.position(invalidAt(data)))
	}
	if json.Valid(data) {
		return nil
	}
	var syntax *json.SyntaxError
	err := json.Unmarshal(data, new(json.RawMessage))
	if errors.As(err, &syntax) && syntax.Offset >= int64(len(data)) {
		return lathe.Errorf(lathe.Invalid, "the export breaks off (%s): it is incomplete", s.position(len(data)))
	}
	if syntax != nil {
		return lathe.Errorf(lathe.Invalid, "the export is not JSON (%s): %s", s.position(int(syntax.Offset)-1), syntax.Error())
	}
	return lathe.Errorf(lathe.Invalid, "the export is not JSON: %v", err)
}

// invalidAt is the index of the first byte that is not UTF-8.
func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, w := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && w == 1 {
			return i
		}
		i += w
	}
	return len(data)
}

// valueScan finds the end of a value, by its brackets and strings only.
type valueScan struct {
	at       int // bytes looked at
	depth    int // brackets around the value
	open     int // brackets of the value itself
	inString bool
	escaped  bool // the next byte of the string belongs to an escape
	plain    bool // a number or a literal
	done     bool
}

// next looks at the bytes that came since the last call.
func (v *valueScan) next(b []byte) error {
	for ; v.at < len(b) && !v.done; v.at++ {
		if v.inString {
			v.string(b)
			continue
		}
		switch b[v.at] {
		case '"':
			v.inString = true
		case '{', '[':
			v.open++
			if v.depth+v.open > maxDepth {
				return lathe.Errorf(lathe.Invalid, "the export is nested more than %d levels deep", maxDepth)
			}
		case '}', ']':
			if v.plain {
				v.done = true
				return nil
			}
			v.open--
			v.done = v.open <= 0
		case ',', ' ', '\t', '\r', '\n':
			if v.plain {
				v.done = true
				return nil
			}
		default:
			v.plain = v.plain || v.open == 0
		}
	}
	return nil
}

// string continues inside a string, up to its end, an escape, or the end of what is there.
func (v *valueScan) string(b []byte) {
	if v.escaped { // this byte belongs to the escape
		v.escaped = false
		return
	}
	n := bytes.IndexAny(b[v.at:], `"\\`)
	switch {
	case n < 0:
		v.at = len(b) - 1
	case b[v.at+n] == '"':
		v.at += n
		v.inString, v.done = false, v.open == 0
	default:
		v.at += n
		v.escaped = true
	}
}
