package snapshot

import (
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/filelock"
)

const (
	indexSuffix  = ".index"
	indexMagic   = "lathe snapshot index 1\n"
	maxIndexSize = 1 << 30
)

var errIndex = errors.New("the snapshot index is damaged")

// save writes the known state to a file.
func (t *sharedTree) save(file string) error {
	t.mu.Lock()
	known := t.known
	t.dirty, t.saved = false, time.Now()
	t.mu.Unlock()
	if known == nil {
		return nil
	}
	out := appendDir([]byte(indexMagic), known)
	sum := sha1.Sum(out)
	if err := t.disk.write(file, append(out, sum[:]...), false); err != nil {
		return fmt.Errorf("save the snapshot index: %w", err)
	}
	return nil
}

// appendDir writes a directory: its tree if that is stored, the number of items, and each item. The next
// walk finds skipped items again.
func appendDir(out []byte, d *dir) []byte {
	var tree oid
	if id := d.tree.Load(); id != nil && d.treeStored.Load() {
		tree = *id
	}
	out = append(out, tree[:]...)
	n := uint64(0)
	for i := range d.items {
		if !d.items[i].passed() {
			n++
		}
	}
	out = binary.AppendUvarint(out, n)
	for i := range d.items {
		it := &d.items[i]
		if it.passed() {
			continue
		}
		out = binary.AppendUvarint(out, uint64(len(it.name)))
		out = append(out, it.name...)
		out = binary.AppendUvarint(out, uint64(it.mode))
		out = append(out, byte(it.flags))
		if it.sub != nil {
			out = appendDir(out, it.sub)
			continue
		}
		out = append(out, it.id[:]...)
		for _, v := range [...]int64{it.stat.size, it.stat.mtime, it.stat.ctime} {
			out = binary.AppendVarint(out, v)
		}
		out = binary.AppendUvarint(out, it.stat.inode)
		out = binary.AppendUvarint(out, uint64(it.stat.perm))
	}
	return out
}

// indexReader reads the output of appendDir. The checksum was verified before, so an error here is a
// bug. It must still not panic.
type indexReader struct {
	rest []byte
	bad  bool
}

func readIndex(file string) (*dir, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxIndexSize {
		return nil, errIndex
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(data) < len(indexMagic)+sha1.Size || !strings.HasPrefix(string(data[:len(indexMagic)]), indexMagic) {
		return nil, errIndex
	}
	body, sum := data[:len(data)-sha1.Size], data[len(data)-sha1.Size:]
	if sha1.Sum(body) != [sha1.Size]byte(sum) {
		return nil, errIndex
	}
	r := indexReader{rest: body[len(indexMagic):]}
	d := r.dir(0)
	if r.bad || len(r.rest) > 0 {
		return nil, errIndex
	}
	return d, nil
}

func (r *indexReader) dir(depth int) *dir {
	d := &dir{}
	if tree := r.oid(); tree != (oid{}) {
		d.tree.Store(&tree)
		d.treeStored.Store(true)
	}
	n := r.number()
	if n > uint64(len(r.rest)) || depth > 2*maxDepth {
		r.bad = true
		return d
	}
	d.items = make([]item, 0, n)
	for range n {
		it := item{name: string(r.bytes(r.number())), mode: uint32(r.number())}
		if flags := r.bytes(1); !r.bad {
			it.flags = itemFlags(flags[0])
		}
		if it.mode == 0 {
			it.sub = r.dir(depth + 1)
		} else {
			it.id = r.oid()
			it.stat = stat{size: r.signed(), mtime: r.signed(), ctime: r.signed()}
			it.stat.inode, it.stat.perm = r.number(), uint32(r.number())
		}
		if r.bad {
			return d
		}
		d.items = append(d.items, it)
	}
	return d
}

func (r *indexReader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *indexReader) oid() (id oid) {
	copy(id[:], r.bytes(uint64(len(id))))
	return id
}

func (r *indexReader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// signed reads a number whose lowest bit is its sign.
func (r *indexReader) signed() int64 {
	v := r.number()
	return int64(v>>1) ^ -int64(v&1)
}

// readIndexes returns the known state of the last process: from its final index, or from the last save
// if it was killed.
func (t *sharedTree) readIndexes() (*dir, error) {
	best := t.path(indexFile)
	info, err := os.Stat(best)
	last := time.Time{}
	if err == nil {
		last = info.ModTime()
	}
	for _, dead := range t.deadIndexes() {
		if info, err := os.Stat(dead); err == nil && info.ModTime().After(last) {
			best, last = dead, info.ModTime()
		}
	}
	known, err := readIndex(best)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return known, err
}

// deadIndexes lists the indexes of killed processes.
func (t *sharedTree) deadIndexes() []string {
	lives, _ := os.ReadDir(t.path(liveDir)) // a missing directory means no process
	var dead []string
	for _, e := range lives {
		if name, ok := strings.CutSuffix(e.Name(), indexSuffix); ok && isDead(t.path(liveDir, name)) {
			dead = append(dead, t.path(liveDir, e.Name()))
		}
	}
	return dead
}

// isDead reports whether the process that locked a file is gone. A missing file was removed by its
// owner.
func isDead(file string) bool {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return filelock.TryLock(f) == nil
}

// seed loads the state of the project's own index.
func (t *sharedTree) seed() *dir {
	staged := t.project.index()
	root := &builder{}
	for i := range staged.list {
		e := &staged.list[i]
		id, ok := e.ID.SHA1()
		if !ok || e.Unmerged || e.IntentToAdd {
			continue
		}
		if e.Mode == modeTree {
			t.seedTree(root, strings.TrimSuffix(e.Path, "/"), id, 0)
			continue
		}
		switch e.Mode {
		case modeFile, modeExec, modeLink, modeRepo:
			it := item{mode: e.Mode, id: id}
			if e.Skip {
				it.flags = pinned
			}
			root.add(e.Path, it)
		}
	}
	return root.dir()
}

// seedTree adds all files of a tree that a sparse index names only as a whole.
func (t *sharedTree) seedTree(root *builder, prefix string, id oid, depth int) {
	entries, err := t.objects.readTree(id)
	if err != nil || depth > maxDepth {
		return
	}
	for _, e := range entries {
		path := join(prefix, e.name)
		if e.mode == modeTree {
			t.seedTree(root, path, e.id, depth+1)
		} else {
			root.add(path, item{mode: e.mode, id: e.id, flags: pinned})
		}
	}
}

// builder makes directories from sorted paths.
type builder struct {
	items []item
	name  string   // name of the open subdirectory
	below *builder // nil if no subdirectory is open
}

func (b *builder) add(path string, it item) {
	name, rest, more := strings.Cut(path, "/")
	if b.below != nil && (!more || name != b.name) {
		b.close()
	}
	if !more {
		it.name = name
		b.items = append(b.items, it)
		return
	}
	if b.below == nil {
		b.below, b.name = &builder{}, name
	}
	b.below.add(rest, it)
}

func (b *builder) close() {
	b.items = append(b.items, item{name: b.name, sub: b.below.dir()})
	b.below = nil
}

func (b *builder) dir() *dir {
	if b.below != nil {
		b.close()
	}
	d := &dir{items: b.items}
	slices.SortFunc(d.items, func(a, b item) int { return strings.Compare(a.name, b.name) })
	return d
}
