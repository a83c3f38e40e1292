package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Framing is how messages are separated in a stream of bytes.
type Framing int

const (
	// Lines has one message in each line.
	Lines Framing = iota
	// Headers has a header with Content-Length before each message, as language servers do.
	Headers
)

const (
	maxHead    = 4 << 10  // of a message that is too long
	headerMost = 64 << 10 // of headers, before the stream is given up
	bufferSize = 64 << 10
)

// tooLong is a message beyond the limit, with its beginning.
type tooLong struct {
	head []byte
	size int64
}

func (t *tooLong) Error() string { return fmt.Sprintf("a message of %d bytes", t.size) }

// frames reads messages from a stream. What it returns is valid until the next read.
type frames struct {
	r    *bufio.Reader
	most int
	kind Framing
	buf  []byte
}

// next reads one message. For one that is too long it returns a *tooLong and continues after it.
func (f *frames) next() ([]byte, error) {
	if f.kind == Headers {
		return f.sized()
	}
	return f.line()
}

// line reads a message that ends with a newline, up to the size limit.
func (f *frames) line() ([]byte, error) {
	f.buf = f.buf[:0]
	var over int64
	for {
		piece, err := f.r.ReadSlice('\n')
		if over == 0 && len(f.buf)+len(piece) > f.most+1 { // the line break does not count
			over = int64(len(f.buf))
			f.buf = append(f.buf, piece...)
			f.buf = append([]byte(nil), f.buf[:min(len(f.buf), maxHead)]...) // release the large buffer
		} else if over == 0 {
			f.buf = append(f.buf, piece...)
		}
		if over > 0 {
			over += int64(len(piece))
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (over > 0 || len(f.buf) > 0) && errors.Is(err, io.EOF):
			// a last line without its end; the next read tells that it was the last
		case err != nil:
			return nil, err
		}
		if over > 0 {
			return nil, &tooLong{head: f.buf, size: over}
		}
		if cap(f.buf) > 1<<20 && len(f.buf) < bufferSize { // one long message does not hold memory for ever
			f.buf = bytes.Clone(f.buf)
		}
		return f.buf, nil
	}
}

func (f *frames) sized() ([]byte, error) {
	size, err := f.header()
	if err != nil {
		return nil, err
	}
	if size > int64(f.most) {
		head := make([]byte, min(size, maxHead))
		if _, err := io.ReadFull(f.r, head); err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, f.r, size-int64(len(head))); err != nil {
			return nil, err
		}
		return nil, &tooLong{head: head, size: size}
	}
	if int64(cap(f.buf)) < size || cap(f.buf) > 1<<20 {
		f.buf = make([]byte, size)
	}
	f.buf = f.buf[:size]
	_, err = io.ReadFull(f.r, f.buf)
	return f.buf, err
}

// header reads up to the empty line after a Content-Length. Lines that are no header are passed
// over: programs print what they should not before they begin.
func (f *frames) header() (int64, error) {
	size, read := int64(-1), 0
	for {
		line, err := f.r.ReadSlice('\n')
		if read += len(line); read > headerMost {
			return 0, fmt.Errorf("%w: %d bytes without a Content-Length", ErrInvalid, read)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return 0, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" && size >= 0 {
			return size, nil
		}
		name, value, ok := strings.Cut(text, ":")
		if ok && strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil || n < 0 {
				return 0, fmt.Errorf("%w: Content-Length %q", ErrInvalid, strings.TrimSpace(value))
			}
			size = n
		}
	}
}

// framed puts a message into its frame. It may use its bytes.
func framed(kind Framing, data []byte) []byte {
	if kind == Headers {
		return append(fmt.Appendf(make([]byte, 0, len(data)+32), "Content-Length: %d\r\n\r\n", len(data)), data...)
	}
	for rest := data; ; {
		at := bytes.IndexByte(rest, '\n')
		if at < 0 {
			break
		}
		rest[at] = ' ' // it is between tokens, where it may be and is not needed
		rest = rest[at+1:]
	}
	return append(data, '\n')
}
