package editor

import (
	"slices"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/vim"
)

// viKeys edits the prompt with the keys of vi, if the user wants that.
type viKeys struct {
	on      bool
	machine vim.Machine[[]*line]
}

// SetVim turns the keys of vi on or off.
func (e *Editor) SetVim(on bool) {
	if e.vi.on != on {
		e.beforeChange()
		e.vi = viKeys{on: on}
	}
}

// VimMode returns the mode of vi and the keys of an incomplete command; "" when the keys of vi are off.
func (e *Editor) VimMode() (mode vim.Mode, pending string) {
	if !e.vi.on {
		return "", ""
	}
	return e.vi.machine.Mode(), e.vi.machine.Pending()
}

// viKey handles a key as vi does; nil for keys that mean the same as without vi.
func (e *Editor) viKey(k tea.KeyPressMsg) Result {
	m, t := &e.vi.machine, newViText(&e.text)
	if typed, ok := afterEscape(k); ok && m.Mode() == vim.Insert {
		m.Key("esc", t)
		e.sug.close()
		k = typed
	}
	name := viName(e.keys, k)
	if m.Mode() == vim.Insert && name != "esc" && name != "ctrl+[" {
		m.Key(name, t) // it remembers what is typed
		return nil
	}
	if m.Mode() != vim.Insert && !e.vi.takes(k, name) {
		e.vi.leave(t)
		return nil
	}
	e.sug.close()
	switch m.Key(name, t) {
	case vim.Pass:
		return nil
	case vim.Older:
		e.recall(1)
	case vim.Newer:
		e.recall(-1)
	case vim.Handled:
	}
	e.settleVi()
	if parts := m.TakeCopied(); len(parts) > 0 {
		return CopyText{textOf(parts)}
	}
	return Nothing{}
}

// afterEscape returns the key that was typed right after Esc. A slow connection delivers both at once, and terminals
// write Alt the same way.
func afterEscape(k tea.KeyPressMsg) (tea.KeyPressMsg, bool) {
	if k.Mod&^tea.ModShift != tea.ModAlt || !unicode.IsPrint(k.Code) || k.Code == ' ' {
		return k, false
	}
	k.Mod &^= tea.ModAlt
	r := k.Code
	if k.Mod.Contains(tea.ModShift) && k.ShiftedCode != 0 {
		r = k.ShiftedCode
	}
	k.Text = string(r)
	return k, true
}

// textOf is the text of pieces, with pastes in full.
func textOf(parts [][]*line) (out string) {
	for _, lines := range parts {
		tx := text{buf: newBuffer(lines)}
		out += tx.expand(0).text
	}
	return out
}

// viName names a key for the machine of vi.
func viName(keys *key.Map, k tea.KeyPressMsg) string {
	switch {
	case key.IsTyped(k):
		return k.Text
	case keys.Match(k, key.InputNewline):
		return "ctrl+j"
	case keys.Match(k, key.InputSubmit):
		return "enter"
	default:
		return k.String()
	}
}

// takes reports whether a key belongs to vi outside of insert mode. Others keep their meaning: they send the prompt,
// open the palette, move by rows.
func (v *viKeys) takes(k tea.KeyPressMsg, name string) bool {
	busy := v.machine.Pending() != "" || v.machine.Mode() != vim.Normal
	switch name {
	case "esc", "ctrl+[", "ctrl+r", "left", "right", "home", "end", "backspace", "delete":
		return true
	case "up", "down", "ctrl+c":
		return busy
	case "enter":
		return v.machine.Pending() != "" // r enter breaks a line
	default:
		return key.IsTyped(k)
	}
}

// leave drops an incomplete command and leaves visual mode.
func (v *viKeys) leave(t viText) {
	if v.machine.Mode() != vim.Insert {
		v.machine.Key("esc", t)
	}
}

// beforeChange ends what is about the text as it is, before something else changes it: the search and visual mode.
func (e *Editor) beforeChange() {
	e.endSearch()
	e.vi.leave(newViText(&e.text))
}

// settleVi puts the cursor onto a character, where normal mode has it.
func (e *Editor) settleVi() {
	if !e.vi.on || e.vi.machine.Mode() != vim.Normal || e.find.on || e.hasSelection {
		return
	}
	if l := e.lineAt(e.cursor); e.cursor.off == len(l.text) && e.cursor.off > 0 {
		e.cursor.off = l.prev(e.cursor.off)
	}
}

// viText is the text as vi sees it during one key: a token is one character.
type viText struct {
	tx    *text
	split map[*line]characters
}

// characters are where the characters of a line begin, and where the last one ends.
type characters struct {
	texts []string
	at    []int
}

func newViText(tx *text) viText { return viText{tx, map[*line]characters{}} }

// characters splits a line, once for each key.
func (v viText) characters(n int) characters {
	l := v.tx.buf.lines[n]
	c, ok := v.split[l]
	if !ok {
		c.at = []int{0}
		for off := 0; off < len(l.text); {
			next := l.next(off)
			c.texts, c.at = append(c.texts, l.text[off:next]), append(c.at, next)
			off = next
		}
		v.split[l] = c
	}
	return c
}

// place is the position of the editor.
func (v viText) place(p vim.Pos) pos {
	n := min(max(p.Line, 0), len(v.tx.buf.lines)-1)
	at := v.characters(n).at
	return pos{n, at[min(max(p.Col, 0), len(at)-1)]}
}

// count is the position of vi, which counts characters.
func (v viText) count(p pos) vim.Pos {
	col, _ := slices.BinarySearch(v.characters(p.line).at, p.off)
	return vim.Pos{Line: p.line, Col: col}
}

// Lines counts the lines.
func (v viText) Lines() int { return len(v.tx.buf.lines) }

// Line returns the characters of a line.
func (v viText) Line(n int) []string { return v.characters(n).texts }

// Cursor returns the cursor.
func (v viText) Cursor() vim.Pos { return v.count(v.tx.cursor) }

// MoveTo moves the cursor.
func (v viText) MoveTo(p vim.Pos) { v.tx.moveTo(v.place(p)) }

// Select shows a visual selection.
func (v viText) Select(from, to vim.Pos) {
	v.tx.hasSelection = false
	v.tx.visual = span{v.place(from), v.place(to)}
}

// Copy returns a part of the text with its tokens.
func (v viText) Copy(from, to vim.Pos) []*line { return v.tx.buf.slice(v.place(from), v.place(to)) }

// maxVi is the size in bytes from which a command with a large count inserts nothing more.
const maxVi = 8 << 20

// Replace changes the text so that it can be undone.
func (v viText) Replace(from, to vim.Pos, with []*line) vim.Pos {
	a, b := v.place(from), v.place(to)
	if a == b && v.tx.buf.size+sizeOf(with) > maxVi {
		return v.count(a)
	}
	if a != b || sizeOf(with) > 0 {
		v.tx.edit(a, b, with)
		a = v.tx.cursor
	}
	return v.count(a)
}

// Piece makes a plain text.
func (v viText) Piece(text string) []*line { return plain(sanitize(text)) }

// Group makes the edits that follow one step of undo.
func (v viText) Group(open bool) { v.tx.undoLog.setGroup(open) }

// Undo reverts the last change.
func (v viText) Undo() { v.tx.undo() }

// Redo does it again.
func (v viText) Redo() { v.tx.redo() }
