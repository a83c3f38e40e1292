package editor

import (
	"slices"
	"unicode/utf8"
)

// wrapped returns the start of each row of the line, for a width in cells. A space may hang over the end of
// a row by one cell, which is reserved for the cursor.
func (l *line) wrapped(width int) []int {
	width = max(width, 1)
	if l.width != width {
		l.rows, l.width = l.wrapFrom(0, width, nil, nil), width
	}
	return l.rows
}

// wrapFrom adds the rows from off on, where one begins. It stops early where meet says that the rest is known.
func (l *line) wrapFrom(off, width int, rows []int, meet func(start int) bool) []int {
	for {
		if meet != nil && meet(off) {
			return rows
		}
		rows = append(rows, off)
		n, more := l.rowEnd(off, width)
		if !more {
			return rows
		}
		off = n
	}
}

// rowEnd returns where the row that begins at off ends, and whether another one follows.
func (l *line) rowEnd(off, width int) (end int, more bool) {
	r := rowScan{line: l, off: off, width: width, at: off, breakAt: -1}
	for r.at < len(l.text) {
		if len(l.toks) == 0 {
			if r.at, r.used = l.runEnd(r.at, r.used, width); r.at == len(l.text) {
				break
			}
		}
		if !r.take() {
			if r.breakAt <= off {
				r.breakAt = r.at
			}
			return max(r.breakAt, l.leastEnd(off)), true
		}
	}
	return len(l.text), r.used > width
}

// rowScan fills one row of a line.
type rowScan struct {
	*line
	off, width int
	at, used   int
	breakAt    int // where the row may end, -1 for nowhere yet
	tokenEnd   int // of the token that was entered last
}

// take takes one character; false says that it does not fit.
func (r *rowScan) take() bool {
	n, w, space := r.step(r.at)
	r.enterToken()
	inside := n < r.tokenEnd
	w = min(w, r.width)
	wide := w > 1 && !inside // texts of scripts without spaces may break anywhere
	switch {
	case space && !inside && r.used <= r.width && w == 1:
		r.used, r.at, r.breakAt = r.used+1, n, n
	case r.used+w > r.width:
		if wide && r.at > r.off && r.at >= r.tokenEnd {
			r.breakAt = r.at
		}
		return false
	default:
		r.used, r.at = r.used+w, n
		if wide || r.at == r.tokenEnd {
			r.breakAt = r.at
		}
	}
	return true
}

// enterToken notes where a token ends that begins here. The row may end before it.
func (r *rowScan) enterToken() {
	if r.at < r.tokenEnd || len(r.toks) == 0 {
		return
	}
	if p, ok := r.tokenAround(r.at); ok && p.at == r.at {
		r.tokenEnd = p.end()
		if r.at > r.off {
			r.breakAt = r.at
		}
	}
}

// runEnd goes over letters of ASCII, of which long lines are made, as far as the row goes.
func (l *line) runEnd(at, used, width int) (end, cells int) {
	text := l.text[at:min(len(l.text), at+max(0, width-used)+1)]
	n := 0
	for n+1 < len(text) && text[n] > ' ' && text[n] < 0x7f && text[n+1] < utf8.RuneSelf {
		n++
	}
	return at + n, used + n
}

// leastEnd is behind the first character of a row, so that every row has one.
func (l *line) leastEnd(off int) int {
	n, _, _ := l.step(off)
	return n
}

// step goes over one character, also inside of tokens, and tells its width.
func (l *line) step(at int) (next, width int, space bool) {
	c := l.text[at]
	if c < utf8.RuneSelf && (at+1 == len(l.text) || l.text[at+1] < utf8.RuneSelf) {
		if c == '\t' {
			return at + 1, cells("\t"), false
		}
		return at + 1, 1, c == ' '
	}
	n := at + cluster(l.text[at:])
	if p, ok := l.firstTokenIn(at, n); ok {
		n = p.at
	}
	if p, ok := l.tokenAround(at); ok && n > p.end() {
		n = p.end()
	}
	return n, cells(l.text[at:n]), n == at+1 && c == ' '
}

// rewrap makes the rows of a line that was changed from the rows it had: of the old one, from..to became from..end
// of this one. Only what lies around the change is looked at, and what follows until it meets the old rows.
func (l *line) rewrap(old *line, from, to, end int) {
	if old.width == 0 {
		return
	}
	l.width = old.width
	i, found := slices.BinarySearch(old.rows, from)
	if !found {
		i--
	}
	i = max(0, i-2) // a word may go back to the row before, and a row before that may have waited for it
	rows := make([]int, 0, len(old.rows)+1)
	rows = append(rows, old.rows[:i]...)
	moved, k := end-to, 0
	met := false
	rows = l.wrapFrom(old.rows[i], l.width, rows, func(start int) bool {
		if start < end+2*mostCluster {
			return false
		}
		for k < len(old.rows) && old.rows[k]+moved < start {
			k++
		}
		met = k < len(old.rows) && old.rows[k]+moved == start
		return met
	})
	if met {
		for _, r := range old.rows[k:] {
			rows = append(rows, r+moved)
		}
	}
	l.rows = rows
}

// rowOf finds the row in which a place lies.
func (l *line) rowOf(off, width int) int {
	i, found := slices.BinarySearch(l.wrapped(width), off)
	if !found {
		i--
	}
	return max(i, 0)
}

// rowRange returns from where to where a row goes; last tells that the line ends with it.
func (l *line) rowRange(row, width int) (from, to int, last bool) {
	rows := l.wrapped(width)
	if row+1 < len(rows) {
		return rows[row], rows[row+1], false
	}
	return rows[row], len(l.text), true
}

// column is how many cells lie between the start of a row and a place in it.
func (l *line) column(from, off int) int {
	n := 0
	for from < off {
		next, w, _ := l.step(from)
		from, n = next, n+w
	}
	return n
}

// atColumn finds the byte of a row that is at or just before a cell. Where a row begins inside of a token, that
// may be no place.
func (l *line) atColumn(row, width, x int) int {
	from, to, last := l.rowRange(row, width)
	at, used := from, 0
	for at < to {
		n := l.next(at)
		w := l.column(at, min(n, to))
		if used+w > x {
			if w > 1 && x-used > w/2 && (n < to || last && n <= to) {
				return n // the nearer side of something wide
			}
			return at
		}
		if n >= to && !last {
			return at // the rest belongs to the next row
		}
		used, at = used+w, n
	}
	return at
}
