// Package diff reads patches and draws them: unified or side by side, with line numbers, the colors of the
// language and the words that changed. It owns the layout of a patch on the screen. It does not
// trust the patches.
//
// Lines draws a whole patch, for blocks in a conversation. A Sheet draws single rows of one file when they are
// asked for, so that a viewer of a very large change draws only what is seen. Everything belongs to one
// goroutine. Start with Lines; parse.go reads, sheet.go lays out, row.go draws, word.go compares words.
package diff

import (
	"strconv"

	"github.com/lathe-agent/lathe/tui/style"
)

// Options is how a patch is shown.
type Options struct {
	Theme *style.Theme
	Width int
	Split bool // old and new side by side, where the width allows it
	Wrap  bool // wrap long lines; otherwise they are truncated
	Max   int  // rows at most, 0 for all
}

// minSplit is the width below which two sides cannot be read.
const minSplit = 60

func (o Options) split() bool { return o.Split && o.Width >= minSplit }

// Lines draws a patch. Files get a head where there are several. What is no patch is shown as it is.
func Lines(patch string, o Options) []style.Line {
	o.Width = max(o.Width, 1)
	files := Parse(patch)
	if len(files) == 0 {
		if patch == "" {
			return nil
		}
		return limitRows(style.WrapAll(style.Lines(patch, style.Fg(o.Theme.Text)), o.Width), 0, o)
	}
	var out []style.Line
	left := 0 // rows of the patch that are not drawn
	for i := range files {
		s := NewSheet(&files[i])
		for k := range s.Len(o) {
			it := s.items(o)[k]
			if it.kind == itemHunk && it.first || it.kind == itemFile && len(files) == 1 {
				continue
			}
			if o.Max > 0 && len(out) > o.Max {
				left++
				continue
			}
			if it.kind == itemFile && len(out) > 0 {
				out = append(out, nil)
			}
			out = append(out, s.Row(k, o)...)
		}
	}
	return limitRows(out, left, o)
}

// limitRows limits the rows; the last one then counts the rest.
func limitRows(rows []style.Line, left int, o Options) []style.Line {
	if o.Max <= 0 || len(rows)+left <= o.Max {
		return rows
	}
	left += len(rows) - (o.Max - 1)
	rows = rows[:o.Max-1]
	note := style.Of("… "+style.Plural(left, "more line"), style.Fg(o.Theme.TextMuted))
	return append(rows, note.Truncate(o.Width))
}

// Counts writes how many lines were added and removed, where there are any.
func Counts(th *style.Theme, added, removed int) (l style.Line) {
	if added > 0 {
		l = l.Add(" +"+strconv.Itoa(added), style.Fg(th.DiffAdded))
	}
	if removed > 0 {
		l = l.Add(" −"+strconv.Itoa(removed), style.Fg(th.DiffRemoved))
	}
	return l
}

// Stat counts the lines that a file gains and loses.
func Stat(f File) (added, removed int) {
	for _, h := range f.Hunks {
		for _, r := range h.Rows {
			switch r.Op {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}
