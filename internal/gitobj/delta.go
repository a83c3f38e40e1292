package gitobj

// patch applies a delta to its base: a list of pieces to copy from the base and of new
// bytes, after the sizes of base and result.
func patch(base, delta []byte, limit int64) ([]byte, error) {
	d := deltaReader{rest: delta}
	if size := d.size(); d.bad || size != uint64(len(base)) {
		return nil, corrupt("a delta is for another base")
	}
	size := d.size()
	if d.bad {
		return nil, corrupt("a delta breaks off")
	}
	if size > uint64(limit) {
		return nil, ErrLimit
	}
	// A delta can say at most 16 MB with each 7 of its bytes, so that a short one cannot
	// ask for much memory by its claim alone.
	if size > uint64(len(delta))*maxCopy {
		return nil, corrupt("a delta says more than it can hold")
	}
	out := make([]byte, 0, size)
	for len(d.rest) > 0 {
		piece := d.piece(base)
		if d.bad || uint64(len(out))+uint64(len(piece)) > size {
			return nil, corrupt("a delta leads out of its base or result")
		}
		out = append(out, piece...)
	}
	if uint64(len(out)) != size {
		return nil, corrupt("a delta gives too little")
	}
	return out, nil
}

const maxCopy = 1<<24 - 1

type deltaReader struct {
	rest []byte
	bad  bool
}

func (d *deltaReader) next() byte {
	if len(d.rest) == 0 {
		d.bad = true
		return 0
	}
	c := d.rest[0]
	d.rest = d.rest[1:]
	return c
}

// size reads a number of seven bits a byte, the lowest first.
func (d *deltaReader) size() (n uint64) {
	for shift := 0; shift < 63; shift += 7 {
		c := d.next()
		n |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			return n
		}
	}
	d.bad = true
	return 0
}

// piece returns the bytes that the next instruction adds.
func (d *deltaReader) piece(base []byte) []byte {
	op := d.next()
	if op&0x80 == 0 { // new bytes; none at all is reserved
		n := int(op)
		if n == 0 || n > len(d.rest) {
			d.bad = true
			return nil
		}
		piece := d.rest[:n]
		d.rest = d.rest[n:]
		return piece
	}
	var off, n uint64
	for i := range 4 {
		if op&(1<<i) != 0 {
			off |= uint64(d.next()) << (8 * i)
		}
	}
	for i := range 3 {
		if op&(0x10<<i) != 0 {
			n |= uint64(d.next()) << (8 * i)
		}
	}
	if n == 0 {
		n = 0x10000
	}
	if d.bad || off+n > uint64(len(base)) {
		d.bad = true
		return nil
	}
	return base[off : off+n]
}
