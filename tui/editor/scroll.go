package editor

// scroll moves the first row so that the cursor shows and no room is wasted, and notes where the cursor is. It
// looks at no more rows than fit.
func (e *Editor) scroll() {
	if e.top.line >= len(e.buf.lines) {
		e.top = e.buf.end()
	}
	e.top = e.rowStart(pos{e.top.line, min(e.top.off, len(e.lineAt(e.top).text))})
	at := e.rowStart(e.cursor)
	if at.before(e.top) {
		e.top = at
	} else if least := e.climb(at, e.height-1); e.top.before(least) {
		e.top = least
	}
	below, y := 0, 0
	for p, ok := e.top, true; ok && below < e.height; p, ok = e.rowBelow(p) {
		if p == at {
			y = below
		}
		below++
	}
	for ; below < e.height; below++ {
		p, ok := e.rowAbove(e.top)
		if !ok {
			break
		}
		e.top, y = p, y+1
	}
	e.caretX, e.caretY = gutter+min(e.columnOf(e.cursor), e.width), y
}

// rowStart is the first byte of the row of a place.
func (e *Editor) rowStart(p pos) pos {
	l := e.lineAt(p)
	from, _, _ := l.rowRange(l.rowOf(p.off, e.width), e.width)
	return pos{p.line, from}
}

// rowAbove is the start of the row above one that begins at p.
func (e *Editor) rowAbove(p pos) (pos, bool) {
	l := e.lineAt(p)
	if row := l.rowOf(p.off, e.width); row > 0 {
		return pos{p.line, l.wrapped(e.width)[row-1]}, true
	}
	if p.line == 0 {
		return p, false
	}
	rows := e.buf.lines[p.line-1].wrapped(e.width)
	return pos{p.line - 1, rows[len(rows)-1]}, true
}

// rowBelow is the start of the row below one that begins at p.
func (e *Editor) rowBelow(p pos) (pos, bool) {
	l := e.lineAt(p)
	if _, to, last := l.rowRange(l.rowOf(p.off, e.width), e.width); !last {
		return pos{p.line, to}, true
	}
	if p.line+1 == len(e.buf.lines) {
		return p, false
	}
	return pos{p.line + 1, 0}, true
}

// climb goes up so many rows, or as many as there are.
func (e *Editor) climb(p pos, rows int) pos {
	for ; rows > 0; rows-- {
		q, ok := e.rowAbove(p)
		if !ok {
			break
		}
		p = q
	}
	return p
}

// Click puts the cursor where the last View was clicked.
func (e *Editor) Click(x, y int) Out {
	e.scroll() // the text may have changed since
	p := e.top
	for ; y > 0; y-- {
		q, ok := e.rowBelow(p)
		if !ok {
			break
		}
		p = q
	}
	l := e.lineAt(p)
	off := l.atColumn(l.rowOf(p.off, e.width), e.width, max(0, x-gutter))
	if t, ok := l.tokenAround(off); ok && t.at < off {
		off = t.end()
	}
	e.moveTo(pos{p.line, off})
	return e.looked(false)
}

// Wheel moves the cursor by rows, and with it what shows.
func (e *Editor) Wheel(rows int) Out {
	x := e.aim()
	p, moved := e.cursor, false
	for step := rows; step != 0; {
		var ok bool
		if step < 0 {
			p, ok = e.up(p, x)
			step++
		} else {
			p, ok = e.down(p, x)
			step--
		}
		if !ok {
			break
		}
		moved = true
	}
	if !moved {
		return NotHandled{}
	}
	e.moveTo(p)
	e.goal = x
	return e.looked(false)
}
