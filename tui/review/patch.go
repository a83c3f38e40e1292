package review

import (
	"slices"

	"github.com/lathe-agent/lathe/tui/diff"
	"github.com/lathe-agent/lathe/tui/style"
)

// place is a row of the screen in the whole change. Rows are counted within a file, so that hidden files
// need not be parsed.
type place struct {
	file int
	row  int // of the file's sheet; 0 is its head, one behind the last is the empty row below
	sub  int // where row is wrapped
}

// sheet lays a file out when one comes to it.
func (sh *sheets) sheet(i int) *diff.Sheet {
	f := &sh.files[i]
	if f.sheet != nil {
		return f.sheet
	}
	d := diff.File{New: f.File, Old: f.File, Status: diff.Modified}
	if all := diff.Parse(f.Patch); len(all) > 0 {
		d = all[0]
	}
	if d.Path() == "" {
		d.New = f.File
	}
	switch diff.Status(f.Status) {
	case diff.Added, diff.Deleted:
		d.Status = diff.Status(f.Status)
	}
	f.sheet = diff.NewSheet(&d)
	return f.sheet
}

// length is how many rows a file has, with the empty one below it.
func (sh *sheets) length(i int, o diff.Options) int {
	if sh.files[i].folded && !sh.single {
		return 2
	}
	return sh.sheet(i).Len(o) + 1
}

// rows are the rows of the screen for a row of a sheet.
func (sh *sheets) rows(p place, o diff.Options) []style.Line {
	if p.row >= sh.length(p.file, o)-1 {
		return []style.Line{nil}
	}
	return sh.sheet(p.file).Row(p.row, o)
}

// rowHeight is how many rows of the screen a row of a sheet takes.
func (sh *sheets) rowHeight(p place, o diff.Options) int {
	if p.row >= sh.length(p.file, o)-1 {
		return 1
	}
	return sh.sheet(p.file).Height(p.row, o)
}

// next goes one row of the screen down; false at the end.
func (sh *sheets) next(p place, o diff.Options) (place, bool) {
	switch {
	case p.sub+1 < sh.rowHeight(p, o):
		p.sub++
	case p.row+1 < sh.length(p.file, o):
		p.row, p.sub = p.row+1, 0
	case sh.single || p.file+1 == len(sh.files):
		return p, false
	default:
		p = place{file: p.file + 1}
	}
	return p, true
}

// previous goes one row up; false at the beginning.
func (sh *sheets) previous(p place, o diff.Options) (place, bool) {
	switch {
	case p.sub > 0:
		p.sub--
		return p, true
	case p.row > 0:
		p.row--
	case sh.single || p.file == 0:
		return p, false
	default:
		p.file--
		p.row = sh.length(p.file, o) - 1
	}
	p.sub = sh.rowHeight(p, o) - 1
	return p, true
}

// measure is how patches were drawn by the last View: how far a key goes depends on it.
func (lay *layout) measure() diff.Options {
	if lay.theme == nil {
		lay.theme = style.Default(true)
	}
	return lay.options(lay.theme, lay.patchWidth())
}

// jump goes to a place, and the tree follows.
func (r *Review) jump(to place) {
	if len(r.files) == 0 {
		return
	}
	if to.row == 0 {
		to.row = 1 // the head stands above anyway
	}
	r.at = to
	r.tree.follow(to.file)
	r.tree.show(r.bodyHeight())
}

// scroll moves by rows of the screen, not beyond the last page.
func (r *Review) scroll(n int) {
	o := r.measure()
	p := r.at
	if n < -farAway {
		p, n = place{file: p.file}, 0
		if !r.single {
			p.file = 0
		}
	}
	for ; n < 0; n++ {
		p = r.up(p, o)
	}
	if n > 0 {
		end := r.lastPage(o)
		if n > farAway && p.before(end) {
			p, n = end, 0
		}
		for ; n > 0 && p.before(end); n-- {
			p, _ = r.next(p, o)
			p.row = max(p.row, 1)
		}
	}
	r.jump(p)
}

// farAway is more rows than anyone scrolls: it means the end.
const farAway = 1 << 20

// before reports whether p comes before q.
func (p place) before(q place) bool {
	return p.file < q.file || p.file == q.file && (p.row < q.row || p.row == q.row && p.sub < q.sub)
}

// up goes one row up. Heads are passed over: that of the uppermost file always stands above.
func (sh *sheets) up(p place, o diff.Options) place {
	up, ok := sh.previous(p, o)
	if ok && up.row == 0 {
		up, ok = sh.previous(up, o)
	}
	if !ok {
		return p
	}
	return up
}

// lastPage is the place from which on everything just fits the screen.
func (r *Review) lastPage(o diff.Options) place {
	p := place{file: len(r.files) - 1}
	if r.single {
		p.file = r.at.file
	}
	p.row = r.length(p.file, o) - 1
	for ok, n := true, r.bodyHeight()-2; n > 0 && ok; n-- {
		p, ok = r.previous(p, o)
	}
	p.row = max(p.row, 1)
	return p
}

func (r *Review) previousFile() {
	to := r.at.file
	if r.at.row <= 1 && r.at.sub == 0 {
		to = max(to-1, 0)
	}
	r.jump(place{file: to})
}

// jumpHunk goes to the next hunk, or with -1 to the one before.
func (r *Review) jumpHunk(step int) {
	o := r.measure()
	for f := r.at.file; f >= 0 && f < len(r.files); f += step {
		hunks := r.sheet(f).Hunks(o)
		if step < 0 {
			slices.Reverse(hunks)
		}
		for _, h := range hunks {
			if f != r.at.file || (h-r.at.row)*step > 0 {
				r.files[f].folded = false
				r.jump(place{file: f, row: h})
				return
			}
		}
	}
}

// fold shows only the head of a file's patch, or all of it again.
func (r *Review) fold(i int) {
	r.files[i].folded = !r.files[i].folded
	if i == r.at.file {
		r.jump(place{file: i})
	}
}

// toggleSplit changes between one column and two. It stays at the same hunk.
func (r *Review) toggleSplit() {
	o := r.measure()
	k := 0
	for i, h := range r.sheet(r.at.file).Hunks(o) {
		if h <= r.at.row {
			k = i
		}
	}
	r.opt.Split, r.splitChosen = !r.split(o.Width), true
	if now := r.sheet(r.at.file).Hunks(r.measure()); r.at.row > 1 && k < len(now) {
		r.jump(place{file: r.at.file, row: now[k]})
		return
	}
	r.jump(place{file: r.at.file})
}
