package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/pager"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// scroller is the scroll mode: keys move in the conversation, search it and copy from it.
type scroller struct {
	*services
	conversation *conversation

	mode      *pager.Mode // nil outside the mode
	session   lathe.SessionID
	searching bool // older messages are still to be searched
	jump      bool // go to the first match that is found
	older     bool // go to an older match when one is found
	wrapped   bool
	last      string // the last pattern
}

// searchSlice is how long a search may take between two keys. searchStep continues it.
const searchSlice = 4 * time.Millisecond

type searchStep struct{ session lathe.SessionID }

// active reports whether the mode is on for the session on the screen.
func (sc *scroller) active() bool {
	return sc.mode != nil && sc.session == sc.state.Current && sc.state.Shown() != nil
}

func (sc *scroller) reader() chat.Reader {
	return sc.conversation.chat().Reader(sc.state.Shown().Transcript, sc.conversation.env())
}

// start begins the mode.
func (sc *scroller) start() tea.Cmd {
	if sc.state.Shown() == nil || sc.active() {
		return nil
	}
	if sc.mode != nil {
		sc.leave()
	}
	sc.mode, sc.session = pager.New(sc.keys), sc.state.Current
	sc.conversation.chat().StartCursor()
	return nil
}

// leave ends the mode. The scroll position stays.
func (sc *scroller) leave() {
	if c := sc.conversation.chats[sc.session]; c != nil {
		c.StopCursor()
	}
	sc.mode, sc.searching, sc.jump, sc.older, sc.wrapped = nil, false, false, false, false
}

// handle does what a key of the mode means.
func (sc *scroller) handle(out pager.Result) tea.Cmd {
	c := sc.conversation.chat()
	switch out := out.(type) {
	case pager.Do:
		sc.wrapped = false
		return sc.do(out.Name)
	case pager.Typed:
		sc.searching, sc.jump, sc.older = false, false, false
		c.Search(out.Text) // highlights at once what is on the screen
	case pager.Search:
		if out.Text != "" {
			sc.last = out.Text
		}
		c.Search(sc.last)
		sc.searching, sc.jump = sc.last != "", true
		return sc.searchOn()
	default:
	}
	return nil
}

// do runs an action of the mode.
func (sc *scroller) do(name key.Name) tea.Cmd {
	c, r := sc.conversation.chat(), sc.reader()
	page := max(1, sc.frame().chatHeight-2)
	moves := map[key.Name]int{
		key.ScrollHalfPageDown: page / 2, key.ScrollHalfPageUp: -page / 2, key.ScrollPageDown: page, key.ScrollPageUp: -page,
	}
	switch name {
	case key.ScrollClose:
		if c.Selecting() {
			r.Select()
			return nil
		}
		sc.leave()
	case key.ScrollDown:
		r.Move(1)
	case key.ScrollUp:
		r.Move(-1)
		return sc.conversation.loadOlderAtTop(c)
	case key.ScrollHalfPageDown, key.ScrollHalfPageUp, key.ScrollPageDown, key.ScrollPageUp:
		r.Page(moves[name])
		return sc.conversation.loadOlderAtTop(c)
	case key.ScrollFirst:
		return sc.conversation.scrollTop()
	case key.ScrollLast:
		c.ToEnd()
	case key.ScrollNextPrompt, key.ScrollPreviousPrompt:
		return sc.toPrompt(name == key.ScrollPreviousPrompt)
	case key.ScrollNextMatch, key.ScrollPreviousMatch:
		return sc.nextMatch(name == key.ScrollPreviousMatch)
	case key.ScrollSelect:
		r.Select()
	case key.ScrollCopy:
		return sc.yank()
	case key.ScrollUnfold:
		r.Toggle()
	}
	return nil
}

// toPrompt goes to the next or previous prompt.
func (sc *scroller) toPrompt(back bool) tea.Cmd {
	c, o := sc.conversation.chat(), sc.state.Shown()
	if id := c.NextPrompt(o.Transcript, sc.conversation.env(), back); id != "" {
		c.To(id)
	} else if !back {
		c.ToEnd()
	}
	return sc.conversation.loadOlderAtTop(c)
}

// yank copies the selected rows, or the message at the cursor.
func (sc *scroller) yank() tea.Cmd {
	c, r := sc.conversation.chat(), sc.reader()
	text, what := r.Text()
	if c.Selecting() {
		text, what = r.Selected(), "selection"
		r.Select()
	}
	if text == "" {
		return sc.notify(toast.Info, "Nothing to copy here")
	}
	return tea.Batch(sc.copySilently(text), sc.notify(toast.Info, "Copied the "+what))
}

// searchOn searches for a moment. The rest follows after the next keys, older messages are loaded as needed.
func (sc *scroller) searchOn() tea.Cmd {
	if !sc.active() || !sc.searching {
		return nil
	}
	c, r := sc.conversation.chat(), sc.reader()
	until := time.Now().Add(searchSlice)
	done := r.SearchOn(func() bool { return time.Now().Before(until) })
	all := done && sc.state.Shown().Older.IsZero()
	if sc.jump && r.ToNearest(all) {
		sc.jump = false
	}
	if sc.older && !c.Found().IsFirst {
		sc.older = false
		r.NextMatch(true)
	}
	switch {
	case all:
		sc.searching, sc.jump, sc.older = false, false, false
		return nil
	case done:
		return sc.conversation.loadOlder()
	}
	id := sc.session
	return func() tea.Msg { return searchStep{id} }
}

// nextMatch goes to the next match, or to the previous one, for which older messages may have to be searched.
func (sc *scroller) nextMatch(back bool) tea.Cmd {
	c := sc.conversation.chat()
	if c.Found().Pattern == "" {
		if sc.last == "" {
			return sc.notify(toast.Info, "Nothing to search for yet: press "+sc.keys.Label(key.ScrollSearch))
		}
		return sc.handle(pager.Search{})
	}
	if back && sc.searching && c.Found().IsFirst {
		sc.older = true
		return nil
	}
	sc.wrapped = sc.reader().NextMatch(back)
	return nil
}

// draw renders the bar below the conversation.
func (sc *scroller) draw(th *style.Theme, width int) (rows []style.Line, cursor *tea.Cursor) {
	c := sc.conversation.chat()
	f := c.Found()
	v := pager.Values{Pattern: f.Pattern, Current: f.Current, Total: f.Total, Searching: sc.searching, Wrapped: sc.wrapped, Selecting: c.Selecting()}
	rows = []style.Line{nil, sc.mode.View(th, v, width)}
	if x, ok := sc.mode.Cursor(); ok {
		cursor = tea.NewCursor(x, 1)
	}
	return rows, cursor
}
