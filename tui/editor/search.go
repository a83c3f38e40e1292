package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
)

// search is the search in the prompt history. While it is on, the text of the editor is the match, and before holds
// the real one.
type search struct {
	on     bool
	query  string
	match  int // how far back the match is; 0 for none
	before text
	shell  bool
}

// Search describes a running search in the prompt history.
type Search struct {
	Query string
	Found bool
}

// Searching returns the running search in the history, if there is one.
func (dc *document) Searching() (Search, bool) {
	return Search{Query: dc.find.query, Found: dc.find.match > 0}, dc.find.on
}

// StartSearch starts a search in the history. It shows the last prompt until something is typed.
func (dc *document) StartSearch() Result {
	dc.find = search{on: true, before: dc.text, shell: dc.shell}
	dc.narrow("")
	return Nothing{}
}

// narrow changes the query and shows its newest match, or the text from before the search.
func (dc *document) narrow(query string) {
	dc.find.query, dc.find.match = query, 0
	dc.restoreBefore()
	dc.seek(1)
}

// seek shows the next match, older or newer by step. Without one, the last match stays.
func (dc *document) seek(step int) {
	f, all := &dc.find, dc.hist.all
	for n := f.match + step; n > 0 && n <= len(all); n += step {
		d := all[len(all)-n]
		at, size, ok := indexFold(d.Input, f.query)
		if !ok || f.match > 0 && d.Input == dc.Text() { // the same text again is no progress
			continue
		}
		f.match = n
		dc.text = text{buf: newBuffer(d.lines()), goalColumn: -1}
		dc.shell = d.Mode == shellMode
		dc.anchor = dc.buf.at(at)
		dc.cursor, dc.hasSelection = dc.buf.at(at+size), size > 0
		return
	}
}

// restoreBefore shows the text from before the search.
func (dc *document) restoreBefore() { dc.text, dc.shell = dc.find.before, dc.find.shell }

// endSearch ends the search and puts back the text from before it.
func (dc *document) endSearch() {
	if dc.find.on {
		dc.restoreBefore()
		dc.find = search{}
	}
}

// takeMatch ends the search with its match in the prompt. Undo brings the old text back.
func (dc *document) takeMatch() {
	f := dc.find
	if dc.endSearch(); f.match == 0 {
		return
	}
	dc.hist.at, dc.hist.draft = f.match, dc.Draft()
	d := dc.hist.all[len(dc.hist.all)-f.match]
	dc.editAlone(pos{}, dc.buf.end(), d.lines())
	dc.shell = d.Mode == shellMode
}

// searchKey handles a key during a search; nil for keys that end it with its match and then do what they always do.
func (dc *document) searchKey(k tea.KeyPressMsg) Result {
	f := &dc.find
	switch {
	case key.IsTyped(k):
		dc.narrow(f.query + sanitizeLine(k.Text))
	case dc.keys.Match(k, key.HistorySearch), dc.keys.Match(k, key.HistoryPrevious):
		dc.seek(1)
	case dc.keys.Match(k, key.HistoryNext):
		dc.seek(-1)
	case dc.keys.Match(k, key.InputBackspace):
		_, size := utf8.DecodeLastRuneInString(f.query)
		dc.narrow(f.query[:len(f.query)-size])
	case k.Code == tea.KeyEscape, dc.keys.Match(k, key.InputClear), dc.keys.Match(k, key.SessionInterrupt):
		dc.endSearch()
	case dc.keys.Match(k, key.InputSubmit), k.Code == tea.KeyTab:
		dc.takeMatch()
	default:
		dc.takeMatch()
		return nil
	}
	return Nothing{}
}

// indexFold finds a text in another one without regard to case: its first byte and its size there.
func indexFold(s, query string) (at, size int, ok bool) {
	for i := range s {
		if n, ok := prefixFold(s[i:], query); ok {
			return i, n, true
		}
	}
	return 0, 0, query == ""
}

// prefixFold reports whether s begins with a prefix in any case, and how many bytes of s that are.
func prefixFold(s, prefix string) (size int, ok bool) {
	rest := s
	for _, want := range prefix {
		r, n := utf8.DecodeRuneInString(rest)
		if n == 0 || r != want && unicode.ToLower(r) != unicode.ToLower(want) {
			return 0, false
		}
		rest = rest[n:]
	}
	return len(s) - len(rest), true
}

// pasteQuery adds a pasted text to the query.
func (dc *document) pasteQuery(text string) {
	dc.narrow(dc.find.query + strings.TrimSpace(sanitizeLine(text)))
}
