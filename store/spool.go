package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"runtime"

	"github.com/lathe-agent/lathe"
)

// stagedMessage is a message as its row will be. One without a role is a part apart from its message.
type stagedMessage struct {
	id      lathe.MessageID
	role    string // user or assistant
	created float64
	parent  lathe.MessageID // the prompt of an answer
	row     encoded
	parts   []stagedPart
}

// stagedPart is a part as its row will be.
type stagedPart struct {
	id   lathe.PartID
	kind string
	open bool   // its text still grows
	tail string // the text of an open part
	row  encoded
}

// usage returns what a step-finish part adds to its session.
func (p stagedPart) usage() (usage, error) {
	if p.kind != "step-finish" {
		return usage{}, nil
	}
	var part lathe.Part
	err := part.ReadRow(p.kind, p.row.data)
	return usageOf(part.Body), err
}

// spool is a file of staged messages, written once and read as often as needed. It has no name
// where the system allows that, so that a killed process leaves nothing behind.
type spool struct {
	file  *os.File
	named bool // the file still has a name, which close removes
	w     *bufio.Writer
	buf   []byte // of the last message, to be used again
}

// newSpool creates the file next to the large values, because a folder for temporary files may be
// in memory. What a killed process leaves there is removed with the other stray files.
func newSpool(dir string) (*spool, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, lathe.Errorf(lathe.Unavailable, "cannot create the folder of large values: %w", err)
		}
	}
	f, err := os.CreateTemp(dir, "import-*")
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot create a file for the import: %w", err)
	}
	s := &spool{file: f, named: true, w: bufio.NewWriterSize(f, 256<<10)}
	if runtime.GOOS != "windows" { // which removes no open file
		s.named = os.Remove(f.Name()) != nil
	}
	return s, nil
}

// close removes the file.
func (s *spool) close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}

// add appends a message: its length, then its fields.
func (s *spool) add(m stagedMessage) error {
	b := append(s.buf[:0], 0, 0, 0, 0, 0, 0, 0, 0)
	b = appendText(b, string(m.id))
	b = appendText(b, m.role)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(m.created))
	b = appendText(b, string(m.parent))
	b = appendRow(b, m.row)
	b = binary.AppendUvarint(b, uint64(len(m.parts)))
	for _, p := range m.parts {
		b = appendText(b, string(p.id))
		b = appendText(b, p.kind)
		b = append(b, byte(boolInt(p.open)))
		b = appendText(b, p.tail)
		b = appendRow(b, p.row)
	}
	binary.BigEndian.PutUint64(b, uint64(len(b)-8))
	_, err := s.w.Write(b)
	if s.buf = b; cap(b) > 1<<20 { // one long message must not hold its memory until the end
		s.buf = nil
	}
	return spoolError(err)
}

// spoolError says that the disk is the reason, and that the database is as before.
func spoolError(err error) error {
	if err == nil {
		return nil
	}
	return lathe.Errorf(lathe.Unavailable, "cannot write the session to a temporary file: %w; nothing was imported", err)
}

// appendText appends a length and a text.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendRow appends a row and the names of its large values, whose files exist already.
func appendRow(b []byte, e encoded) []byte {
	b = appendText(b, string(e.data))
	b = binary.AppendUvarint(b, uint64(len(e.blobs)))
	for _, one := range e.blobs {
		b = appendText(b, one.hash)
		b = binary.AppendUvarint(b, uint64(one.size))
	}
	return b
}

// each calls f with every message, in the order of add.
func (s *spool) each(f func(stagedMessage) error) error {
	if err := s.w.Flush(); err != nil {
		return spoolError(err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return spoolError(err)
	}
	r := bufio.NewReaderSize(s.file, 256<<10)
	var size [8]byte
	var buf []byte
	for {
		if _, err := io.ReadFull(r, size[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return spoolError(err)
		}
		n := int(binary.BigEndian.Uint64(size[:]))
		if cap(buf) < n || cap(buf) > 1<<20 && n < 1<<20 {
			buf = make([]byte, n)
		}
		if _, err := io.ReadFull(r, buf[:n]); err != nil {
			return spoolError(err)
		}
		d := spoolDecoder{buf[:n]}
		if err := f(d.message()); err != nil {
			return err
		}
	}
}

// spoolDecoder reads the fields that add wrote in this process.
type spoolDecoder struct{ b []byte }

// message reads what add wrote, in the same order.
func (d *spoolDecoder) message() stagedMessage {
	m := stagedMessage{id: lathe.MessageID(d.text()), role: string(d.text())}
	m.created = math.Float64frombits(binary.BigEndian.Uint64(d.b))
	d.b = d.b[8:]
	m.parent = lathe.MessageID(d.text())
	m.row = d.row()
	m.parts = make([]stagedPart, d.number())
	for i := range m.parts {
		p := stagedPart{id: lathe.PartID(d.text()), kind: string(d.text())}
		p.open, d.b = d.b[0] != 0, d.b[1:]
		p.tail = string(d.text())
		p.row = d.row()
		m.parts[i] = p
	}
	return m
}

// number reads a length or a count.
func (d *spoolDecoder) number() int {
	n, size := binary.Uvarint(d.b)
	d.b = d.b[size:]
	return int(n)
}

// text reads a text, which is valid until the next message.
func (d *spoolDecoder) text() []byte {
	n := d.number()
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

// row returns data that is valid until the next message.
func (d *spoolDecoder) row() encoded {
	out := encoded{data: d.text()}
	for range d.number() {
		one := blob{hash: string(d.text())}
		one.size = int64(d.number())
		out.blobs = append(out.blobs, one)
	}
	return out
}
