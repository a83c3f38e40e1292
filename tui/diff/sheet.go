package diff

import (
	"slices"
	"strconv"

	"github.com/lathe-agent/lathe/tui/markdown"
	"github.com/lathe-agent/lathe/tui/style"
)

// Sheet lays out one file. Its rows are drawn on demand. Len, Row and Hunks take the
// same options; the numbering of rows depends on Split.
type Sheet struct {
	file  *File
	flat  []flatRow
	digit int  // of the longest line number
	whole bool // only added or only removed lines: a second column would be empty
	uni   []item
	pairs []item

	old, new markdown.Lexer // behind the rows that have been read
	lexed    []markdown.Lexer

	drawn map[int][]style.Line
	look  Options
}

// flatRow is a line with its numbers.
type flatRow struct {
	Row
	old, new int
	hunk     int
	mate     int // the line it was changed from or to, -1 if there is none
}

type itemKind uint8

const (
	itemLine itemKind = iota
	itemFile
	itemHunk
	itemNote
)

// item is a row of the sheet before it is wrapped: a line, or two side by side.
type item struct {
	kind        itemKind
	first       bool // of the hunks of a file
	left, right int  // in flat, -1 for none; of a hunk its number
	text        string
}

// maxDrawn is how many drawn rows are kept.
const maxDrawn = 2000

// NewSheet lays out a file. Its name tells the language.
func NewSheet(f *File) *Sheet {
	s := &Sheet{file: f}
	last := 1
	for h, hunk := range f.Hunks {
		old, now := hunk.Old, hunk.New
		for _, r := range hunk.Rows {
			s.flat = append(s.flat, flatRow{Row: r, old: old, new: now, hunk: h, mate: -1})
			old, now = old+b2i(r.Op == ' ' || r.Op == '-'), now+b2i(r.Op == ' ' || r.Op == '+')
		}
		last = max(last, old, now)
	}
	s.digit = len(strconv.Itoa(last))
	s.whole = !slices.ContainsFunc(s.flat, func(r flatRow) bool { return r.Op != '+' && r.Op != '\\' }) ||
		!slices.ContainsFunc(s.flat, func(r flatRow) bool { return r.Op != '-' && r.Op != '\\' })
	s.pairLines()
	return s
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pairLines brings removed lines together with those that were added in their place.
func (s *Sheet) pairLines() {
	for i := 0; i < len(s.flat); {
		if s.flat[i].Op != '-' {
			i++
			continue
		}
		gone, come := s.runs(i)
		for k := range min(gone, come) {
			s.flat[i+k].mate, s.flat[i+gone+k].mate = i+gone+k, i+k
		}
		i += gone + come
	}
}

// runs counts the lines that are removed from i on, and those that are added behind them.
func (s *Sheet) runs(i int) (gone, come int) {
	run := func(from int, op byte) (n int) {
		for from+n < len(s.flat) && s.flat[from+n].Op == op && s.flat[from+n].hunk == s.flat[i].hunk {
			n++
		}
		return n
	}
	gone = run(i, '-')
	return gone, run(i+gone, '+')
}

// Len is how many rows there are, wrapped ones counted once.
func (s *Sheet) Len(o Options) int { return len(s.items(o)) }

// Height is how many lines Row gives for row i. Where nothing is wrapped it costs nothing.
func (s *Sheet) Height(i int, o Options) int {
	if !o.Wrap && s.items(o)[i].kind != itemNote {
		return 1
	}
	return len(s.Row(i, o))
}

// Hunks returns the rows at which hunks begin.
func (s *Sheet) Hunks(o Options) []int {
	var out []int
	for i, it := range s.items(o) {
		if it.kind == itemHunk {
			out = append(out, i)
		}
	}
	return out
}

// split reports whether the file is drawn in two columns. New and deleted files never are.
func (s *Sheet) split(o Options) bool { return o.split() && !s.whole }

// items returns the layout for one or two columns. Each is computed once, on first use.
func (s *Sheet) items(o Options) []item {
	if s.split(o) {
		if s.pairs == nil {
			s.pairs = s.layout(s.layPairs)
		}
		return s.pairs
	}
	if s.uni == nil {
		s.uni = s.layout(s.layLines)
	}
	return s.uni
}

// layout lists the rows: the head of the file, its hunks, and each hunk's lines in one of two ways.
func (s *Sheet) layout(hunk func(from, to int) []item) []item {
	out := []item{{kind: itemFile}}
	note := ""
	switch {
	case s.file.Binary:
		note = "Binary file not shown"
	case len(s.file.Hunks) == 0 && (s.file.Status == Renamed || s.file.Status == Copied):
		note = "No lines changed, only the name"
	case len(s.file.Hunks) == 0:
		note = "No lines changed"
	}
	if note != "" {
		out = append(out, item{kind: itemNote, text: note})
	}
	at := 0
	for h, hk := range s.file.Hunks {
		out = append(out, item{kind: itemHunk, first: h == 0, left: h})
		out = append(out, hunk(at, at+len(hk.Rows))...)
		at += len(hk.Rows)
	}
	return out
}

func (s *Sheet) layLines(from, to int) []item {
	out := make([]item, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, s.one(i))
	}
	return out
}

// one returns the item of a single line. An unchanged line is on both sides.
func (s *Sheet) one(i int) item {
	switch s.flat[i].Op {
	case '\\':
		return item{kind: itemNote, text: s.flat[i].Text}
	case '-':
		return item{left: i, right: -1}
	case '+':
		return item{left: -1, right: i}
	default:
		return item{left: i, right: i}
	}
}

// layPairs puts removed and added lines of a change side by side.
func (s *Sheet) layPairs(from, to int) []item {
	var out []item
	for i := from; i < to; {
		if op := s.flat[i].Op; op != '-' && op != '+' {
			out = append(out, s.one(i))
			i++
			continue
		}
		gone, come := s.runs(i)
		for k := range max(gone, come) {
			it := item{left: -1, right: -1}
			if k < gone {
				it.left = i + k
			}
			if k < come {
				it.right = i + gone + k
			}
			out = append(out, it)
		}
		i += gone + come
	}
	return out
}

// lexer returns where the colors of a line begin. Lines before it are read once.
func (s *Sheet) lexer(i int) markdown.Lexer {
	for k := len(s.lexed); k <= i; k++ {
		r := &s.flat[k]
		if k == 0 || r.hunk != s.flat[k-1].hunk {
			s.old = markdown.NewLexer(s.file.Path())
			s.new = s.old
		}
		switch r.Op {
		case '-':
			s.lexed = append(s.lexed, s.old)
			s.old.Skip(r.Text)
		case '+':
			s.lexed = append(s.lexed, s.new)
			s.new.Skip(r.Text)
		default:
			s.lexed = append(s.lexed, s.new)
			if r.Op != ' ' {
				continue
			}
			same := s.old.Same(s.new)
			s.new.Skip(r.Text)
			if same {
				s.old = s.new
			} else {
				s.old.Skip(r.Text)
			}
		}
	}
	return s.lexed[i]
}
