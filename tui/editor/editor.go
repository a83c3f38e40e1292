package editor

import (
	"github.com/lathe-agent/lathe/tui/key"
)

// Editor is the prompt: an editable text with a history, suggestions and a shell mode. Make
// one with New.
type Editor struct {
	document
	dir string
	sug suggest
	vi  viKeys

	afterMention pos  // position after a mention that was just chosen; zero for none
	rawPaste     bool // long pastes stay as they are
}

// document is a text that is a prompt or a shell command, with the earlier ones.
type document struct {
	pane
	shell bool
	hist  history
	find  search
}

// New makes an empty prompt.
func New(keys *key.Map) *Editor {
	return &Editor{document: document{pane: pane{keys: keys, width: 80, height: 6, text: text{buf: newBuffer(plain("")), goalColumn: -1}}}}
}

// SetDir sets the base directory of mentions.
func (e *Editor) SetDir(dir string) { e.dir = dir }

// SetPasteSummary says whether long pastes become a token.
func (e *Editor) SetPasteSummary(on bool) { e.rawPaste = !on }

// InShell reports whether the text is a line for the shell.
func (dc *document) InShell() bool { return dc.shell }

// Draft returns the current text as a draft.
func (dc *document) Draft() Draft {
	if f := &dc.find; f.on { // the match is not the user's yet
		return draftOf(&f.before.buf, f.shell, f.before.cursor)
	}
	return draftOf(&dc.buf, dc.shell, dc.cursor)
}

// Restore replaces the text with a draft. It cannot be undone; the caller saves the old text.
func (e *Editor) Restore(d Draft) {
	e.find, e.visual = search{}, span{}
	e.vi.machine.Reset()
	e.buf = newBuffer(d.lines())
	e.shell = d.Mode == shellMode
	e.moveTo(e.buf.at(d.Cursor))
	e.top = pos{}
	e.undoLog = undoLog{}
	e.hist.at = 0
	e.sug.close()
}

// Clear empties the prompt.
func (e *Editor) Clear() { e.Restore(Draft{}) }

// Stash clears the prompt and returns its text, if any.
func (e *Editor) Stash() (Draft, bool) {
	d := e.Draft()
	if d.IsEmpty() {
		return Draft{}, false
	}
	e.Clear()
	return d, true
}

// Insert puts a text at the cursor, as if it were typed at once.
func (e *Editor) Insert(text string) Result {
	e.beforeChange()
	e.insert(plain(sanitize(text)))
	return e.updateSuggestions(true)
}
