package editor

// left is the place before p, over line breaks.
func (b *buffer) left(p pos) pos {
	if p.off > 0 {
		return pos{p.line, b.lines[p.line].prev(p.off)}
	}
	if p.line == 0 {
		return p
	}
	return pos{p.line - 1, len(b.lines[p.line-1].text)}
}

// right is the place behind p, over line breaks.
func (b *buffer) right(p pos) pos {
	if l := b.lines[p.line]; p.off < len(l.text) {
		return pos{p.line, l.next(p.off)}
	}
	if p.line+1 == len(b.lines) {
		return p
	}
	return pos{p.line + 1, 0}
}

// isWord reports whether a word, or a token, stands behind p.
func (b *buffer) isWord(p pos) bool {
	l := b.lines[p.line]
	return p.off < len(l.text) && l.isWord(p.off)
}

// wordRight is the end of the word at or behind p. A token is a word for itself.
func (b *buffer) wordRight(p pos) pos {
	end := b.end()
	for p != end && !b.isWord(p) {
		p = b.right(p)
	}
	for first := true; p != end && b.isWord(p); first = false {
		if _, tok := b.lines[p.line].tokenAround(p.off); tok {
			if first {
				return b.right(p)
			}
			return p
		}
		p = b.right(p)
	}
	return p
}

// wordLeft is the start of the word before p.
func (b *buffer) wordLeft(p pos) pos {
	var start pos
	for p != start && !b.isWord(b.left(p)) {
		p = b.left(p)
	}
	for first := true; p != start; first = false {
		q := b.left(p)
		if !b.isWord(q) || q.line != p.line {
			return p
		}
		if _, tok := b.lines[q.line].tokenAround(q.off); tok {
			if first {
				return q
			}
			return p
		}
		p = q
	}
	return p
}

// up is the place a row above p, at a column; false at the first row.
func (pn *pane) up(p pos, x int) (pos, bool) {
	l := pn.lineAt(p)
	row := l.rowOf(p.off, pn.width)
	n := p.line
	if row--; row < 0 {
		if n == 0 {
			return p, false
		}
		n--
		l = pn.buf.lines[n]
		row = len(l.wrapped(pn.width)) - 1
	}
	off := l.atColumn(row, pn.width, x)
	if t, ok := l.tokenAround(off); ok && t.at < off {
		off = t.at
	}
	return pos{n, off}, true
}

// down is the place a row below p, at a column; false at the last row.
func (pn *pane) down(p pos, x int) (pos, bool) {
	l := pn.lineAt(p)
	row := l.rowOf(p.off, pn.width)
	n := p.line
	if row++; row >= len(l.wrapped(pn.width)) {
		if n+1 == len(pn.buf.lines) {
			return p, false
		}
		n++
		l, row = pn.buf.lines[n], 0
	}
	off := l.atColumn(row, pn.width, x)
	if t, ok := l.tokenAround(off); ok && t.at < off {
		off = t.end()
	}
	return pos{n, off}, true
}

// rowHome is the start of the row of p.
func (pn *pane) rowHome(p pos) pos {
	l := pn.lineAt(p)
	from, _, _ := l.rowRange(l.rowOf(p.off, pn.width), pn.width)
	if t, ok := l.tokenAround(from); ok && t.at < from {
		from = t.at
	}
	return pos{p.line, from}
}

// rowEnd is the last place of the row of p.
func (pn *pane) rowEnd(p pos) pos {
	l := pn.lineAt(p)
	_, to, last := l.rowRange(l.rowOf(p.off, pn.width), pn.width)
	if last {
		return pos{p.line, to}
	}
	if t, ok := l.tokenAround(to); ok && t.at < to {
		return pos{p.line, t.at}
	}
	return pos{p.line, max(p.off, l.prev(to))}
}

// targetColumn is the column that up and down keep to.
func (pn *pane) targetColumn() int {
	if pn.goalColumn >= 0 {
		return pn.goalColumn
	}
	return pn.columnOf(pn.cursor)
}

// columnOf is the cell of a place in its row.
func (pn *pane) columnOf(p pos) int {
	l := pn.lineAt(p)
	from, _, _ := l.rowRange(l.rowOf(p.off, pn.width), pn.width)
	return l.column(from, p.off)
}
