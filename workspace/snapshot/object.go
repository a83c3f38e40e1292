package snapshot

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/gitobj"
)

const (
	// maxContent limits the stored bytes of a file. Larger files cannot be undone.
	maxContent = 64 << 20
	// rawTree is from which size on trees are not compressed: they are mostly hashes, so it would
	// only take time.
	rawTree = 64 << 10
	// maxLockWait is for locks that are held for milliseconds.
	maxLockWait = 10 * time.Second
)

// errNotStored says that the content of an object is not known any more.
var errNotStored = errors.New("its content is not stored")

// oid names an object by its SHA-1. The zero oid names nothing.
type oid [sha1.Size]byte

func (id oid) String() string { return hex.EncodeToString(id[:]) }

// hex is the wire's form: empty for nothing.
func (id oid) hex() string {
	if id == (oid{}) {
		return ""
	}
	return id.String()
}

func parseOID(s string) (id oid, ok bool) {
	if len(s) != 2*len(id) {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(s))
	return id, err == nil
}

func hashObject(kind gitobj.Kind, data []byte) (id oid) {
	h := sha1.New()
	h.Write(objectHead(kind, len(data)))
	h.Write(data)
	h.Sum(id[:0])
	return id
}

func objectHead(kind gitobj.Kind, size int) []byte {
	head := append(make([]byte, 0, 32), kind.String()...)
	head = append(head, ' ')
	return append(strconv.AppendInt(head, int64(size), 10), 0)
}

// objects stores contents and trees in its own packs. It also reads, and never writes, the
// objects of the project.
type objects struct {
	disk     *disk
	dir      string
	repo     *project
	packSize int64
	pool     sync.Pool // of *zlib.Writer

	mu    sync.Mutex // guards the rest, and the order of what is appended
	packs map[string]*packfile
	where map[oid]location
	own   *packfile // to which this process appends; nil before it does
}

func newObjects(d *disk, dir string, repo *project) *objects {
	return &objects{disk: d, dir: dir, repo: repo, packSize: packSize, packs: map[string]*packfile{}, where: map[oid]location{}}
}

// put keeps an object and returns its name.
func (o *objects) put(kind gitobj.Kind, data []byte) (oid, error) {
	id := hashObject(kind, data)
	return id, o.keep(id, kind, data)
}

// keep writes an object that is named already. One that lies in an old heap is written again: the
// old one may be about to be tidied away.
func (o *objects) keep(id oid, kind gitobj.Kind, data []byte) error {
	o.mu.Lock()
	s, ok := o.where[id]
	there := ok && (s.pack == o.own || time.Since(s.pack.young) < graceTime/2)
	o.mu.Unlock()
	if there {
		return nil
	}
	body, err := o.pack(kind, data)
	if err == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		err = o.append(id, body)
	}
	if err != nil {
		return fmt.Errorf("store a snapshot: %w", err)
	}
	return nil
}

// pack compresses an object as git does.
func (o *objects) pack(kind gitobj.Kind, data []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(data)/2 + 64)
	var z *zlib.Writer
	if kind == gitobj.TreeKind && len(data) > rawTree {
		z, _ = zlib.NewWriterLevel(&b, zlib.NoCompression) // fails only for levels that there are not
	} else if pooled, ok := o.pool.Get().(*zlib.Writer); ok {
		z = pooled
		z.Reset(&b)
		defer o.pool.Put(z)
	} else {
		z, _ = zlib.NewWriterLevel(&b, zlib.BestSpeed)
		defer o.pool.Put(z)
	}
	_, err := z.Write(objectHead(kind, len(data)))
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}

// has reports whether an object can be read, of ours or of the project's.
func (o *objects) has(id oid) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.where[id]; ok || o.repo.has(id) {
		return true
	}
	_ = o.refresh() // an unreadable packfile has no objects
	_, ok := o.where[id]
	return ok
}

// get reads an object. Ours are compared with their name: half a file must never be restored.
func (o *objects) get(id oid) (gitobj.Kind, []byte, error) {
	kind, data, err := o.getOwn(id)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return kind, data, err
	}
	kind, data, err = o.repo.get(id)
	if err == nil && hashObject(kind, data) != id {
		err = fmt.Errorf("the object %s of the repository is damaged: %w", id, errNotStored)
	}
	return kind, data, err
}

func (o *objects) getOwn(id oid) (gitobj.Kind, []byte, error) {
	body, err := o.body(id)
	if err != nil {
		return 0, nil, err
	}
	damaged := func() (gitobj.Kind, []byte, error) {
		return 0, nil, fmt.Errorf("the snapshot %s is damaged: %w", id, errNotStored)
	}
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return damaged()
	}
	text, err := io.ReadAll(io.LimitReader(z, maxContent+1<<20))
	if err != nil || sha1.Sum(text) != [20]byte(id) {
		return damaged()
	}
	head, data, _ := bytes.Cut(text, []byte{0})
	name, _, _ := bytes.Cut(head, []byte(" "))
	if kind := gitobj.ParseKind(string(name)); kind != 0 {
		return kind, data, nil
	}
	return damaged()
}

// blob reads a content.
func (o *objects) blob(id oid) ([]byte, error) {
	kind, data, err := o.get(id)
	if err == nil && kind != gitobj.BlobKind {
		err = fmt.Errorf("the object %s is a %s, not a blob: %w", id, kind, errNotStored)
	}
	return data, err
}

// adopt copies a content of the project into our files, because its own clean-up may take it away.
// Size is what the file had on disk; a content of another size is not what was there but what
// a filter made of it.
func (o *objects) adopt(id oid, size int64) bool {
	kind, data, err := o.getOwn(id)
	if err != nil {
		kind, data, err = o.repo.get(id)
	}
	return err == nil && kind == gitobj.BlobKind && int64(len(data)) == size && hashObject(kind, data) == id && o.keep(id, kind, data) == nil
}
