package chat

import (
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// Env is the input of a drawing.
type Env struct {
	Theme         *style.Theme
	Width, Height int
	Now           time.Time
	Frame         int // of animations
	Show          Show
	Dir, Home     string // paths below the first are shown from there, below the second from ~

	// AgentColor is the color of an agent, ModelName the display name of a model. Each may be nil.
	AgentColor func(agent string) style.Color
	ModelName  func(lathe.ModelRef) string
	Live
	// Epoch changes when the first two may return other values.
	Epoch int
	// PausedPrompts says that the prompts after the last answer are paused.
	PausedPrompts bool
	// RedoKey is the label of the redo key.
	RedoKey string
}

// Live is what changes without a change of the history. Each may be nil.
type Live struct {
	// Child is the progress of a subagent.
	Child func(lathe.SessionID) (Child, bool)
	// Waits are the waits of a running call for the user so far; one that has not ended ends at 0.
	Waits func(call string) []lathe.Wait
	// Delivery is when a waiting prompt takes its place, "" if that is not known.
	Delivery func(lathe.MessageID) lathe.Delivery
}

// Show is the visibility of parts.
type Show struct {
	Thinking   bool // reasoning unfolded
	Details    bool // finished tool calls
	Generic    bool // output of tools that have no view of their own
	Timestamps bool
	Metadata   bool // the footer of an answer
	Raw        bool // Markdown syntax
	Stacked    bool // diffs never side by side
	CutDiff    bool // long lines of diffs cut instead of wrapped
}

// Child is the progress of a subagent.
type Child struct {
	Activity string // its current tool call
	Calls    int    // number of tool calls so far
	Retry    string // the reason for waiting
}

// Chat is the state of the view.
type Chat struct {
	top      anchor // the first row on the screen; zero follows the end
	open     map[lathe.PartID]bool
	cache    map[blockID]*block
	look     look
	used     int // frame counter, to evict unused blocks
	rows     []row
	atEnd    bool
	hasOlder bool // the first loaded row is on the screen
	cursor   cursor
	search   search
}

// anchor is a row of a block.
type anchor struct {
	message lathe.MessageID
	block   int
	line    int
}

// row is the block of a row on the screen.
type row struct {
	id    blockID
	block int
	line  int
}

// New begins at the end.
func New() *Chat {
	return &Chat{open: map[lathe.PartID]bool{}, cache: map[blockID]*block{}, atEnd: true, search: search{at: -1}}
}

// look is the shared input of all rows: a change redraws them all.
type look struct {
	theme     *style.Theme
	width     int
	show      Show
	dir, home string
	epoch     int
}

// keepBlocks is how many drawn blocks are kept beside those on the screen.
const keepBlocks = 400

// View draws the visible part. The result is never higher than env.Height.
func (c *Chat) View(t *lathe.Transcript, env Env) []style.Line {
	if l := (look{env.Theme, env.Width, env.Show, env.Dir, env.Home, env.Epoch}); l != c.look {
		c.look = l
		clear(c.cache)
	}
	c.used++
	w := c.walk(t, env)
	var lines []style.Line
	if c.top == (anchor{}) {
		lines = c.fromEnd(w)
	} else {
		lines = c.fromTop(w)
	}
	Reader{w}.drawMarks(lines)
	if c.cursor.at != (anchor{}) && len(c.rows) > 0 && c.rows[0].id.message != "" {
		c.top = c.rows[0].anchor() // the rows stay while one reads, whatever is added below
	}
	c.evict()
	return lines
}

// fromEnd fills the screen from the last row up.
func (c *Chat) fromEnd(w *walk) []style.Line {
	at, ok := w.last()
	var spots []blockPos
	n := 0
	for ok && n < w.env.Height {
		if h := w.block(at).height(); h > 0 {
			spots, n = append(spots, at), n+h
		}
		at, ok = w.before(at)
	}
	c.atEnd, c.hasOlder = true, !ok && n <= w.env.Height
	var out []style.Line
	c.rows = c.rows[:0]
	skip := max(0, n-w.env.Height)
	for _, at := range slices.Backward(spots) {
		out = c.emit(out, w, at, skip)
		skip = 0
	}
	return out
}

// emit adds the rows of a block, up to the height of the screen.
func (c *Chat) emit(out []style.Line, w *walk, at blockPos, from int) []style.Line {
	b, id := w.block(at), w.id(at)
	for j := from; j < b.height() && len(out) < w.env.Height; j++ {
		out = append(out, b.row(j))
		c.rows = append(c.rows, row{id, at.block, j})
	}
	return out
}

// fromTop fills the screen from the row that is looked at. Where that leaves the end of the history above the
// end of the screen, the end is followed again.
func (c *Chat) fromTop(w *walk) []style.Line {
	at, ok := w.find(c.top)
	if !ok {
		c.top = anchor{}
		return c.fromEnd(w)
	}
	first, skip := at, c.top.line
	var out []style.Line
	c.rows = c.rows[:0]
	for ok && len(out) < w.env.Height {
		out = c.emit(out, w, at, skip)
		skip = 0
		at, ok = w.after(at)
	}
	if len(out) < w.env.Height || c.isEnd(w, at, ok) {
		c.top = anchor{}
		return c.fromEnd(w)
	}
	c.atEnd = false
	_, older := w.before(first)
	c.hasOlder = !older && c.top.line == 0
	return out
}

// isEnd reports whether nothing is left below the rows on the screen: neither of their last block nor, from at on,
// of others.
func (c *Chat) isEnd(w *walk, at blockPos, more bool) bool {
	if len(c.rows) == 0 {
		return false
	}
	last := c.rows[len(c.rows)-1]
	if b := c.cache[last.id]; b == nil || last.line+1 < b.height() {
		return false
	}
	for ; more; at, more = w.after(at) {
		if w.block(at).height() > 0 {
			return false
		}
	}
	return true
}

// AtEnd reports whether the end of the history was on the screen, and is followed.
func (c *Chat) AtEnd() bool { return c.atEnd }

// AtTop reports whether the first loaded row was on the screen: older messages may be needed.
func (c *Chat) AtTop() bool { return c.hasOlder }

// evict drops drawn blocks that were not on the screen lately.
func (c *Chat) evict() {
	if len(c.cache) <= keepBlocks+len(c.rows) {
		return
	}
	for id, b := range c.cache {
		if b.used < c.used-1 {
			delete(c.cache, id)
		}
	}
}

// Target is the click target of a row.
type Target struct {
	Message lathe.MessageID
	Part    lathe.PartID    // "" for a message of the user
	Child   lathe.SessionID // the session that works for a call
	User    bool
}

// At returns the target at a row of the last view.
func (c *Chat) At(y int) (Target, bool) {
	if y < 0 || y >= len(c.rows) {
		return Target{}, false
	}
	id := c.rows[y].id
	b := c.cache[id]
	if b == nil {
		return Target{}, false
	}
	t := Target{Message: id.message, Part: id.part, Child: b.child, User: id.kind == userBlock}
	if b.canFold && (id.kind == footerBlock || t.User && c.rows[y].line == b.lead+b.foldRow) {
		t.Part, t.User = id.foldKey(), false
	}
	return t, true
}

// Toggle unfolds a part, or folds it. What stands above stays where it is: one reads on where one has clicked.
func (c *Chat) Toggle(id lathe.PartID) {
	if !c.canFold(id) {
		return
	}
	if r := c.rows[0]; r.id.message != "" {
		c.top = anchor{r.id.message, r.block, r.line}
	}
	if c.open[id] {
		delete(c.open, id)
	} else {
		c.open[id] = true
	}
}

// canFold reports whether a part on the screen can be unfolded or folded.
func (c *Chat) canFold(part lathe.PartID) bool {
	return slices.ContainsFunc(c.rows, func(r row) bool {
		b := c.cache[r.id]
		return r.id.foldKey() == part && b != nil && b.canFold
	})
}

// ToggleLast unfolds or folds the last part on the screen that can be.
func (c *Chat) ToggleLast() bool {
	for y := len(c.rows) - 1; y >= 0; y-- {
		id := c.rows[y].id
		if b := c.cache[id]; b != nil && b.canFold {
			c.Toggle(id.foldKey())
			return true
		}
	}
	return false
}
