package gitobj

import (
	"bytes"
	"encoding/binary"
	"io"
)

const (
	maxPackObjects = 1 << 27 // objects in one pack
	maxIndexLoad   = 16 << 20
	fanoutSize     = 256 * 4
)

// index is the table of contents of a pack, version 1 or 2: sorted ids, and the offset of each
// object in the pack.
type index struct {
	file   io.ReaderAt
	data   []byte // the whole file if it is small, else nil
	hash   int    // bytes of an id
	count  uint32
	fanout [256]uint32 // how many ids begin with a byte up to this one
	ids    int64       // where the first id lies
	stride int64       // from one id to the next
	short  int64       // where the first 4-byte offset lies
	long   int64       // where the 8-byte offsets begin; 0 in version 1
	longs  uint32      // how many of them there are
}

// newIndex checks the frame of an index file, not each of its entries: what is wrong in
// one shows when it is used.
func newIndex(file io.ReaderAt, size int64, hash int) (*index, error) {
	x := &index{file: file, hash: hash}
	head, err := x.bytes(0, 8+fanoutSize, nil)
	if err != nil {
		return nil, err
	}
	version1 := !bytes.Equal(head[:4], []byte("\xfftOc"))
	fanout := head[8:]
	if version1 {
		fanout = head[:fanoutSize]
	} else if v := binary.BigEndian.Uint32(head[4:]); v != 2 {
		return nil, corrupt("a pack index has version %d", v)
	}
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(fanout[4*i:])
		if i > 0 && x.fanout[i] < x.fanout[i-1] {
			return nil, corrupt("a pack index is out of order")
		}
	}
	x.count = x.fanout[255]
	if x.count > maxPackObjects {
		return nil, ErrLimit
	}
	n, id := int64(x.count), int64(hash)
	if version1 {
		x.short, x.ids, x.stride = fanoutSize, fanoutSize+4, 4+id
		if size != fanoutSize+n*x.stride+2*id {
			return nil, corrupt("a pack index has the wrong size")
		}
		return x, nil
	}
	x.ids, x.stride = 8+fanoutSize, id
	x.short = x.ids + n*id + n*4 // after the checksums
	x.long = x.short + n*4
	rest := size - x.long - 2*id
	if rest < 0 || rest%8 != 0 || rest/8 > n {
		return nil, corrupt("a pack index has the wrong size")
	}
	x.longs = uint32(rest / 8)
	return x, nil
}

// bytes returns n bytes at an offset. They may lie in buf, if that is large enough.
func (x *index) bytes(off, n int64, buf []byte) ([]byte, error) {
	if x.data != nil {
		if off < 0 || off+n > int64(len(x.data)) {
			return nil, corrupt("a pack index breaks off")
		}
		return x.data[off : off+n], nil
	}
	if int64(len(buf)) < n {
		buf = make([]byte, n)
	}
	got, err := x.file.ReadAt(buf[:n], off)
	if int64(got) < n {
		if err == io.EOF {
			err = corrupt("a pack index breaks off")
		}
		return nil, err
	}
	return buf[:n], nil
}

// load reads the whole file into memory, which makes finding ten times faster.
func (x *index) load(size int64) error {
	data, err := x.bytes(0, size, nil)
	if err == nil {
		x.data = data
	}
	return err
}

// find returns the position of an id among all ids of the pack.
func (x *index) find(id ID) (pos uint32, ok bool, err error) {
	if int(id.size) != x.hash {
		return 0, false, nil
	}
	lo, hi := uint32(0), x.fanout[id.sum[0]]
	if id.sum[0] > 0 {
		lo = x.fanout[id.sum[0]-1]
	}
	var buf [sha256Size]byte
	for lo < hi {
		mid := lo + (hi-lo)/2
		at, err := x.bytes(x.ids+int64(mid)*x.stride, int64(x.hash), buf[:])
		if err != nil {
			return 0, false, err
		}
		switch c := bytes.Compare(id.bytes(), at); {
		case c == 0:
			return mid, true, nil
		case c < 0:
			hi = mid
		default:
			lo = mid + 1
		}
	}
	return 0, false, nil
}

// offset returns where in the pack the object at a position begins.
func (x *index) offset(pos uint32) (int64, error) {
	var buf [8]byte
	if x.long == 0 {
		b, err := x.bytes(x.short+int64(pos)*x.stride, 4, buf[:])
		if err != nil {
			return 0, err
		}
		return int64(binary.BigEndian.Uint32(b)), nil
	}
	b, err := x.bytes(x.short+int64(pos)*4, 4, buf[:])
	if err != nil {
		return 0, err
	}
	off := binary.BigEndian.Uint32(b)
	if off&0x80000000 == 0 {
		return int64(off), nil
	}
	if off &= 0x7fffffff; off >= x.longs {
		return 0, corrupt("a pack index leads out of itself")
	}
	if b, err = x.bytes(x.long+int64(off)*8, 8, buf[:]); err != nil {
		return 0, err
	}
	at := binary.BigEndian.Uint64(b)
	if at > 1<<62 {
		return 0, corrupt("a pack index leads out of its pack")
	}
	return int64(at), nil
}
