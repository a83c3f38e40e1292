// Package sse reads and writes server-sent events.
//
// The reader does not allocate for events of ordinary size: its result is valid until the next
// call. It accepts lines that end in \n or \r\n, data in several lines, comments, a byte order
// mark, and a stream that ends without its last blank line. A Reader is for one goroutine.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxEvent is the default limit for the data of one event.
const MaxEvent = 64 << 20

// ErrTooLarge says that an event is larger than the reader takes.
var ErrTooLarge = errors.New("sse: the event is too large")

// Event is one event. Its bytes belong to the reader.
type Event struct {
	Name []byte // of the event field; nil if there is none
	ID   []byte // of the id field; nil if there is none
	Data []byte // of the data fields, joined by line breaks
}

// Reader reads events.
type Reader struct {
	r     *bufio.Reader
	limit int
	line  []byte // of a line that is longer than the buffer
	name  []byte
	id    []byte
	data  []byte
	began bool
}

// NewReader returns a reader that takes events up to MaxEvent.
func NewReader(r io.Reader) *Reader { return NewReaderLimit(r, MaxEvent) }

// NewReaderLimit returns a reader that takes events up to limit bytes.
func NewReaderLimit(r io.Reader, limit int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 32<<10), limit: limit, name: []byte{}, id: []byte{}, data: []byte{}}
}

// Next returns the next event that has data. At the end of the stream it is io.EOF; a last
// event without its blank line is returned first.
func (r *Reader) Next() (Event, error) {
	has := r.clear()
	r.data = r.data[:0]
	for {
		line, err := r.readLine()
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			if errors.Is(err, io.EOF) && has.data {
				break
			}
			return Event{}, err
		}
		if len(line) > 0 {
			if err := r.take(line, &has); err != nil {
				return Event{}, err
			}
			continue
		}
		if has.data {
			break
		}
		has = r.clear()
	}
	e := Event{Data: r.data}
	if has.name {
		e.Name = r.name
	}
	if has.id {
		e.ID = r.id
	}
	return e, nil
}

// fields are those that an event has.
type fields struct{ data, name, id bool }

// clear forgets name and id.
func (r *Reader) clear() fields {
	r.name, r.id = r.name[:0], r.id[:0]
	return fields{}
}

// take adds a line to the event.
func (r *Reader) take(line []byte, has *fields) error {
	field, value := cutField(line)
	switch string(field) {
	case "data":
		if has.data {
			r.data = append(r.data, '\n')
		}
		if len(r.data)+len(value) > r.limit {
			return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, r.limit)
		}
		r.data, has.data = append(r.data, value...), true
	case "event":
		r.name, has.name = append(r.name[:0], value...), true
	case "id":
		r.id, has.id = append(r.id[:0], value...), true
	default: // comments have an empty name; retry and unknown fields mean nothing here
	}
	return nil
}

func cutField(line []byte) (field, value []byte) {
	field, value, _ = bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return field, value
}

// readLine returns a line without its end. With io.EOF it may still hold the last one.
func (r *Reader) readLine() ([]byte, error) {
	line, err := r.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		r.line = append(r.line[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.r.ReadSlice('\n')
			r.line = append(r.line, line...)
			if len(r.line) > r.limit+64 {
				return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, r.limit)
			}
		}
		line = r.line
	}
	if !r.began {
		r.began = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), err
}
