package editor

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/key"
)

// Editor is the prompt. Make one with New.
type Editor struct {
	keys *key.Map
	dir  string

	buf    buffer
	cursor pos
	anchor pos // other end of the selection
	marked bool
	shell  bool
	goal   int // column that up and down aim at; -1 is the cursor's

	past past
	hist history
	sug  suggest

	fresh    pos  // behind a file that was chosen right before; the zero place is none
	rawPaste bool // long pastes stay as they are
	width    int  // of the text, as last shown
	height   int
	top      pos // first row that shows
	caretX   int
	caretY   int
	caretOn  bool
}

// New makes an empty prompt.
func New(keys *key.Map) *Editor {
	return &Editor{keys: keys, buf: newBuffer(plain("")), goal: -1, width: 80, height: 6}
}

// SetDir says what paths of mentions are relative to.
func (e *Editor) SetDir(dir string) { e.dir = dir }

// SetPasteSummary says whether long pastes become a token.
func (e *Editor) SetPasteSummary(on bool) { e.rawPaste = !on }

// IsEmpty reports whether there is no text at all.
func (e *Editor) IsEmpty() bool { return e.buf.size == 0 }

// InShell reports whether the text is a line for the shell.
func (e *Editor) InShell() bool { return e.shell }

// Text returns the text with tokens as they are shown.
func (e *Editor) Text() string { return e.buf.text() }

// Draft returns what is there, to be kept.
func (e *Editor) Draft() Draft { return draftOf(&e.buf, e.shell, e.cursor) }

// Restore shows a draft in place of what is there. It cannot be undone; what is there is the caller's to keep.
func (e *Editor) Restore(d Draft) {
	e.buf = newBuffer(d.lines())
	e.shell = d.Mode == shellMode
	e.moveTo(e.buf.at(d.Cursor))
	e.top = pos{}
	e.past = past{}
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
func (e *Editor) Insert(text string) Out {
	e.insert(plain(tidy(text)))
	return e.looked(true)
}

// selection returns the two ends in order; both are the cursor where nothing is selected.
func (e *Editor) selection() (from, to pos) {
	switch {
	case !e.marked:
		return e.cursor, e.cursor
	case e.anchor.before(e.cursor):
		return e.anchor, e.cursor
	default:
		return e.cursor, e.anchor
	}
}

// moveTo puts the cursor somewhere and selects nothing.
func (e *Editor) moveTo(p pos) {
	e.cursor, e.marked, e.goal = p, false, -1
	e.past.settle()
}

// insert puts lines in place of the selection, or at the cursor.
func (e *Editor) insert(lines []*line) {
	from, to := e.selection()
	e.edit(from, to, lines)
}

// edit changes the text so that it can be undone.
func (e *Editor) edit(from, to pos, with []*line) {
	before := e.cursor
	removed, end := e.buf.replace(from, to, with)
	// What was put in may join with its neighbours to one character.
	at := pos{end.line, e.buf.lines[end.line].snap(end.off)}
	e.past.add(change{at: from, end: end, removed: removed, added: with, before: before, after: at})
	e.cursor, e.marked, e.goal = at, false, -1
}

// editAlone is edit with a step of undo for itself.
func (e *Editor) editAlone(from, to pos, with []*line) {
	e.past.settle()
	e.edit(from, to, with)
	e.past.settle()
}

// putToken puts a token and a space at the cursor.
func (e *Editor) putToken(t *Token) {
	from, to := e.selection()
	e.putTokenAt(from, to, t)
}

func (e *Editor) putTokenAt(from, to pos, t *Token) {
	l := &line{text: t.Text, toks: []placed{{0, t}}}
	rest := e.buf.lines[to.line].text[to.off:]
	if rest == "" || rest[0] != ' ' || cluster(rest) > 1 {
		l.text += " "
	}
	e.editAlone(from, to, []*line{l})
	if len(l.text) == len(t.Text) { // over the space that is there
		e.cursor.off++
	}
}

// tokens lists those of the text in order.
func (e *Editor) tokens() []*Token {
	var out []*Token
	for _, l := range e.buf.lines {
		for _, p := range l.toks {
			out = append(out, p.tok)
		}
	}
	return out
}

// lineAt is the line of a place.
func (e *Editor) lineAt(p pos) *line { return e.buf.lines[p.line] }

// countMedia counts the pictures, or the documents of a kind: they are numbered, each kind for itself.
func (e *Editor) countMedia(mime string) (n int) {
	for _, t := range e.tokens() {
		if strings.HasPrefix(t.Mime, mime) {
			n++
		}
	}
	return n
}
