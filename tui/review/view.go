package review

import (
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/tui/diff"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// minBoth is the width below which the tree and the patches are shown in turns.
const minBoth = 60

// bodyHeight is the height between the title and the hints.
func (lay *layout) bodyHeight() int { return max(lay.height-2, 1) }

func (lay *layout) treeWidth() int {
	switch {
	case lay.hideTree || lay.width < minBoth && !lay.inTree:
		return 0
	case lay.width < minBoth:
		return lay.width
	default:
		return min(max(lay.width/4, 22), 40)
	}
}

func (lay *layout) patchWidth() int {
	w := lay.treeWidth()
	if w == 0 || w == lay.width { // alone, or hidden by the tree: then it will have the whole width
		return lay.width
	}
	return lay.width - w - 1
}

func (lay *layout) overTree(x int) bool { return x < lay.treeWidth() }

// View draws the viewer, exactly as large as asked.
func (r *Review) View(th *style.Theme, width, height int) []style.Line {
	r.theme, r.width, r.height = th, max(width, 1), max(height, 3)
	body := r.bodyHeight()
	r.clamp()
	var rows []style.Line
	switch {
	case r.help:
		rows = r.helpRows(th)
	case len(r.files) == 0:
		rows = append([]style.Line{nil}, style.Of(r.note, style.Fg(th.TextMuted)).Wrap(r.width, nil)...)
	default:
		rows = r.panes(th, body)
	}
	out := append([]style.Line{r.title(th)}, style.Block(rows, r.width, body, style.Color{})...)
	return style.Block(append(out, r.hints(th)), r.width, r.height, th.Background)
}

// clamp keeps the position valid, since a new width may have changed the number of rows.
func (r *Review) clamp() {
	if len(r.files) == 0 {
		return
	}
	o := r.measure()
	r.at.row = min(r.at.row, r.length(r.at.file, o)-1)
	r.at.sub = min(r.at.sub, r.rowHeight(r.at, o)-1)
	r.tree.top = max(0, min(r.tree.top, len(r.tree.visible)-r.bodyHeight()))
}

// panes draws the tree and the patches side by side, or only one of them.
func (r *Review) panes(th *style.Theme, height int) []style.Line {
	tw := r.treeWidth()
	if tw == r.width {
		return r.treeRows(th, tw, height)
	}
	patch := r.patchRows(th, height)
	if tw == 0 {
		return patch
	}
	left := style.Block(r.treeRows(th, tw, height), tw, height, style.Color{})
	bar := style.Span{Text: "│", Attr: style.Fg(th.BorderSubtle)}
	out := make([]style.Line, height)
	for y := range out {
		out[y] = append(append(left[y], bar), patch[y]...)
	}
	return out
}

// patchRows draws the head of the current file and the rows from the current position.
func (r *Review) patchRows(th *style.Theme, height int) []style.Line {
	o := r.options(th, r.patchWidth())
	out := make([]style.Line, height)
	r.hits = make([]place, height)
	for y := range r.hits {
		r.hits[y].file = -1
	}
	out[0], r.hits[0] = r.headRow(r.at.file, o), place{file: r.at.file}
	p, ok := r.at, true
	for y := 1; y < height && ok; y++ {
		r.hits[y] = p
		if p.row == 0 {
			out[y] = r.headRow(p.file, o)
		} else if rows := r.rows(p, o); p.sub < len(rows) {
			out[y] = rows[p.sub]
		}
		p, ok = r.next(p, o)
	}
	return out
}

// headRow is the head of a patch, with a mark if it is reviewed.
func (r *Review) headRow(i int, o diff.Options) style.Line {
	f := &r.files[i]
	var l style.Line
	if f.reviewed {
		l = l.Add("✓ ", style.Fg(o.Theme.Success))
	}
	l = append(l, r.sheet(i).Row(0, o)[0]...)
	if f.folded && !r.single {
		l = l.Add(" ⋯", style.Fg(o.Theme.TextMuted))
	}
	bg := o.Theme.BackgroundPanel
	if i == r.at.file && !r.inTree {
		bg, l = o.Theme.BackgroundElement, l.With(bold)
	}
	return l.Truncate(o.Width).On(bg).Fit(o.Width, style.Attr{BG: bg})
}

// bold marks the current file also where its ground is not seen.
func bold(a style.Attr) style.Attr { a.Bold = true; return a }

// treeRows draws the visible rows of the tree. The cursor stays faintly visible while the patches have the focus.
func (r *Review) treeRows(th *style.Theme, width, height int) []style.Line {
	t := &r.tree
	var out []style.Line
	for i := t.top; i < min(t.top+height, len(t.visible)); i++ {
		n := &t.nodes[t.visible[i]]
		l := r.treeRow(n, th, width)
		switch {
		case i == t.cursor && r.inTree:
			l = l.With(func(a style.Attr) style.Attr { a.FG, a.BG = th.SelectedText, th.Primary; return a })
		case i == t.cursor:
			l = l.On(th.BackgroundElement).With(bold)
		}
		out = append(out, l)
	}
	return out
}

// treeRow is a folder, or a file with its line counts.
func (r *Review) treeRow(n *node, th *style.Theme, width int) style.Line {
	indent := strings.Repeat(" ", min(n.depth, max(width/2-4, 0)))
	if n.file < 0 {
		sign := "▾ "
		if n.closed {
			sign = "▸ "
		}
		return style.Of(indent+sign, style.Fg(th.TextMuted)).Add(n.name+"/", style.Fg(th.TextMuted)).Fit(width, style.Attr{})
	}
	f := &r.files[n.file]
	mark, c := "  ", th.Text
	switch {
	case f.reviewed:
		mark, c = "✓ ", th.TextMuted
	case f.Status == string(diff.Added):
		mark, c = "+ ", th.DiffAdded
	case f.Status == string(diff.Deleted):
		mark, c = "- ", th.DiffRemoved
	}
	stat := diff.Counts(th, f.Additions, f.Deletions)
	l := style.Of(indent+mark+n.name, style.Fg(c))
	room := width - stat.Width()
	if room < 10 {
		return l.Fit(width, style.Attr{})
	}
	return append(l.Fit(room, style.Attr{}), stat...)
}

// title shows the source and the totals.
func (r *Review) title(th *style.Theme) style.Line {
	muted := style.Fg(th.TextMuted)
	l := style.Of("Changes", style.Bold(th.Primary))
	if r.source != "" {
		l = l.Add(" · "+r.source, style.Fg(th.Text))
	}
	if n := len(r.files); n > 0 {
		l = l.Add(" · "+style.Plural(n, "file"), muted).Add(" +"+strconv.Itoa(r.added), style.Fg(th.DiffAdded)).
			Add(" −"+strconv.Itoa(r.removed), style.Fg(th.DiffRemoved))
		if r.reviewed > 0 {
			l = l.Add(" · "+strconv.Itoa(r.reviewed)+" reviewed", muted)
		}
	}
	return l.Truncate(r.width)
}

// hints are the keys of most use; those that do not fit are left away.
func (r *Review) hints(th *style.Theme) style.Line {
	var l style.Line
	if len(r.files) == 0 {
		return r.hint(r.hint(l, key.DiffClose, "close", th), key.DiffSwitchSource, "switch source", th)
	}
	view := "two columns"
	if r.split(r.patchWidth()) {
		view = "one column"
	}
	for _, h := range []struct {
		name key.Name
		word string
	}{
		{key.DiffClose, "close"},
		{key.DiffHelp, "all keys"},
		{key.DiffNextFile, "next file"},
		{key.DiffNextHunk, "next hunk"},
		{"", "reviewed"},
		{key.DiffSwitchSource, "switch source"},
		{key.DiffToggleView, view},
		{key.DiffSwitchFocus, "tree or patch"},
	} {
		l = r.hint(l, h.name, h.word, th)
	}
	return l
}

// hint adds a key hint if it fits the width.
func (lay *layout) hint(l style.Line, name key.Name, word string, th *style.Theme) style.Line {
	label := "m"
	if name != "" {
		label = lay.opt.Keys.Label(name)
	}
	if label == "" {
		return l
	}
	longer := l[:len(l):len(l)]
	if len(l) > 0 {
		longer = longer.Add("  ", style.Attr{})
	}
	longer = append(longer, th.Hint(label, word)...)
	if longer.Width() > lay.width {
		return l
	}
	return longer
}

// helpRows lists all keys.
func (lay *layout) helpRows(th *style.Theme) []style.Line {
	both := func(a, b key.Name) string { return lay.opt.Keys.Label(a) + " " + lay.opt.Keys.Label(b) }
	label := lay.opt.Keys.Label
	out := []style.Line{nil}
	for _, h := range [][2]string{
		{both(key.DiffNextFile, key.DiffPreviousFile), "next and previous file"},
		{both(key.DiffNextHunk, key.DiffPreviousHunk), "next and previous hunk"},
		{"up down", "move; also pgup, pgdown, home, end"},
		{label(key.DiffSwitchFocus), "switch between the tree and the patches"},
		{label(key.DiffToggle), "open a file or folder, collapse a patch"},
		{both(key.DiffCollapse, key.DiffExpand), "close and open a folder"},
		{label(key.DiffExpandAll), "open everything, or close all folders"},
		{"m", "mark the file as reviewed, go to the next"},
		{label(key.DiffSinglePatch), "one file, or all files"},
		{label(key.DiffToggleView), "one column or two"},
		{label(key.DiffToggleFileTree), "show or hide the tree"},
		{label(key.DiffSwitchSource), "switch between session, prompt, uncommitted and branch changes"},
		{label(key.DiffClose), "close"},
	} {
		column := min(13, lay.width/2)
		l := style.Of(" "+h[0], style.Fg(th.Primary)).Fit(column, style.Attr{}).Add(" "+h[1], style.Fg(th.Text))
		out = append(out, l.Wrap(lay.width, style.Line{{Text: strings.Repeat(" ", column+1)}})...)
	}
	return out
}
