package editor

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
)

// changeKey takes the keys that delete, undo and redo; false when it is none.
func (e *Editor) changeKey(k tea.KeyPressMsg) bool {
	name, ok := e.keys.First(k, key.InputBackspace, key.InputDelete, key.InputDeleteWordBackward, key.InputDeleteWordForward,
		key.InputDeleteToLineEnd, key.InputDeleteToLineStart, key.InputDeleteLine, key.InputUndo, key.InputRedo)
	if !ok {
		return false
	}
	switch name {
	case key.InputUndo:
		e.undo()
		return true
	case key.InputRedo:
		e.redo()
		return true
	case key.InputDeleteLine:
		e.deleteLine()
		return true
	}
	if e.IsEmpty() {
		return name == key.InputBackspace // others are free for whoever wants them
	}
	if e.marked {
		from, to := e.selection()
		e.remove(from, to)
		return true
	}
	to := e.reach(name)
	if to.before(e.cursor) {
		e.remove(to, e.cursor)
	} else {
		e.remove(e.cursor, to)
	}
	return true
}

// reach is how far a key deletes.
func (e *Editor) reach(name key.Name) pos {
	p := e.cursor
	switch name {
	case key.InputBackspace:
		return e.buf.left(p)
	case key.InputDelete:
		return e.buf.right(p)
	case key.InputDeleteWordBackward:
		return e.buf.wordLeft(p)
	case key.InputDeleteWordForward:
		return e.buf.wordRight(p)
	case key.InputDeleteToLineEnd:
		if end := len(e.lineAt(p).text); p.off < end {
			return pos{p.line, end}
		}
		return e.buf.right(p)
	case key.InputDeleteToLineStart:
		if p.off > 0 {
			return pos{p.line, 0}
		}
		return e.buf.left(p)
	default:
		return p
	}
}

// remove takes a stretch out.
func (e *Editor) remove(from, to pos) {
	if from != to {
		e.edit(from, to, plain(""))
	}
}

// deleteLine takes the line of the cursor out, with its break.
func (e *Editor) deleteLine() {
	n := e.cursor.line
	from, to := pos{n, 0}, pos{n, len(e.buf.lines[n].text)}
	switch {
	case n+1 < len(e.buf.lines):
		to = pos{n + 1, 0}
	case n > 0:
		from = e.buf.left(from)
	}
	e.past.settle()
	e.remove(from, to)
}
