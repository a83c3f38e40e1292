package editor

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
)

// Key takes a key.
func (e *Editor) Key(k tea.KeyPressMsg) Result {
	defer e.settleVi()
	if e.find.on {
		if out := e.searchKey(k); out != nil {
			return out
		}
		e.sug.close() // it is about the text from before
	}
	if e.vi.on {
		if out := e.viKey(k); out != nil {
			return out
		}
	}
	if out := e.suggestKey(k); out != nil {
		return out
	}
	if key.IsTyped(k) {
		return e.typed(k.Text)
	}
	if out := e.promptKey(k); out != nil {
		return out
	}
	if !e.IsEmpty() || e.hasSelection {
		if e.motionKey(k) {
			return e.updateSuggestions(false)
		}
	}
	if e.changeKey(k) {
		return e.updateSuggestions(true)
	}
	out := e.historyKey(k)
	if out == (NotHandled{}) && key.IsComposed(k) {
		return e.typed(k.Text)
	}
	return out
}

// typed inserts typed text.
func (e *Editor) typed(text string) Result {
	if text == "!" && !e.shell && !e.hasSelection && e.cursor == (pos{}) {
		e.shell = true
		e.sug.close()
		return Nothing{}
	}
	switch {
	case text == " " && e.takeExact():
		return Nothing{}
	case text == "#" && e.reopenMention():
		return e.updateSuggestions(true)
	}
	e.afterMention = pos{}
	e.insert(plain(sanitize(text)))
	return e.updateSuggestions(true)
}

// promptKey handles the keys for the prompt as a whole; nil for others.
func (e *Editor) promptKey(k tea.KeyPressMsg) Result {
	name, ok := e.keys.First(k, key.InputSubmit, key.InputNewline, key.InputClear, key.InputPaste, key.EditorOpen,
		key.HistorySearch, key.PromptSubmit, key.PromptStash, key.PromptStashPop)
	if !ok {
		if e.IsEmpty() && e.keys.Match(k, key.AppExit) {
			return e.quitKey()
		}
		return e.shellKey(k)
	}
	switch name {
	case key.InputSubmit:
		if e.breakLine() {
			return e.updateSuggestions(true)
		}
		return e.Submit()
	case key.PromptSubmit:
		return e.Submit()
	case key.InputNewline:
		e.insert(plain("\n"))
		return e.updateSuggestions(true)
	case key.InputClear:
		if e.IsEmpty() {
			return e.quitKey()
		}
		return e.discard()
	case key.InputPaste:
		return WantClipboard{}
	case key.EditorOpen:
		return OpenEditor{}
	case key.HistorySearch:
		return e.StartSearch()
	case key.PromptStash:
		if d, ok := e.Stash(); ok {
			return Stash{d}
		}
		return Nothing{}
	case key.PromptStashPop:
		return Unstash{}
	default:
		return nil
	}
}

// shellKey exits shell mode.
func (dc *document) shellKey(k tea.KeyPressMsg) Result {
	if !dc.shell {
		return nil
	}
	if dc.keys.Match(k, key.SessionInterrupt) || dc.cursor == (pos{}) && !dc.hasSelection && dc.keys.Match(k, key.InputBackspace) {
		dc.shell = false
		return Nothing{}
	}
	return nil
}

// quitKey handles an exit key in an empty prompt.
func (dc *document) quitKey() Result {
	if dc.shell {
		dc.shell = false
		return Nothing{}
	}
	return Quit{}
}

// discard clears the prompt. The history keeps its text.
func (e *Editor) discard() Result {
	d := e.Draft()
	e.editAlone(pos{}, e.buf.end(), plain(""))
	e.shell, e.hist.at = false, 0
	e.sug.close()
	if d.IsEmpty() {
		return Nothing{}
	}
	e.hist.remember(d)
	return SaveDiscarded{d}
}

// motion is a cursor motion.
type motion struct {
	name  key.Name
	marks key.Name // the same, with selection
	to    func(e *pane, p pos) pos
}

