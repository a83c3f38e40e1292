package snapshot

import (
	"os"
	"slices"
	"strings"
)

// reachability marks referenced objects and counts the bytes of newly marked ones.
type reachability struct {
	dir   *worktreeDir
	bytes int64
	mine  []oid
}

func (m *reachability) object(id oid) bool {
	o, ok := m.dir.objects[id]
	if !ok || o.marked {
		return false
	}
	o.marked = true
	m.dir.objects[id] = o
	m.bytes += o.size
	m.mine = append(m.mine, id)
	return true
}

// forget removes all marks that it set.
func (m *reachability) forget() {
	for _, id := range m.mine {
		o := m.dir.objects[id]
		o.marked = false
		m.dir.objects[id] = o
	}
}

func (m *reachability) tree(id oid) {
	if !m.object(id) {
		return
	}
	entries, err := m.dir.sharedTree.objects.readTree(id)
	if err != nil {
		return // an unreadable tree refers to nothing
	}
	for _, e := range entries {
		if e.mode == modeTree {
			m.tree(e.id)
		} else {
			m.object(e.id)
		}
	}
}

func (m *reachability) state(s state) {
	if id, ok := parseOID(s.ID); ok {
		m.object(id)
	}
}

func (m *reachability) record(r *record) {
	for _, f := range append(slices.Clone(r.Files), r.Running...) {
		for _, s := range f.Changes {
			m.state(s.Before)
			m.state(s.After)
		}
	}
	for _, tree := range [...]string{r.Before, r.After} {
		if id, ok := parseOID(tree); ok {
			m.tree(id)
		}
	}
}

func (m *reachability) journal(file string) {
	for _, tr := range tracesIn(file) {
		if tr.open != nil {
			m.state(tr.open.Before)
		}
		for _, s := range tr.changes {
			m.state(s.Before)
			m.state(s.After)
		}
	}
}

func (m *reachability) index(file string) {
	if known, err := readIndex(file); err == nil {
		m.known(known)
	}
}

// known marks the objects of an index, and the trees that it assumes to be stored.
func (m *reachability) known(d *dir) {
	if id := d.tree.Load(); id != nil {
		m.object(*id)
	}
	for i := range d.items {
		if it := &d.items[i]; it.sub != nil {
			m.known(it.sub)
		} else if it.mode != 0 {
			m.object(it.id)
		}
	}
}

// markRoots marks what always stays: the indexes of live processes, running steps and interrupted undos.
func (h *worktreeDir) markRoots(m *reachability) {
	if h.live {
		m.index(h.path(indexFile))
	}
	lives, _ := os.ReadDir(h.path(liveDir))
	for _, e := range lives {
		if name, ok := strings.CutSuffix(e.Name(), indexSuffix); ok && !isDead(h.path(liveDir, name)) {
			m.index(h.path(liveDir, e.Name()))
		}
	}
	h.mu.Lock()
	known := h.sharedTree.known
	h.mu.Unlock()
	if known != nil {
		m.known(known)
	}
	journals, _ := os.ReadDir(h.path(openDir))
	for _, e := range journals {
		if file := h.path(openDir, e.Name()); !isDead(file) {
			m.journal(file)
		}
	}
	undos, _ := os.ReadDir(h.path(undoDir))
	for _, e := range undos {
		if r, err := readRecord(h.path(undoDir, e.Name())); err == nil && r != nil && len(r.Running) > 0 {
			m.record(r)
		}
	}
}
