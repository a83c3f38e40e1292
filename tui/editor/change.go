package editor

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
)

// changeKey handles the keys that delete, undo and redo; false for others.
func (pn *pane) changeKey(k tea.KeyPressMsg) bool {
	name, ok := pn.keys.First(k, key.InputBackspace, key.InputDelete, key.InputDeleteWordBackward, key.InputDeleteWordForward,
		key.InputDeleteToLineEnd, key.InputDeleteToLineStart, key.InputDeleteLine, key.InputUndo, key.InputRedo)
	if !ok {
		return false
	}
	switch name {
	case key.InputUndo:
		pn.undo()
		return true
	case key.InputRedo:
		pn.redo()
		return true
	case key.InputDeleteLine:
		pn.deleteLine()
		return true
	}
	if pn.IsEmpty() {
		return name == key.InputBackspace // others fall through
	}
	if pn.hasSelection {
		from, to := pn.selection()
		pn.remove(from, to)
		return true
	}
	to := pn.reach(name)
	if to.before(pn.cursor) {
		pn.remove(to, pn.cursor)
	} else {
		pn.remove(pn.cursor, to)
	}
	return true
}

// reach is how far a key deletes.
func (tx *text) reach(name key.Name) pos {
	p := tx.cursor
	switch name {
	case key.InputBackspace:
		return tx.buf.left(p)
	case key.InputDelete:
		return tx.buf.right(p)
	case key.InputDeleteWordBackward:
		return tx.buf.wordLeft(p)
	case key.InputDeleteWordForward:
		return tx.buf.wordRight(p)
	case key.InputDeleteToLineEnd:
		if end := len(tx.lineAt(p).text); p.off < end {
			return pos{p.line, end}
		}
		return tx.buf.right(p)
	case key.InputDeleteToLineStart:
		if p.off > 0 {
			return pos{p.line, 0}
		}
		return tx.buf.left(p)
	default:
		return p
	}
}

// remove takes a stretch out.
func (tx *text) remove(from, to pos) {
	if from != to {
		tx.edit(from, to, plain(""))
	}
}

// breakLine replaces a backslash before the cursor at the end of a line by a line break, for terminals that report no
// other key for it; false when there is none. Two of them are text.
func (tx *text) breakLine() bool {
	p := tx.cursor
	before, ok := strings.CutSuffix(tx.lineAt(p).text, `\`)
	if !ok || tx.hasSelection || p.off != len(before)+1 || strings.HasSuffix(before, `\`) {
		return false
	}
	tx.editAlone(pos{p.line, len(before)}, p, plain("\n"))
	return true
}

// deleteLine takes the line of the cursor out, with its break.
func (tx *text) deleteLine() {
	n := tx.cursor.line
	from, to := pos{n, 0}, pos{n, len(tx.buf.lines[n].text)}
	switch {
	case n+1 < len(tx.buf.lines):
		to = pos{n + 1, 0}
	case n > 0:
		from = tx.buf.left(from)
	}
	tx.undoLog.settle()
	tx.remove(from, to)
}
