package editor

import (
	"github.com/lathe-agent/lathe/tui/key"
)

// Editor is the prompt: a text that can be edited, with a history, suggestions and a mode for the shell. Make
// one with New.
type Editor struct {
	pane
	dir   string
	shell bool
	hist  history
	sug   suggest

	afterMention pos  // behind a file that was chosen right before; the zero place is none
	rawPaste     bool // long pastes stay as they are
}

// New makes an empty prompt.
func New(keys *key.Map) *Editor {
	return &Editor{pane: pane{keys: keys, width: 80, height: 6, text: text{buf: newBuffer(plain("")), goalColumn: -1}}}
}

// SetDir says what paths of mentions are relative to.
func (e *Editor) SetDir(dir string) { e.dir = dir }

// SetPasteSummary says whether long pastes become a token.
func (e *Editor) SetPasteSummary(on bool) { e.rawPaste = !on }

// InShell reports whether the text is a line for the shell.
func (e *Editor) InShell() bool { return e.shell }

// Draft returns what is there, to be kept.
func (e *Editor) Draft() Draft { return draftOf(&e.buf, e.shell, e.cursor) }

// Restore shows a draft in place of what is there. It cannot be undone; what is there is the caller's to keep.
func (e *Editor) Restore(d Draft) {
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

// Stash empties the prompt and returns what was there, if anything was.
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
	e.insert(plain(sanitize(text)))
	return e.updateSuggestions(true)
}
