package editor

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/fuzzy"
	"github.com/lathe-agent/lathe/tui/key"
)

// Command is a slash command suggestion.
type Command struct {
	Name        string // without the slash
	Aliases     []string
	Description string
	Arguments   bool // takes arguments; a local command without them runs at once
	Optional    bool // a local command whose arguments can be left out runs at once, too
	Local       bool // handled by the TUI; others by the engine
	Hidden      bool // can run but is not suggested
}

// Agent is an @ suggestion.
type Agent struct{ Name, Description string }

// Limits of suggestions.
const (
	popupRows = 10
	mostQuery = 256 // bytes of a query
)

type suggestKind uint8

const (
	noSuggest suggestKind = iota
	slashSuggest
	mentionSuggest
)

// item is a row of the suggestions.
type item struct {
	command *Command
	agent   *Agent
	symbol  *Symbol
	file    string
}

// suggest holds the suggestions for the word at the cursor.
type suggest struct {
	commands []Command
	agents   []Agent
	files    []string
	filesFor string // the query that found them
	asked    string // the last query that was sent
	waits    bool   // a query was sent

	symbols    []Symbol
	symbolsFor string // the query that found them

	kind   suggestKind
	from   pos // of the / or @
	query  string
	hidden bool // closed by hand, until another word
	items  []item
	sel    int
	match  fuzzy.Matcher
}

func (s *suggest) close() {
	s.kind, s.items, s.sel, s.query, s.hidden, s.waits = noSuggest, nil, 0, "", false, false
}

// SetCommands sets the slash commands.
func (e *Editor) SetCommands(all []Command) {
	e.sug.commands = slices.Clone(all)
	e.sug.fill()
}

// SetAgents sets the agents for @.
func (e *Editor) SetAgents(all []Agent) {
	e.sug.agents = slices.Clone(all)
	e.sug.fill()
}

// SetFiles sets the files that WantFiles asked for, best first; directories end with a slash. Results of an
// outdated query are dropped.
func (e *Editor) SetFiles(query string, files []string) {
	s := &e.sug
	if s.kind != mentionSuggest || query != s.fileQuery() {
		return
	}
	s.files, s.filesFor = slices.Clone(files), query
	s.fill()
}

// Suggesting reports whether suggestions show.
func (e *Editor) Suggesting() bool { return e.sug.open() && !e.find.on }

func (s *suggest) open() bool { return s.kind != noSuggest && !s.hidden && len(s.items) > 0 }

// fileQuery is the part of the query that names a file, without a range of lines.
func (s *suggest) fileQuery() string {
	file, _, _ := cutRange(s.query)
	return file
}

// updateSuggestions updates the suggestions for the word at the cursor; changed says that the text was edited. It returns
// WantFiles when files are needed.
func (e *Editor) updateSuggestions(changed bool) Result {
	s := &e.sug
	kind, from := e.trigger()
	if kind == noSuggest {
		s.close()
		return Nothing{}
	}
	if s.kind != kind || s.from != from {
		if !changed {
			s.close()
			return Nothing{}
		}
		s.close()
		s.kind, s.from = kind, from
	}
	query := e.lineAt(from).text[from.off+1 : e.cursor.off]
	if s.query != query {
		s.query, s.sel = query, 0
	}
	s.fill()
	if ask := s.fileQuery(); kind == mentionSuggest && !s.hidden && (!s.waits || ask != s.asked) {
		s.asked, s.waits = ask, true
		return WantFiles{ask}
	}
	return Nothing{}
}

// trigger finds the / or @ of the word at the cursor.
func (e *Editor) trigger() (suggestKind, pos) {
	if e.shell || e.hasSelection {
		return noSuggest, pos{}
	}
	l, end := e.lineAt(e.cursor), e.cursor.off
	for i := end - 1; i >= 0 && i >= end-mostQuery; i-- {
		c := l.text[i]
		if c == ' ' || c == '\t' {
			break
		}
		if len(l.toks) > 0 {
			if _, ok := l.tokenAround(i); ok {
				break
			}
		}
		first := i == 0 || l.text[i-1] == ' ' || l.text[i-1] == '\t'
		switch {
		case c == '@' && first:
			return mentionSuggest, pos{e.cursor.line, i}
		case c == '/' && i == 0 && e.cursor.line == 0:
			return slashSuggest, pos{}
		}
	}
	return noSuggest, pos{}
}

// fill collects the suggestions for the word.
func (s *suggest) fill() {
	s.items = s.items[:0]
	switch s.kind {
	case slashSuggest:
		s.fillCommands()
	case mentionSuggest:
		s.fillMentions()
	case noSuggest:
	}
	s.sel = max(0, min(s.sel, len(s.items)-1))
}

// fillCommands ranks the commands by name, alias and description.
func (s *suggest) fillCommands() {
	type scored struct {
		*Command
		score int
	}
	var found []scored
	query := fuzzy.NewQuery(s.query)
	for i := range s.commands {
		c := &s.commands[i]
		if c.Hidden {
			continue
		}
		best, ok := s.fits(query, c.Name)
		for _, a := range c.Aliases {
			if score, fits := s.fits(query, a); fits {
				best, ok = max(best, score-1), true
			}
		}
		if ok || mentions(c.Description, s.query) { // ranks below any match of a name
			found = append(found, scored{c, best})
		}
	}
	if s.query != "" {
		slices.SortStableFunc(found, func(a, b scored) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.Name), len(b.Name)))
		})
	}
	for _, f := range found {
		s.items = append(s.items, item{command: f.Command})
	}
}

