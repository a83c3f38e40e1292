package gitobj

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxStagedBytes = 512 << 20 // of an index of a work tree
	maxStagedPath  = 4096      // bytes of a path in it
)

// IndexEntry is one file of a work tree as its index has it.
type IndexEntry struct {
	Path string // from the top, with "/"; ends in "/" where a sparse index has a whole tree
	Mode uint32
	ID   ID
	// The stat of the file when it was last compared, cut to 32 bits as git writes it.
	MtimeSec, MtimeNano, CtimeSec, CtimeNano uint32
	Inode, Size                              uint32

	Skip        bool // not checked out on purpose: its absence means nothing
	Unmerged    bool // more than one version waits for a person; ID is one of them
	IntentToAdd bool // will be added; ID says nothing
}

// Index reads the index of the checkout, sorted by path. A missing one is empty. One that
// is split over two files or has an extension that must be understood and is not known is
// refused.
func (r *Repo) Index() ([]IndexEntry, error) {
	data, err := readWhole(filepath.Join(r.gitDir, "index"), maxStagedBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseStaged(data, r.hash)
}

// IndexFile is where the index of the checkout lies.
func (r *Repo) IndexFile() string { return filepath.Join(r.gitDir, "index") }

// Config reads the configuration that all checkouts share.
func (r *Repo) Config() (Config, error) { return ReadConfig(filepath.Join(r.common, "config")) }

// SHA1 reports whether ids have 20 bytes.
func (r *Repo) SHA1() bool { return r.hash == sha1Size }

// Has reports whether an object is there, packed or loose.
func (r *Repo) Has(id ID) bool {
	if int(id.size) != r.hash {
		return false
	}
	if at, err := r.find(id); err != nil || at.pack != nil {
		return err == nil
	}
	name := id.String()
	for _, store := range r.stores {
		if info, err := os.Stat(filepath.Join(store, name[:2], name[2:])); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// SHA1ID is the id with these bytes.
func SHA1ID(sum [sha1Size]byte) ID { return rawID(sum[:]) }

// SHA1 returns the bytes of an id of SHA-1.
func (id ID) SHA1() (sum [sha1Size]byte, ok bool) {
	copy(sum[:], id.sum[:])
	return sum, id.size == sha1Size
}

func parseStaged(data []byte, hash int) ([]IndexEntry, error) {
	if len(data) < 12+hash || !bytes.Equal(data[:4], []byte("DIRC")) {
		return nil, corrupt("an index has no head")
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, corrupt("an index has version %d", version)
	}
	r := stagedReader{rest: data[12 : len(data)-hash], hash: hash, version: version}
	if uint64(count)*uint64(40+hash) > uint64(len(data))*2 { // the shortest entries, halved for version 4
		return nil, corrupt("an index says more than it can hold")
	}
	list := make([]IndexEntry, 0, count)
	for range count {
		e, stage, ok := r.next()
		if !ok {
			return nil, corrupt("an index breaks off")
		}
		last := len(list) - 1
		switch {
		case last >= 0 && list[last].Path == e.Path && stage > 0 && list[last].Unmerged:
			continue
		case last >= 0 && list[last].Path >= e.Path:
			return nil, corrupt("an index is out of order")
		case !safePath(e.Path, e.Mode):
			return nil, corrupt("an index has the path %.200q", e.Path)
		}
		e.Unmerged = stage > 0
		list = append(list, e)
	}
	return list, r.extensions()
}

// safePath refuses names that no work tree can have and that would lead elsewhere.
func safePath(path string, mode uint32) bool {
	if mode == 0o040000 {
		path = strings.TrimSuffix(path, "/")
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") {
			return false
		}
	}
	return true
}

type stagedReader struct {
	rest    []byte
	hash    int
	version uint32
	path    []byte // of the entry before, which version 4 builds on
}

func (r *stagedReader) next() (e IndexEntry, stage int, ok bool) {
	const fixed = 40
	size := fixed + r.hash + 2
	if len(r.rest) < size {
		return e, 0, false
	}
	at, word := r.rest, binary.BigEndian.Uint32
	e.CtimeSec, e.CtimeNano, e.MtimeSec, e.MtimeNano = word(at), word(at[4:]), word(at[8:]), word(at[12:])
	e.Inode, e.Mode, e.Size = word(at[20:]), word(at[24:]), word(at[36:])
	e.ID = rawID(at[fixed : fixed+r.hash])
	flags := binary.BigEndian.Uint16(at[fixed+r.hash:])
	if flags&0x4000 != 0 {
		if r.version < 3 || len(at) < size+2 {
			return e, 0, false
		}
		more := binary.BigEndian.Uint16(at[size:])
		e.Skip, e.IntentToAdd = more&0x4000 != 0, more&0x2000 != 0
		size += 2
	}
	n, ok := r.name(at[size:])
	if !ok {
		return e, 0, false
	}
	size += n
	if r.version < 4 { // filled up with one to eight zero bytes
		size += 8 - size%8
		if size > len(at) {
			return e, 0, false
		}
	}
	e.Path, r.rest = string(r.path), at[size:]
	return e, int(flags >> 12 & 3), true
}

// name reads a path into r.path and returns how many bytes it took, in version 4 with the
// zero byte that ends it.
func (r *stagedReader) name(at []byte) (int, bool) {
	keep, head := 0, 0
	if r.version == 4 {
		d := deltaReader{rest: at}
		cut := offsetVarint(&d)
		if d.bad || cut > uint64(len(r.path)) {
			return 0, false
		}
		keep, head = len(r.path)-int(cut), len(at)-len(d.rest)
	}
	end := bytes.IndexByte(at[head:], 0)
	if end < 0 || keep+end > maxStagedPath {
		return 0, false
	}
	r.path = append(r.path[:keep:keep], at[head:head+end]...)
	if r.version == 4 {
		end++
	}
	return head + end, true
}

// offsetVarint reads a number as packs write offsets: seven bits a byte, the highest first, and
// one added for each byte that follows.
func offsetVarint(d *deltaReader) (n uint64) {
	for i := 0; ; i++ {
		if len(d.rest) == 0 || i > 8 {
			d.bad = true
			return 0
		}
		c := d.rest[0]
		d.rest = d.rest[1:]
		n |= uint64(c & 0x7f)
		if c&0x80 == 0 {
			return n
		}
		n = (n + 1) << 7
	}
}

// extensions looks for one that changes what the entries mean. Those whose name begins with a
// capital letter may be passed over.
func (r *stagedReader) extensions() error {
	for len(r.rest) >= 8 {
		name, size := string(r.rest[:4]), binary.BigEndian.Uint32(r.rest[4:])
		if uint64(size) > uint64(len(r.rest)-8) {
			return corrupt("an extension of an index breaks off")
		}
		if name != "sdir" && (name[0] < 'A' || name[0] > 'Z') {
			return corrupt("an index needs %q, which is not known here", name)
		}
		r.rest = r.rest[8+size:]
	}
	return nil
}

// InfoFile is where a file lies that git keeps beside its configuration.
func (r *Repo) InfoFile(name string) string { return filepath.Join(r.common, "info", name) }

// Gitlinks reads which paths of an index file are their own repositories, of an index of at
// most 64 MB. Of a damaged or a split one none are known.
func Gitlinks(index string) (paths []string) {
	data, err := readWhole(index, 64<<20)
	if err != nil {
		return nil
	}
	for _, hash := range []int{sha1Size, sha256Size} {
		list, err := parseStaged(data, hash)
		if err != nil {
			continue
		}
		for _, e := range list {
			if e.Mode == 0o160000 {
				paths = append(paths, e.Path)
			}
		}
		return paths
	}
	return nil
}
