package editor

// scroll moves the first row so that the cursor is visible and no row stays empty, and records the cursor position. It
// visits no more rows than fit.
func (pn *pane) scroll() {
	if pn.top.line >= len(pn.buf.lines) {
		pn.top = pn.buf.end()
	}
	pn.top = pn.rowStart(pos{pn.top.line, min(pn.top.off, len(pn.lineAt(pn.top).text))})
	at := pn.rowStart(pn.cursor)
	if at.before(pn.top) {
		pn.top = at
	} else if least := pn.climb(at, pn.height-1); pn.top.before(least) {
		pn.top = least
	}
	below, y := 0, 0
	for p, ok := pn.top, true; ok && below < pn.height; p, ok = pn.rowBelow(p) {
		if p == at {
			y = below
		}
		below++
	}
	for ; below < pn.height; below++ {
		p, ok := pn.rowAbove(pn.top)
		if !ok {
			break
		}
		pn.top, y = p, y+1
	}
	pn.caretX, pn.caretY = gutter+min(pn.columnOf(pn.cursor), pn.width), y
}

// rowStart is the first byte of the row of a place.
func (pn *pane) rowStart(p pos) pos {
	l := pn.lineAt(p)
	from, _, _ := l.rowRange(l.rowOf(p.off, pn.width), pn.width)
	return pos{p.line, from}
}

// rowAbove is the start of the row above one that begins at p.
func (pn *pane) rowAbove(p pos) (pos, bool) {
	l := pn.lineAt(p)
	if row := l.rowOf(p.off, pn.width); row > 0 {
		return pos{p.line, l.wrapped(pn.width)[row-1]}, true
	}
	if p.line == 0 {
		return p, false
	}
	rows := pn.buf.lines[p.line-1].wrapped(pn.width)
	return pos{p.line - 1, rows[len(rows)-1]}, true
}

// rowBelow is the start of the row below one that begins at p.
func (pn *pane) rowBelow(p pos) (pos, bool) {
	l := pn.lineAt(p)
	if _, to, last := l.rowRange(l.rowOf(p.off, pn.width), pn.width); !last {
		return pos{p.line, to}, true
	}
	if p.line+1 == len(pn.buf.lines) {
		return p, false
	}
	return pos{p.line + 1, 0}, true
}

// climb moves up by rows, as far as possible.
func (pn *pane) climb(p pos, rows int) pos {
	for ; rows > 0; rows-- {
		q, ok := pn.rowAbove(p)
		if !ok {
			break
		}
		p = q
	}
	return p
}

// Click puts the cursor where the last View was clicked.
func (e *Editor) Click(x, y int) Result {
	e.takeMatch()
	e.beforeChange()
	defer e.settleVi()
	e.scroll() // the text may have changed since
	p := e.top
	for y -= e.pad; y > 0; y-- {
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
	return e.updateSuggestions(false)
}

// Wheel moves the cursor by rows and scrolls.
func (e *Editor) Wheel(rows int) Result {
	x := e.targetColumn()
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
	e.goalColumn = x
	return e.updateSuggestions(false)
}
