package migrate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

// view is a value in a record that is not copied: it is valid until the next record is read.
type view []byte

// UnmarshalJSON keeps a part of the text that is being decoded.
func (v *view) UnmarshalJSON(text []byte) error {
	*v = text
	return nil
}

// maxRecord is the longest record that is read, in bytes. A screenshot in a record has a few millions. An import takes about three
// times as much memory as its longest record, and 50 MB besides, and promises about 100 MB.
const maxRecord = 16 << 20

// openFile opens a transcript. A folder, a pipe or a device with the name of one would hang or confuse the reader.
func openFile(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, lathe.Errorf(lathe.Invalid, "it is not a regular file")
	}
	return os.Open(name)
}

// eachLine calls f with every line of a file that is JSON. Other lines are counted: one that a crash cut off, one that is
// too long, one that is something else.
func eachLine(ctx context.Context, name string, in Input, f func(line []byte) error) error {
	file, err := openFile(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	return eachLineAt(ctx, file, in, func(line []byte, _ int64) error { return f(line) })
}

// eachLineAt is eachLine with the place of each line in the file.
func eachLineAt(ctx context.Context, file io.Reader, in Input, f func(line []byte, offset int64) error) error {
	r := bufio.NewReaderSize(counted{ctx, file, in.Count}, 256<<10)
	var line []byte
	for offset := int64(0); ; {
		n, ended, long, err := readLine(r, &line)
		if err != nil {
			return err
		}
		switch text := bytes.TrimSpace(line); {
		case long:
			in.Skipped.add("too long")
		case len(text) == 0:
		case !utf8.Valid(text) || !json.Valid(text):
			in.Skipped.add("incomplete")
		default:
			space := len(line) - len(bytes.TrimLeft(line, " \t\r\n\v\f"))
			if err := f(text, offset+int64(space)); err != nil {
				return err
			}
		}
		if offset += n; ended {
			return nil
		}
		if cap(line) > 4<<20 { // one long record must not hold its memory until the end
			line = nil
		}
	}
}

// growth is how much longer the buffer gets for a long line, as a part of its length: doubling takes twice the memory of a record.
const growth = 4

// readLine reads a line into buf and returns its length. It reads past a line that is too long and does not keep it.
func readLine(r *bufio.Reader, buf *[]byte) (n int64, ended, long bool, err error) {
	*buf = (*buf)[:0]
	for {
		piece, err := r.ReadSlice('\n')
		n += int64(len(piece))
		if n > maxRecord {
			long, *buf = true, (*buf)[:0]
		} else {
			if need := len(*buf) + len(piece); need > cap(*buf) && need > 1<<20 {
				*buf = append(make([]byte, 0, need+need/growth), *buf...)
			}
			*buf = append(*buf, piece...)
		}
		switch err {
		case nil:
			return n, false, long, nil
		case bufio.ErrBufferFull:
		case io.EOF:
			return n, true, long, nil
		default:
			return n, true, long, err
		}
	}
}