// fits reports whether a text matches the query, and its score.
func (s *suggest) fits(query fuzzy.Query, text string) (int, bool) {
	t := fuzzy.NewText(text)
	return s.match.Score(query, &t)
}

// mentions reports whether a word of a description starts with the query.
func mentions(description, query string) bool {
	if len(query) < 2 {
		return false
	}
	query = strings.ToLower(query)
	for word := range strings.FieldsSeq(strings.ToLower(description)) {
		if strings.HasPrefix(word, query) {
			return true
		}
	}
	return false
}

// fillMentions lists agents with a matching prefix, then files and symbols, then other matching agents.
func (s *suggest) fillMentions() {
	s.fillAgents(true)
	first := len(s.items)
	query := s.fileQuery()
	letters := fuzzy.NewQuery(query)
	for _, f := range s.files {
		if f == "" {
			continue
		}
		if s.filesFor != query { // until the new results arrive, keep old ones that still match
			if _, ok := s.fits(letters, f); !ok {
				continue
			}
		}
		s.items = append(s.items, item{file: f})
	}
	s.fillSymbols(first)
	s.fillAgents(false)
}

// fillAgents adds those whose name begins with the word, or those that fit in another way.
func (s *suggest) fillAgents(begins bool) {
	lower, query := strings.ToLower(s.query), fuzzy.NewQuery(s.query)
	for i := range s.agents {
		name := s.agents[i].Name
		if _, ok := s.fits(query, name); ok && strings.HasPrefix(strings.ToLower(name), lower) == begins {
			s.items = append(s.items, item{agent: &s.agents[i]})
		}
	}
}

// suggestKey takes a key while suggestions show; nil when it is for the text.
func (e *Editor) suggestKey(k tea.KeyPressMsg) Result {
	s := &e.sug
	if !s.open() {
		return nil
	}
	name, ok := e.keys.First(k, key.PromptAutocompletePrev, key.PromptAutocompleteNext, key.PromptAutocompleteHide,
		key.PromptAutocompleteSelect, key.PromptAutocompleteComplete)
	if !ok {
		return nil
	}
	n := len(s.items)
	switch name {
	case key.PromptAutocompletePrev:
		s.sel = (s.sel + n - 1) % n
	case key.PromptAutocompleteNext:
		s.sel = (s.sel + 1) % n
	case key.PromptAutocompleteHide:
		s.hidden = true
	case key.PromptAutocompleteSelect:
		return e.choose(s.items[s.sel], false)
	default:
		return e.choose(s.items[s.sel], true)
	}
	return Nothing{}
}

// choose takes a suggestion. Completing opens a folder instead of taking it.
func (e *Editor) choose(it item, completing bool) Result {
	s := &e.sug
	from, query := s.from, s.query
	switch {
	case it.command != nil:
		return e.chooseCommand(*it.command, query, completing)
	case it.agent != nil:
		e.putTokenAt(from, e.cursor, agentToken(it.agent.Name))
	case it.symbol != nil:
		e.putTokenAt(from, e.cursor, symbolToken(*it.symbol))
	case completing && strings.HasSuffix(it.file, "/") && !strings.ContainsAny(it.file, " \t\n"): // a word ends at a space
		e.undoLog.settle()
		e.edit(from, e.cursor, plain(sanitize("@"+it.file)))
		return e.updateSuggestions(true)
	default:
		_, start, end := cutRange(query)
		if strings.HasSuffix(it.file, "/") {
			start, end = 0, 0
		}
		e.putTokenAt(from, e.cursor, fileToken(it.file, start, end))
		e.afterMention = e.cursor
	}
	s.close()
	return Nothing{}
}

// takeExact accepts a fully typed mention when a space follows.
func (e *Editor) takeExact() bool {
	s := &e.sug
	if !s.open() || s.kind != mentionSuggest {
		return false
	}
	file := s.fileQuery()
	for _, it := range s.items {
		if it.agent != nil && it.agent.Name == s.query || it.file != "" && it.file == file {
			e.choose(it, false)
			return true
		}
	}
	return false
}

// reopenMention turns a mention that was just chosen back into text, to add a line range.
func (e *Editor) reopenMention() bool {
	l, off := e.lineAt(e.cursor), e.cursor.off
	if e.shell || e.hasSelection || off < 2 || e.afterMention != e.cursor {
		return false
	}
	t, ok := l.tokenBefore(off - 1)
	if !ok || t.end() != off-1 || t.tok.Kind != KindFile || t.tok.Start > 0 || strings.HasSuffix(t.tok.Path, "/") || strings.ContainsAny(t.tok.Text, " \t") {
		return false
	}
	e.undoLog.settle()
	e.edit(pos{e.cursor.line, t.at}, e.cursor, plain(t.tok.Text+"#"))
	return true
}

// chooseCommand runs a local command at once, or completes its name for arguments.
func (e *Editor) chooseCommand(c Command, query string, completing bool) Result {
	switch {
	case c.Local && (!c.Arguments || c.Optional) && !completing:
		e.editAlone(pos{}, e.cursor, plain("")) // the text after it stays
		e.moveTo(pos{})
		e.sug.close()
		return RunCommand{Name: c.Name}
	case !completing && query == c.Name && !c.Local:
		return e.Submit() // fully typed, nothing to complete
	}
	to, first := e.cursor, e.buf.lines[0]
	for to.off < len(first.text) && e.buf.isWord(to) {
		to = e.buf.right(to) // the rest of the word
	}
	e.undoLog.settle()
	e.edit(pos{}, to, plain(sanitize("/"+c.Name)+" "))
	e.sug.close()
	return Nothing{}
}
