// Package review is the diff viewer: a tree of changed files at the left, their patches at the right. It owns
// the position in a change, the collapsed files and the reviewed files. The root loads the
// changes.
//
// Only visible patches are parsed and drawn, so a change of thousands of
// files opens at once. Everything belongs to one goroutine. Start with Key and View; tree.go is the left side,
// patch.go the right.
package review

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/diff"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Options are fixed for a viewer.
type Options struct {
	Keys  *key.Map
	Split bool // two columns if the width allows it, until the user toggles it
	Wrap  bool // wrap long lines
}

// Result is the follow-up action of the root.
type Result int

// The results of a key or a click.
const (
	NotHandled   Result = iota
	Handled             // redraw
	Close               // leave the viewer
	SwitchSource        // show another change: call Loading, then Set
)

// Review is the viewer. Make one with New.
type Review struct {
	sheets
	layout
	source string
	note   string // shown instead of files

	tree     tree
	at       place
	added    int
	removed  int
	reviewed int
	help     bool
	hits     []place // by row of the last View
}

// sheets are the patches of all files, as rows one below the other.
type sheets struct {
	files  []file
	single bool // only one of them shows
}

// layout is how tree and patches share the screen.
type layout struct {
	opt         Options
	hideTree    bool
	inTree      bool
	splitChosen bool // the user chose one or two columns

	theme         *style.Theme // of the last View, as are the sizes; nil before the first
	width, height int
}

// file is one file of the change. Its sheet is made when it is first seen.
type file struct {
	lathe.FileDiff
	sheet            *diff.Sheet
	folded, reviewed bool
}

// New opens a viewer that waits for a change.
func New(o Options) *Review {
	r := &Review{layout: layout{opt: o, width: 80, height: 24}}
	r.Loading("")
	return r
}

// Loading says that a change is being read.
func (r *Review) Loading(source string) { r.Fail(source, "Loading changes …") }

// Fail says that there is no change to show, and why.
func (r *Review) Fail(source, why string) {
	r.source, r.note, r.files, r.tree = source, why, nil, tree{}
	r.at, r.added, r.removed, r.reviewed = place{}, 0, 0, 0
}

// Set shows a change. Reviewed files stay reviewed if their patch is the same.
func (r *Review) Set(source string, files []lathe.FileDiff) {
	was := map[string]file{}
	for _, f := range r.files {
		was[f.File] = f
	}
	here := ""
	if len(r.files) > 0 && source == r.source {
		here = r.files[r.at.file].File
	}
	r.Fail(source, "")
	if len(files) == 0 {
		r.note = "No changes."
		return
	}
	r.files = make([]file, len(files))
	for i, f := range files {
		r.files[i].FileDiff = f
		if o := was[f.File]; o.reviewed && o.Patch == f.Patch {
			r.files[i].reviewed, r.files[i].folded = true, true
			r.reviewed++
		}
		r.added, r.removed = r.added+f.Additions, r.removed+f.Deletions
	}
	r.tree = newTree(r.files)
	r.jump(place{})
	r.Open(here)
}

// File is the file one is at, "" without any.
func (r *Review) File() string {
	if len(r.files) == 0 {
		return ""
	}
	return r.files[r.at.file].File
}

// Open goes to a file of the change, if it is there.
func (r *Review) Open(path string) {
	if i := slices.IndexFunc(r.files, func(f file) bool { return f.File == path }); i >= 0 {
		r.jump(place{file: i})
	}
}

// Key takes a key.
func (r *Review) Key(k tea.KeyPressMsg) Result {
	if r.help {
		r.help = false
		return Handled
	}
	if name, ok := r.opt.Keys.First(k, key.DiffClose, key.DiffSwitchSource, key.DiffHelp); ok {
		switch name {
		case key.DiffClose:
			return Close
		case key.DiffSwitchSource:
			return SwitchSource
		}
		r.help = true
		return Handled
	}
	if len(r.files) == 0 {
		return NotHandled
	}
	if r.command(k) || r.move(k) {
		return Handled
	}
	return NotHandled
}

