package review

import (
	"cmp"
	"slices"
	"strings"
)

// tree is the left side: folders and files, of which some are seen.
type tree struct {
	nodes   []node
	byFile  []int // the node of each file
	visible []int // nodes outside of folders that are closed
	cursor  int   // in seen
	top     int
}

type node struct {
	name   string
	depth  int
	file   int // -1 for a folder
	parent int // -1 for none
	closed bool
}

// newTree brings the files into the order of their folders and makes the tree of them. Folders with nothing
// but a folder in them are one.
func newTree(files []file) tree {
	was := slices.Clone(files)
	order := make([]int, len(files)) // numbers are cheaper to move than files
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(comparePaths(was[a].File, was[b].File), a-b) })
	for i, k := range order {
		files[i] = was[k]
	}
	t := tree{byFile: make([]int, len(files))}
	var open []int // folders from the outermost
	var path []string
	for i, f := range files {
		parts := strings.Split(f.File, "/")
		dirs := parts[:len(parts)-1]
		same := 0
		for same < len(path) && same < len(dirs) && path[same] == dirs[same] {
			same++
		}
		path, open = path[:same:same], open[:same:same]
		for _, d := range dirs[same:] {
			t.nodes = append(t.nodes, node{name: d, depth: len(open), file: -1, parent: last(open)})
			open, path = append(open, len(t.nodes)-1), append(path, d)
		}
		t.byFile[i] = len(t.nodes)
		t.nodes = append(t.nodes, node{name: parts[len(parts)-1], depth: len(open), file: i, parent: last(open)})
	}
	t.join()
	t.updateVisible()
	return t
}

// comparePaths orders paths folder by folder.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

func last(s []int) int {
	if len(s) == 0 {
		return -1
	}
	return s[len(s)-1]
}

// join makes one of folders that have only each other.
func (t *tree) join() {
	children := make([]int, len(t.nodes))
	for _, n := range t.nodes {
		if n.parent >= 0 {
			children[n.parent]++
		}
	}
	moved := make([]int, len(t.nodes)) // where each node went
	var out []node
	for i, n := range t.nodes {
		if n.parent >= 0 {
			only := children[n.parent] == 1
			n.parent = moved[n.parent]
			if only && n.file < 0 {
				out[n.parent].name += "/" + n.name
				moved[i] = n.parent
				continue
			}
			n.depth = out[n.parent].depth + 1
		}
		moved[i] = len(out)
		out = append(out, n)
	}
	for i := range t.byFile {
		t.byFile[i] = moved[t.byFile[i]]
	}
	t.nodes = out
}

// updateVisible lists the nodes outside of closed folders.
func (t *tree) updateVisible() {
	t.visible = t.visible[:0]
	hidden := 1 << 30 // deeper than this lies in a closed folder
	for i, n := range t.nodes {
		if n.depth > hidden {
			continue
		}
		hidden = 1 << 30
		t.visible = append(t.visible, i)
		if n.file < 0 && n.closed {
			hidden = n.depth
		}
	}
	t.cursor = max(0, min(t.cursor, len(t.visible)-1))
}

func (t *tree) current() *node { return &t.nodes[t.visible[t.cursor]] }

// follow puts the cursor on a file, or on the folder in which it is hidden.
func (t *tree) follow(file int) {
	want := t.byFile[file]
	for {
		if at, ok := slices.BinarySearch(t.visible, want); ok {
			t.cursor = at
			return
		}
		want = t.nodes[want].parent
	}
}

// show scrolls so that the cursor is seen.
func (t *tree) show(height int) {
	t.top = max(t.cursor-height+1, min(t.top, t.cursor))
}

func (r *Review) walkTree(n int) {
	t := &r.tree
	t.cursor = max(0, min(t.cursor+n, len(t.visible)-1))
	t.show(r.bodyHeight())
	if f := t.current().file; f >= 0 {
		r.at = place{file: f, row: 1}
	}
}

// toggle opens or closes the selected folder or patch.
func (r *Review) toggle() {
	if !r.inTree {
		r.fold(r.at.file)
		return
	}
	n := r.tree.current()
	if r.enter(n) {
		return
	}
	n.closed = !n.closed
	r.tree.updateVisible()
}

// enter goes from the tree to the patch of a file; a folder has none.
func (r *Review) enter(n *node) bool {
	if n.file < 0 {
		return false
	}
	r.jump(place{file: n.file})
	r.inTree = false
	return true
}

// expand opens a folder or a patch; on an open folder it moves into it.
func (r *Review) expand() {
	if !r.inTree {
		r.files[r.at.file].folded = false
		return
	}
	n := r.tree.current()
	if r.enter(n) {
		return
	}
	if !n.closed {
		r.walkTree(1)
		return
	}
	n.closed = false
	r.tree.updateVisible()
}

// collapse closes a folder; on a file or a closed folder it goes to the folder around it.
func (r *Review) collapse() {
	if !r.inTree {
		if !r.files[r.at.file].folded {
			r.fold(r.at.file)
		}
		return
	}
	n := r.tree.current()
	if n.file < 0 && !n.closed {
		n.closed = true
		r.tree.updateVisible()
		return
	}
	if at, ok := slices.BinarySearch(r.tree.visible, n.parent); ok {
		r.tree.cursor = at
		r.tree.show(r.bodyHeight())
	}
}

// expandAll opens everything; where everything is open, it closes all folders.
func (r *Review) expandAll() {
	open := true
	for i := range r.tree.nodes {
		open = open && !r.tree.nodes[i].closed
	}
	for i := range r.files {
		open = open && !r.files[i].folded
	}
	for i := range r.tree.nodes {
		r.tree.nodes[i].closed = open && r.tree.nodes[i].file < 0
	}
	for i := range r.files {
		r.files[i].folded = false
	}
	r.tree.updateVisible()
	r.tree.follow(r.at.file)
	r.tree.show(r.bodyHeight())
}
