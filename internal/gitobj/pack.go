package gitobj

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

const (
	maxChain = 4096 // deltas one upon the other; git itself makes at most 4095
	packHead = 12   // bytes before the first object
)

// pack is a file of many objects, most of them as deltas against others in it.
type pack struct {
	path      string // without ending
	index     *index
	indexFile *os.File // the index, if it is too large for memory

	once sync.Once // guards the opening of file
	file packFile
	size int64
	err  error
}

type packFile interface {
	io.ReaderAt
	io.Closer
}

// data returns the pack's file, opened at the first use.
func (p *pack) data() (io.ReaderAt, int64, error) {
	p.once.Do(func() {
		f, info, err := openRegular(p.path + ".pack")
		if err != nil {
			p.err = err
			return
		}
		p.file, p.size = f, info.Size()
		p.err = checkPack(f, p.index.count)
	})
	return p.file, p.size, p.err
}

func (p *pack) close() error {
	p.once.Do(func() { p.err = os.ErrClosed })
	var errs []error
	if p.file != nil {
		errs = append(errs, p.file.Close())
	}
	if p.indexFile != nil {
		errs = append(errs, p.indexFile.Close())
	}
	return errors.Join(errs...)
}

func checkPack(f io.ReaderAt, count uint32) error {
	var head [packHead]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return damagedStream(err)
	}
	version := binary.BigEndian.Uint32(head[4:])
	if string(head[:4]) != "PACK" || version != 2 && version != 3 || binary.BigEndian.Uint32(head[8:]) != count {
		return corrupt("a pack does not belong to its index")
	}
	return nil
}

const (
	offsetDelta = 6
	refDelta    = 7
)

// entry is the head of an object in a pack.
type entry struct {
	kind byte  // a Kind, or one of the two deltas
	size int64 // of what the data inflates to
	data int64 // where the compressed data lies
	base int64 // of a delta: where its base begins
}

// entry reads the head of the object that begins at an offset.
func (p *pack) entry(f *inflater, off int64) (entry, error) {
	file, size, err := p.data()
	if err != nil {
		return entry{}, err
	}
	if off < packHead || off >= size {
		return entry{}, corrupt("an object lies outside its pack")
	}
	f.seek(file, off)
	c, err := f.ReadByte()
	e := entry{kind: c >> 4 & 7, size: int64(c & 15)}
	for shift := 4; err == nil && c&0x80 != 0; shift += 7 {
		if shift > 50 {
			return entry{}, ErrLimit
		}
		c, err = f.ReadByte()
		e.size |= int64(c&0x7f) << shift
	}
	if err != nil {
		return entry{}, damagedStream(err)
	}
	switch e.kind {
	case byte(CommitKind), byte(TreeKind), byte(BlobKind), byte(TagKind):
	case offsetDelta:
		e.base, err = f.distance()
		e.base = off - e.base
		if err == nil && (e.base < packHead || e.base >= off) {
			err = corrupt("a delta has its base outside the pack")
		}
	case refDelta:
		e.base, err = p.refBase(f)
	default:
		err = corrupt("a pack holds an object of kind %d", e.kind)
	}
	e.data = f.start + int64(f.next)
	return e, err
}

// distance reads how far before a delta its base begins: seven bits a byte, the highest
// first, each further byte adding one so that there is one way to write a number.
func (f *inflater) distance() (int64, error) {
	c, err := f.ReadByte()
	n := int64(c & 0x7f)
	for err == nil && c&0x80 != 0 {
		if n > 1<<54 {
			return 0, corrupt("a delta has its base outside the pack")
		}
		c, err = f.ReadByte()
		n = (n+1)<<7 | int64(c&0x7f)
	}
	return n, damagedStream(err)
}

// refBase reads the id of a base and finds it in the same pack, where git keeps it.
func (p *pack) refBase(f *inflater) (int64, error) {
	var raw [sha256Size]byte
	if _, err := io.ReadFull(f, raw[:p.index.hash]); err != nil {
		return 0, damagedStream(err)
	}
	id := rawID(raw[:p.index.hash])
	pos, ok, err := p.index.find(id)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, corrupt("a delta misses its base %s", id)
	}
	return p.index.offset(pos)
}

// content inflates what belongs to an entry.
func (p *pack) content(f *inflater, e entry) ([]byte, error) {
	file, _, err := p.data()
	if err != nil {
		return nil, err
	}
	f.seek(file, e.data)
	if err := f.begin(); err != nil {
		return nil, err
	}
	return f.rest(e.size)
}

// read returns the object that begins at an offset, and whether the data is shared with
// the cache. No object on the way may be larger than limit.
func (p *pack) read(ctx context.Context, f *inflater, cache *baseCache, off, limit int64) (kind Kind, data []byte, shared bool, err error) {
	chain, err := p.chain(f, cache, off, limit)
	kind, data, shared = chain.kind, chain.data, chain.shared
	if err != nil {
		return kind, nil, false, err
	}
	off = chain.off
	for _, delta := range slices.Backward(chain.deltas) {
		if ctx.Err() != nil {
			return kind, nil, false, context.Cause(ctx)
		}
		if !shared {
			cache.put(p, off, kind, data)
		}
		change, err := p.content(f, delta.entry)
		if err == nil {
			data, err = patch(data, change, limit)
		}
		if err != nil {
			return kind, nil, false, err
		}
		off, shared = delta.off, false
	}
	return kind, data, shared, nil
}

// deltaChain is an object that is whole, and the deltas from the wanted object down to it.
type deltaChain struct {
	deltas []link
	off    int64 // of the whole object
	kind   Kind
	data   []byte
	shared bool // the data belongs to the cache
}

type link struct {
	entry
	off int64
}

// chain follows deltas to the object they stand on.
func (p *pack) chain(f *inflater, cache *baseCache, off, limit int64) (c deltaChain, err error) {
	for c.off = off; ; {
		if c.kind, c.data, c.shared = cache.get(p, c.off); c.shared {
			return c, nil
		}
		e, err := p.entry(f, c.off)
		if err != nil {
			return deltaChain{}, err
		}
		if e.kind <= byte(TagKind) { // no delta
			c.kind = Kind(e.kind)
		}
		if e.size > limit {
			return c, fmt.Errorf("an object of %d bytes: %w", e.size, ErrLimit)
		}
		if c.kind != 0 {
			c.data, err = p.content(f, e)
			return c, err
		}
		if c.deltas = append(c.deltas, link{e, c.off}); len(c.deltas) > maxChain {
			return deltaChain{}, fmt.Errorf("deltas upon deltas: %w", ErrLimit)
		}
		c.off = e.base
	}
}
