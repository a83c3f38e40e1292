package editor

import "strings"

// text is the edited text with a cursor, a selection and an undo log.
type text struct {
	buf          buffer
	cursor       pos
	anchor       pos // other end of the selection
	hasSelection bool
	visual       span // selection of vi, which the cursor is in; empty for none
	goalColumn   int  // column that up and down aim at; -1 is the cursor's
	undoLog      undoLog
}

// span is a part of the text.
type span struct{ from, to pos }

// IsEmpty reports whether there is no text at all.
func (tx *text) IsEmpty() bool { return tx.buf.size == 0 }

// Text returns the text with tokens as they are shown.
func (tx *text) Text() string { return tx.buf.text() }

// selection returns the two ends in order; both are the cursor where nothing is selected.
func (tx *text) selection() (from, to pos) {
	switch {
	case !tx.hasSelection:
		return tx.cursor, tx.cursor
	case tx.anchor.before(tx.cursor):
		return tx.anchor, tx.cursor
	default:
		return tx.cursor, tx.anchor
	}
}

// moveTo puts the cursor somewhere and selects nothing.
func (tx *text) moveTo(p pos) {
	tx.cursor, tx.hasSelection, tx.goalColumn = p, false, -1
	tx.undoLog.settle()
}

// insert puts lines in place of the selection, or at the cursor.
func (tx *text) insert(lines []*line) {
	from, to := tx.selection()
	tx.edit(from, to, lines)
}

// edit changes the text so that it can be undone.
func (tx *text) edit(from, to pos, with []*line) {
	before := tx.cursor
	removed, end := tx.buf.replace(from, to, with)
	// Inserted text may combine with its neighbors into one character.
	at := pos{end.line, tx.buf.lines[end.line].snap(end.off)}
	tx.undoLog.add(change{at: from, end: end, removed: removed, added: with, before: before, after: at})
	tx.cursor, tx.hasSelection, tx.goalColumn = at, false, -1
}

// editAlone is edit with a step of undo for itself.
func (tx *text) editAlone(from, to pos, with []*line) {
	tx.undoLog.settle()
	tx.edit(from, to, with)
	tx.undoLog.settle()
}

// putToken puts a token and a space at the cursor.
func (tx *text) putToken(t *Token) {
	from, to := tx.selection()
	tx.putTokenAt(from, to, t)
}

// putTokenAt replaces a range with a token. A space follows it, so that typing does not touch the token.
func (tx *text) putTokenAt(from, to pos, t *Token) {
	l := &line{text: t.Text, toks: []placed{{0, t}}}
	rest := tx.buf.lines[to.line].text[to.off:]
	if rest == "" || rest[0] != ' ' || cluster(rest) > 1 {
		l.text += " "
	}
	tx.editAlone(from, to, []*line{l})
	if len(l.text) == len(t.Text) { // over the space that is there
		tx.cursor.off++
	}
}

// tokens lists those of the text in order.
func (tx *text) tokens() []*Token {
	var out []*Token
	for _, l := range tx.buf.lines {
		for _, p := range l.toks {
			out = append(out, p.tok)
		}
	}
	return out
}

// lineAt is the line of a place.
func (tx *text) lineAt(p pos) *line { return tx.buf.lines[p.line] }

// countMedia counts the attachments of a type, to number them.
func (tx *text) countMedia(mime string) (n int) {
	for _, t := range tx.tokens() {
		if strings.HasPrefix(t.Mime, mime) {
			n++
		}
	}
	return n
}

// markTo moves the cursor and extends the selection.
func (tx *text) markTo(p pos) {
	if !tx.hasSelection {
		tx.anchor, tx.hasSelection = tx.cursor, true
	}
	tx.cursor = p
	tx.hasSelection = tx.cursor != tx.anchor
	tx.undoLog.settle()
}

// isBlank reports whether there is nothing to send.
func (tx *text) isBlank() bool {
	for _, l := range tx.buf.lines {
		if strings.TrimSpace(l.text) != "" {
			return false
		}
	}
	return true
}

// undo reverts the last edit, with all others of its group.
func (tx *text) undo() {
	p := &tx.undoLog
	k := len(p.done) - 1
	if k < 0 {
		return
	}
	c := p.done[k]
	if k > 0 && c.group != 0 && p.done[k-1].group == c.group {
		defer tx.undo()
	}
	p.done, p.weight, p.open = p.done[:k], p.weight-c.weight(), false
	p.undone = append(p.undone, c)
	tx.buf.replace(c.at, c.end, c.removed)
	tx.cursor, tx.hasSelection, tx.goalColumn = c.before, false, -1
}

// redo does it again.
func (tx *text) redo() {
	p := &tx.undoLog
	k := len(p.undone) - 1
	if k < 0 {
		return
	}
	c := p.undone[k]
	if k > 0 && c.group != 0 && p.undone[k-1].group == c.group {
		defer tx.redo()
	}
	p.undone = p.undone[:k]
	from := c.at
	to := pos{from.line + len(c.removed) - 1, len(c.removed[len(c.removed)-1].text)}
	if len(c.removed) == 1 {
		to.off += from.off
	}
	tx.buf.replace(from, to, c.added)
	p.done = append(p.done, c)
	p.weight, p.open = p.weight+c.weight(), false
	tx.cursor, tx.hasSelection, tx.goalColumn = c.after, false, -1
}

// selectedIn returns the selected range of a line; past its end includes the line break.
func (tx *text) selectedIn(n int) (from, to int) {
	a, b := tx.visual.from, tx.visual.to
	if tx.hasSelection {
		a, b = tx.selection()
	}
	if a == b {
		return 0, 0
	}
	if n < a.line || n > b.line {
		return 0, 0
	}
	from, to = 0, len(tx.buf.lines[n].text)+1
	if n == a.line {
		from = a.off
	}
	if n == b.line {
		to = b.off
	}
	return from, to
}
