package search

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// wide reads text of two bytes for each unit as UTF-8. Its mark at the beginning tells the order.
type wide struct {
	in    *bufio.Reader
	order binary.ByteOrder
	out   []byte // decoded bytes not read yet
	held  uint16 // a unit that was read too early; 0 means none
}

func newUTF16(r io.Reader) io.Reader {
	w := &wide{in: bufio.NewReader(r), order: binary.LittleEndian}
	if mark, err := w.in.Peek(2); err == nil {
		if mark[0] == 0xfe {
			w.order = binary.BigEndian
		}
		_, _ = w.in.Discard(2) // they are there
	}
	return w
}

func (w *wide) Read(p []byte) (int, error) {
	var err error
	for len(w.out) < len(p) && err == nil {
		var r rune
		if r, err = w.rune(); err == nil {
			w.out = utf8.AppendRune(w.out, r)
		}
	}
	n := copy(p, w.out)
	w.out = append(w.out[:0], w.out[n:]...)
	if n > 0 {
		return n, nil
	}
	return 0, err
}

func (w *wide) rune() (rune, error) {
	unit, err := w.unit()
	if err != nil || !utf16.IsSurrogate(rune(unit)) {
		return rune(unit), err
	}
	next, err := w.unit()
	if err != nil {
		return utf8.RuneError, nil // half a pair at the end
	}
	r := utf16.DecodeRune(rune(unit), rune(next))
	if r == utf8.RuneError {
		w.held = next
	}
	return r, nil
}

func (w *wide) unit() (uint16, error) {
	if held := w.held; held != 0 {
		w.held = 0
		return held, nil
	}
	var b [2]byte
	if _, err := io.ReadFull(w.in, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		return 0, err
	}
	return w.order.Uint16(b[:]), nil
}
