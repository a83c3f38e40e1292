package snapshot

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace/search"
)

// dir is the known state of one directory. It is immutable, so a root is a state of the whole tree, and
// comparing two states skips equal parts.
type dir struct {
	items []item // sorted by name
	// above are the ignore rules of the parent, and rules those in effect here; nil before the first
	// walk.
	above, rules *search.GitRules

	tree       atomic.Pointer[oid] // its tree ID, once requested
	treeStored atomic.Bool         // that tree and all below are stored
}

// item is an entry of a directory.
type item struct {
	name  string
	sub   *dir   // of a directory
	mode  uint32 // git's mode; 0 for directories and skipped entries
	id    oid    // of the content
	stat  stat
	flags itemFlags
}

type itemFlags uint8

const (
	racy       itemFlags = 1 << iota // may have changed without a change of its stat
	lost                             // content not stored: too large
	pinned                           // not checked out, which is no deletion
	ignored                          // skipped because of a rule
	folder                           // skipped, and a directory
	unfiltered                       // set by a tool, whatever the ignore rules say
)

func (it *item) isFile() bool        { return it != nil && it.sub == nil && it.mode != 0 }
func (it *item) passed() bool        { return it != nil && it.sub == nil && it.mode == 0 }
func (it *item) is(f itemFlags) bool { return it.flags&f != 0 }

// state returns the state of the item's path.
func (it *item) state() state {
	switch {
	case it == nil || it.sub != nil:
		return state{}
	case it.mode == 0:
		return state{Lost: true}
	case it.is(lost):
		return state{Mode: it.mode, Perm: it.stat.perm, Lost: true}
	}
	return state{Mode: it.mode, Perm: it.stat.perm, ID: it.id.hex()}
}

// find returns the position of a name, or where it would be.
func (d *dir) find(name string) (int, bool) {
	if d == nil {
		return 0, false
	}
	return slices.BinarySearchFunc(d.items, name, func(it item, name string) int { return strings.Compare(it.name, name) })
}

func (d *dir) get(name string) *item {
	if i, ok := d.find(name); ok {
		return &d.items[i]
	}
	return nil
}

// at returns the item at a path with slashes. Depth is the number of known parent directories.
func (d *dir) at(path string) (it *item, depth int) {
	for {
		name, rest, more := strings.Cut(path, "/")
		it = d.get(name)
		if !more {
			return it, depth
		}
		if it == nil || it.sub == nil {
			if it.passed() {
				return it, depth // entries below are unknown
			}
			return nil, depth
		}
		d, path = it.sub, rest
		depth++
	}
}

// with returns the directory with another item at a path. An item without mode and directory removes the
// path.
func (d *dir) with(path string, it item) *dir {
	name, rest, more := strings.Cut(path, "/")
	if more {
		old := d.get(name)
		var below *dir
		flags := unfiltered
		if old != nil && old.sub != nil {
			below, flags = old.sub, old.flags
		}
		if below == nil && it.mode == 0 && it.sub == nil {
			return d
		}
		it = item{sub: below.with(rest, it), flags: flags}
	}
	it.name = name
	next := &dir{}
	if d != nil {
		next.above, next.rules = d.above, d.rules
	}
	i, found := d.find(name)
	switch gone := it.mode == 0 && it.sub == nil; {
	case gone && !found:
		return d
	case gone:
		next.items = slices.Concat(d.items[:i], d.items[i+1:])
	case found:
		next.items = slices.Clone(d.items)
		next.items[i] = it
	case d == nil:
		next.items = []item{it}
	default:
		next.items = make([]item, 0, len(d.items)+1)
		next.items = append(append(append(next.items, d.items[:i]...), it), d.items[i:]...)
	}
	return next
}

// compare calls differ for each path whose file differs between two states of a tree. It compares an
// item below a skipped directory with that directory.
func compare(a, b *dir, prefix string, differ func(path string, a, b *item)) {
	if a == b {
		return
	}
	i, j := 0, 0
	for i < a.len() || j < b.len() {
		var x, y *item
		order := 0
		switch {
		case j >= b.len():
			order = -1
		case i >= a.len():
			order = 1
		default:
			order = strings.Compare(a.items[i].name, b.items[j].name)
		}
		if order <= 0 {
			x = &a.items[i]
			i++
		}
		if order >= 0 {
			y = &b.items[j]
			j++
		}
		compareItems(x, y, prefix, differ)
	}
}

func (d *dir) len() int {
	if d == nil {
		return 0
	}
	return len(d.items)
}

func compareItems(x, y *item, prefix string, differ func(path string, a, b *item)) {
	path := prefix + cmp.Or(x, y).name
	var before, after *dir
	if x != nil {
		before = x.sub
	}
	if y != nil {
		after = y.sub
	}
	if before == nil && after == nil {
		if !sameItem(x, y) {
			differ(path, x, y)
		}
		return
	}
	inner := differ
	switch { // a skipped directory may have held anything
	case x.passed():
		inner = func(path string, _, b *item) { differ(path, x, b) }
	case y.passed():
		inner = func(path string, a, _ *item) { differ(path, a, y) }
	case before == nil && x != nil:
		differ(path, x, nil)
	case after == nil && y != nil:
		differ(path, nil, y)
	}
	compare(before, after, path+"/", inner)
}

// sameItem compares two states of one path, neither of them a directory.
func sameItem(x, y *item) bool {
	if x == nil || y == nil {
		return x == y
	}
	if x.mode != y.mode || x.is(lost) != y.is(lost) {
		return false
	}
	if x.is(lost) {
		return x.stat.size == y.stat.size && x.stat.mtime == y.stat.mtime
	}
	return x.id == y.id
}

// keepTree stores the directory and all below as trees, and returns its ID. A directory without files
// has none.
func (o *objects) keepTree(d *dir) (oid, error) {
	if d == nil {
		return oid{}, nil
	}
	if id := d.tree.Load(); id != nil && d.treeStored.Load() {
		return *id, nil
	}
	type line struct {
		name string // with a slash after directories, as git sorts
		mode uint32
		id   oid
	}
	lines := make([]line, 0, len(d.items))
	for i := range d.items {
		it := &d.items[i]
		switch {
		case it.sub != nil:
			id, err := o.keepTree(it.sub)
			if err != nil {
				return oid{}, err
			}
			if id != (oid{}) {
				lines = append(lines, line{it.name + "/", modeTree, id})
			}
		case it.mode != 0 && !it.is(lost):
			lines = append(lines, line{it.name, it.mode, it.id})
		}
	}
	if len(lines) == 0 {
		d.tree.Store(&oid{})
		d.treeStored.Store(true)
		return oid{}, nil
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.name, b.name) })
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(strconv.FormatUint(uint64(l.mode), 8))
		b.WriteByte(' ')
		b.WriteString(strings.TrimSuffix(l.name, "/"))
		b.WriteByte(0)
		b.Write(l.id[:])
	}
	id := hashObject(gitobj.TreeKind, b.Bytes())
	if !o.repo.has(id) {
		if err := o.keep(id, gitobj.TreeKind, b.Bytes()); err != nil {
			return oid{}, err
		}
	}
	d.tree.Store(&id)
	d.treeStored.Store(true)
	return id, nil
}

// keepRoot is keepTree for a whole worktree, which has an ID even if it is empty.
func (o *objects) keepRoot(d *dir) (string, error) {
	id, err := o.keepTree(d)
	if err == nil && id == (oid{}) {
		id, err = o.put(gitobj.TreeKind, nil)
	}
	if err != nil {
		return "", err
	}
	return id.String(), nil
}