// motions are those that forget the column they began in.
func motions() []motion {
	return []motion{
		{key.InputMoveLeft, key.InputSelectLeft, func(e *pane, p pos) pos { return e.buf.left(p) }},
		{key.InputMoveRight, key.InputSelectRight, func(e *pane, p pos) pos { return e.buf.right(p) }},
		{key.InputWordForward, key.InputSelectWordForward, func(e *pane, p pos) pos { return e.buf.wordRight(p) }},
		{key.InputWordBackward, key.InputSelectWordBackward, func(e *pane, p pos) pos { return e.buf.wordLeft(p) }},
		{key.InputLineHome, key.InputSelectLineHome, func(_ *pane, p pos) pos { return pos{p.line, 0} }},
		{key.InputLineEnd, key.InputSelectLineEnd, func(e *pane, p pos) pos { return pos{p.line, len(e.lineAt(p).text)} }},
		{key.InputVisualLineHome, key.InputSelectVisualLineHome, (*pane).rowHome},
		{key.InputVisualLineEnd, key.InputSelectVisualLineEnd, (*pane).rowEnd},
		{key.InputBufferHome, key.InputSelectBufferHome, func(*pane, pos) pos { return pos{} }},
		{key.InputBufferEnd, key.InputSelectBufferEnd, func(e *pane, _ pos) pos { return e.buf.end() }},
	}
}

// motionKey moves the cursor; false when the key is for something else.
func (pn *pane) motionKey(k tea.KeyPressMsg) bool {
	for _, m := range motions() {
		switch {
		case pn.keys.Match(k, m.name):
			to := m.to(pn, pn.cursor)
			if pn.hasSelection && m.name == key.InputMoveLeft {
				to, _ = pn.selection()
			} else if pn.hasSelection && m.name == key.InputMoveRight {
				_, to = pn.selection()
			}
			pn.moveTo(to)
			return true
		case pn.keys.Match(k, m.marks):
			pn.markTo(m.to(pn, pn.cursor))
			pn.goalColumn = -1
			return true
		}
	}
	if pn.keys.Match(k, key.InputSelectAll) {
		pn.anchor, pn.hasSelection = pos{}, true
		pn.cursor, pn.goalColumn = pn.buf.end(), -1
		return true
	}
	return pn.rowKey(k)
}

// rowKey moves between rows; at the first and the last one the key is for the history.
func (pn *pane) rowKey(k tea.KeyPressMsg) bool {
	name, ok := pn.keys.First(k, key.InputMoveUp, key.InputMoveDown, key.InputSelectUp, key.InputSelectDown)
	if !ok {
		return false
	}
	x, step, edge := pn.targetColumn(), pn.up, pos{}
	if name == key.InputMoveDown || name == key.InputSelectDown {
		step, edge = pn.down, pn.buf.end()
	}
	to, moved := step(pn.cursor, x)
	marks := name == key.InputSelectUp || name == key.InputSelectDown
	switch {
	case marks && moved:
		pn.markTo(to)
	case marks:
		pn.markTo(edge)
	case moved:
		pn.moveTo(to)
	default:
		return false
	}
	pn.goalColumn = x
	return true
}

// historyKey moves through the prompt history.
func (e *Editor) historyKey(k tea.KeyPressMsg) Result {
	switch {
	case e.keys.Match(k, key.HistoryPrevious) && e.recall(1), e.keys.Match(k, key.HistoryNext) && e.recall(-1):
		e.sug.close()
		return Nothing{}
	}
	name, ok := e.keys.First(k, key.InputMoveUp, key.InputMoveDown)
	if !ok || e.IsEmpty() {
		return NotHandled{}
	}
	if name == key.InputMoveUp { // no history: go to the start or the end
		e.moveTo(pos{})
	} else {
		e.moveTo(e.buf.end())
	}
	return Nothing{}
}
