package gitobj

import (
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"
	"slices"
)

// blockSize is how much of a file is read at once. Histories lie close together in a
// pack, so the rest of a block usually holds the objects asked for next.
const blockSize = 32 << 10

// cursor reads a file forward from any place, a block at a time.
type cursor struct {
	file  io.ReaderAt
	block []byte
	start int64 // where block lies in file
	next  int   // in block
}

// seek moves to an offset. What is still in the block is not read again.
func (c *cursor) seek(file io.ReaderAt, off int64) {
	if c.file != file || off < c.start || off > c.start+int64(len(c.block)) {
		c.file, c.start, c.block = file, off, c.block[:0]
	}
	c.next = int(off - c.start)
}

// fill reads the next block when the present one is used up.
func (c *cursor) fill() error {
	if c.next < len(c.block) {
		return nil
	}
	if c.block == nil {
		c.block = make([]byte, 0, blockSize)
	}
	c.start += int64(c.next)
	c.next = 0
	n, err := c.file.ReadAt(c.block[:blockSize], c.start)
	c.block = c.block[:n]
	if n > 0 {
		return nil
	}
	return err
}

func (c *cursor) ReadByte() (byte, error) {
	if c.next == len(c.block) {
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	b := c.block[c.next]
	c.next++
	return b, nil
}

func (c *cursor) Read(p []byte) (int, error) {
	if err := c.fill(); err != nil {
		return 0, err
	}
	n := copy(p, c.block[c.next:])
	c.next += n
	return n, nil
}

// inflater reads compressed data. One goroutine at a time uses it, and it is pooled, because
// making one costs more than most objects.
type inflater struct {
	cursor
	z io.ReadCloser
}

// begin starts to decompress at the cursor.
func (f *inflater) begin() error {
	var err error
	if f.z == nil {
		f.z, err = zlib.NewReader(&f.cursor)
	} else {
		err = f.z.(zlib.Resetter).Reset(&f.cursor, nil)
	}
	return damagedStream(err)
}

// rest reads exactly size bytes, which must be all that is left. Memory is taken as data
// arrives: a size is only a claim.
func (f *inflater) rest(size int64) ([]byte, error) {
	const first = 256 << 10
	out := make([]byte, 0, min(size, first)+1) // the one more shows that there is no more
	for {
		if len(out) == cap(out) {
			out = slices.Grow(out, int(min(int64(len(out)), size+1-int64(len(out)))))
		}
		n, err := f.z.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case int64(len(out)) > size:
			return nil, corrupt("an object is longer than it says")
		case err == io.EOF && int64(len(out)) < size:
			return nil, corrupt("an object is shorter than it says")
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, damagedStream(err)
		}
	}
}

// damagedStream turns what is wrong with compressed data into our error, and leaves
// failures of the disk as they are.
func damagedStream(err error) error {
	var input flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return corrupt("compressed data breaks off")
	case errors.Is(err, zlib.ErrChecksum), errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrDictionary),
		errors.As(err, &input):
		return corrupt("%w", err)
	default:
		return err
	}
}
