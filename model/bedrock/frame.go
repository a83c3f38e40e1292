package bedrock

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/lathe-agent/lathe/model"
)

// A frame of Amazon's event stream is, all numbers big-endian:
//
//	total length  uint32
//	headers length  uint32
//	checksum of the eight bytes before  uint32, CRC-32
//	headers: name length uint8, name, type uint8, value
//	payload
//	checksum of all before  uint32
const (
	preludeSize = 12
	sumSize     = 4
	maxFrame    = 64 << 20
	maxHeaders  = 128 << 10
	firstBuffer = 32 << 10
)

// damaged says that what came is no frame. It is of no use to read on.
func damaged(why string) error {
	return model.Failure{Message: "the provider's stream is damaged: " + why, Type: "server_error"}.Error()
}

// frame is one message of the stream. Its bytes belong to the reader.
type frame struct {
	message   []byte // event, exception or error
	event     []byte // the type of the event
	exception []byte // the type of the exception
	code      []byte // of an error
	text      []byte // of an error
	payload   []byte
}

// frames reads frames.
type frames struct {
	r   *bufio.Reader
	buf []byte
}

func newFrames(r io.Reader) *frames {
	return &frames{r: bufio.NewReaderSize(r, firstBuffer), buf: make([]byte, 0, 4<<10)}
}

// next returns the next frame, good until it is called again. At the end of the stream it is
// io.EOF, and in the middle of a frame io.ErrUnexpectedEOF.
func (f *frames) next() (frame, error) {
	prelude, err := f.r.Peek(preludeSize)
	if err != nil {
		if len(prelude) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	total, headers := binary.BigEndian.Uint32(prelude), binary.BigEndian.Uint32(prelude[4:])
	switch {
	case crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]):
		return frame{}, damaged("wrong checksum of a frame header")
	case total > maxFrame:
		return frame{}, damaged(fmt.Sprintf("a frame is larger than %d bytes", maxFrame))
	case headers > maxHeaders || uint64(total) < preludeSize+sumSize+uint64(headers):
		return frame{}, damaged("invalid frame lengths")
	}
	if err := f.fill(int(total)); err != nil {
		return frame{}, err
	}
	end := len(f.buf) - sumSize
	if crc32.ChecksumIEEE(f.buf[:end]) != binary.BigEndian.Uint32(f.buf[end:]) {
		return frame{}, damaged("wrong checksum of a frame")
	}
	out := frame{payload: f.buf[preludeSize+headers : end]}
	return out, out.readHeaders(f.buf[preludeSize : preludeSize+headers])
}

// fill reads a whole frame. The buffer grows with what comes, not with what is announced.
func (f *frames) fill(total int) error {
	f.buf = f.buf[:0]
	for len(f.buf) < total {
		if len(f.buf) == cap(f.buf) {
			f.buf = append(f.buf, 0)[:len(f.buf)]
		}
		n, err := f.r.Read(f.buf[len(f.buf):min(total, cap(f.buf))])
		f.buf = f.buf[:len(f.buf)+n]
		if err != nil && len(f.buf) < total {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// sizes are those of the values of a header by their type; -1 has its length before it.
var sizes = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

// headerText is the type of a header that is text.
const headerText = 7

// readHeaders parses the headers of an event stream frame and checks every length, since the data is untrusted.
func (f *frame) readHeaders(b []byte) error {
	for len(b) > 0 {
		n := int(b[0]) + 1
		if len(b) < n+1 || int(b[n]) >= len(sizes) {
			return damaged("invalid header")
		}
		name, kind := b[1:n], b[n]
		b = b[n+1:]
		size := sizes[kind]
		if size < 0 {
			if len(b) < 2 {
				return damaged("truncated header")
			}
			size, b = int(binary.BigEndian.Uint16(b)), b[2:]
		}
		if len(b) < size {
			return damaged("truncated header")
		}
		if kind == headerText {
			f.header(name, b[:size])
		}
		b = b[size:]
	}
	return nil
}

// header stores the headers that decoding needs and ignores the others.
func (f *frame) header(name, value []byte) {
	switch string(name) {
	case ":message-type":
		f.message = value
	case ":event-type":
		f.event = value
	case ":exception-type":
		f.exception = value
	case ":error-code":
		f.code = value
	case ":error-message":
		f.text = value
	}
}