// command takes the keys that have names.
func (r *Review) command(k tea.KeyPressMsg) bool {
	name, ok := r.opt.Keys.First(k, key.DiffToggle, key.DiffExpand, key.DiffExpandAll, key.DiffCollapse, key.DiffSwitchFocus,
		key.DiffNextHunk, key.DiffPreviousHunk, key.DiffNextFile, key.DiffPreviousFile, key.DiffToggleFileTree,
		key.DiffSinglePatch, key.DiffToggleView)
	if !ok {
		if k.String() == "m" {
			r.mark()
			return true
		}
		return false
	}
	switch name {
	case key.DiffToggle:
		r.toggle()
	case key.DiffExpand:
		r.expand()
	case key.DiffCollapse:
		r.collapse()
	case key.DiffExpandAll:
		r.expandAll()
	case key.DiffSwitchFocus:
		r.inTree = !r.inTree && !r.hideTree
	case key.DiffNextHunk:
		r.jumpHunk(1)
	case key.DiffPreviousHunk:
		r.jumpHunk(-1)
	case key.DiffNextFile:
		r.jump(place{file: min(r.at.file+1, len(r.files)-1)})
	case key.DiffPreviousFile:
		r.previousFile()
	case key.DiffToggleFileTree:
		r.hideTree = !r.hideTree
		r.inTree = r.inTree && !r.hideTree
	case key.DiffSinglePatch:
		r.single = !r.single
	case key.DiffToggleView:
		r.toggleSplit()
	}
	return true
}

// move takes the keys that go up and down, which are the same everywhere.
func (r *Review) move(k tea.KeyPressMsg) bool {
	page := max(r.bodyHeight()-2, 1)
	n := 0
	switch k.String() {
	case "up", "k":
		n = -1
	case "down", "j":
		n = 1
	case "pgup":
		n = -page
	case "pgdown":
		n = page
	case "ctrl+u":
		n = -page / 2
	case "ctrl+d":
		n = page / 2
	case "home", "g":
		n = -1 << 30
	case "end", "G", "shift+g":
		n = 1 << 30
	default:
		return false
	}
	if r.inTree {
		r.walkTree(n)
	} else {
		r.scroll(n)
	}
	return true
}

// Wheel scrolls the pane at column x, up if negative.
func (r *Review) Wheel(x, dy int) {
	if len(r.files) == 0 || r.help {
		return
	}
	if r.overTree(x) {
		r.tree.top = max(0, min(r.tree.top+dy, len(r.tree.visible)-r.bodyHeight()))
		return
	}
	r.scroll(dy)
}

// Click takes a click: on a file or a folder of the tree, or on the head of a patch, which folds it.
func (r *Review) Click(x, y int) Result {
	if r.help {
		r.help = false
		return Handled
	}
	y-- // below the title
	if len(r.files) == 0 || y < 0 || y >= r.bodyHeight() {
		return NotHandled
	}
	if r.overTree(x) {
		i := r.tree.top + y
		if i >= len(r.tree.visible) {
			return NotHandled
		}
		r.tree.cursor, r.inTree = i, true
		r.toggle()
		return Handled
	}
	r.inTree = false
	if y < len(r.hits) && r.hits[y].row == 0 && r.hits[y].file >= 0 {
		r.fold(r.hits[y].file)
	}
	return Handled
}

// mark marks a file as reviewed, collapses it and moves to the next; or removes the mark.
func (r *Review) mark() {
	f := &r.files[r.at.file]
	f.reviewed = !f.reviewed
	f.folded = f.reviewed
	if !f.reviewed {
		r.reviewed--
		return
	}
	r.reviewed++
	next := slices.IndexFunc(r.files[r.at.file:], func(f file) bool { return !f.reviewed })
	if next < 0 {
		next = slices.IndexFunc(r.files, func(f file) bool { return !f.reviewed }) - r.at.file
	}
	if to := r.at.file + next; to >= 0 {
		r.jump(place{file: to})
	}
}

func (lay *layout) options(th *style.Theme, width int) diff.Options {
	return diff.Options{Theme: th, Width: width, Split: lay.split(width), Wrap: lay.opt.Wrap}
}

// split reports whether patches are in two columns at a width. A user who asked for it gets it at any readable
// width; otherwise only on a wide screen.
func (lay *layout) split(width int) bool {
	return lay.opt.Split && (lay.splitChosen || width >= minSplit)
}

const minSplit = 100
