package chat

import "github.com/lathe-agent/lathe"

// painter draws prompts, answers and tool calls. It knows nothing of the rest of the conversation.
type painter struct{ env Env }

// walk goes over the blocks of a history, of which it draws those that are asked for.
type walk struct {
	painter
	c     *Chat
	t     *lathe.Transcript
	count int // visible messages: undone ones are not
	tail  int // 1 when the list of undone messages follows
	busy  int // the first message after which prompts are queued, count when none are
}

// blockPos is a block: of a message, its parts in their order and then its close.
type blockPos struct{ message, block int }

// walk prepares the drawing of a history: it ends before undone messages, and finds the first queued prompt.
func (c *Chat) walk(t *lathe.Transcript, env Env) *walk {
	w := &walk{painter: painter{env}, c: c, t: t, count: t.Count()}
	if r := t.Session().Revert; r != nil {
		if i := t.Find(r.Message); i >= 0 {
			w.count, w.tail = i, 1
		}
	}
	w.busy = w.count
	for i := w.count - 1; i >= 0 && i >= w.count-50; i-- {
		if a, ok := t.View(i).Data().(*lathe.Assistant); ok {
			if a.Completed == 0 && a.Error == nil || env.PausedPrompts {
				w.busy = i
			}
			break
		}
	}
	return w
}

// blocks is how many blocks a message has.
func (w *walk) blocks(message int) int {
	if message >= w.count {
		return 1
	}
	h := w.t.View(message)
	if isUser(h) {
		return 1
	}
	return h.Len() + 1
}

func isUser(h lathe.MessageView) bool {
	_, ok := h.Data().(*lathe.User)
	return ok
}

func (w *walk) last() (blockPos, bool) {
	n := w.count + w.tail
	if n == 0 {
		return blockPos{}, false
	}
	return blockPos{n - 1, w.blocks(n-1) - 1}, true
}

func (w *walk) before(s blockPos) (blockPos, bool) {
	if s.block > 0 {
		return blockPos{s.message, s.block - 1}, true
	}
	if s.message == 0 {
		return s, false
	}
	return blockPos{s.message - 1, w.blocks(s.message-1) - 1}, true
}

func (w *walk) after(s blockPos) (blockPos, bool) {
	if s.block+1 < w.blocks(s.message) {
		return blockPos{s.message, s.block + 1}, true
	}
	if s.message+1 >= w.count+w.tail {
		return s, false
	}
	return blockPos{s.message + 1, 0}, true
}

// find returns the block of an anchor, or the nearest there is of its message.
func (w *walk) find(a anchor) (blockPos, bool) {
	i := w.t.Find(a.message)
	if i < 0 || i >= w.count {
		return blockPos{}, false
	}
	return blockPos{i, min(a.block, w.blocks(i)-1)}, true
}

func (w *walk) anchor(s blockPos, line int) anchor {
	if s.message >= w.count {
		return anchor{}
	}
	return anchor{w.t.View(s.message).ID(), s.block, line}
}

// Scroll moves the view by rows, up when negative.
func (c *Chat) Scroll(t *lathe.Transcript, env Env, rows int) {
	w := c.walk(t, env)
	at, line, ok := c.first(w)
	if !ok || rows == 0 {
		return
	}
	at, line, end := w.move(at, line, rows)
	if end {
		c.top = anchor{}
		return
	}
	c.top = w.anchor(at, line)
}

// move goes rows further, up when negative. It stops at the first row, and reports whether it would go past the last
// one.
func (w *walk) move(at blockPos, line, rows int) (_ blockPos, _ int, end bool) {
	for rows < 0 {
		if line >= -rows {
			return at, line + rows, false
		}
		rows += line
		line = 0
		prev, more := w.before(at)
		if !more {
			return at, 0, false
		}
		at = prev
		line = w.block(at).height()
	}
	for rows > 0 {
		left := w.block(at).height() - line
		if rows < left {
			return at, line + rows, false
		}
		next, more := w.after(at)
		if !more {
			return at, line, true
		}
		rows, at, line = rows-left, next, 0
	}
	return at, line, false
}

// first is the block and the row at the top of the screen.
func (c *Chat) first(w *walk) (blockPos, int, bool) {
	if c.top != (anchor{}) {
		if at, ok := w.find(c.top); ok {
			return at, c.top.line, true
		}
	}
	at, ok := w.last()
	if !ok {
		return at, 0, false
	}
	need := w.env.Height
	for {
		n := w.block(at).height()
		if n >= need {
			return at, n - need, true
		}
		need -= n
		prev, more := w.before(at)
		if !more {
			return at, 0, true
		}
		at = prev
	}
}

// Extent is which messages were on the screen at last, of how many.
func (c *Chat) Extent(t *lathe.Transcript) (first, last, count int) {
	count = t.Count()
	if len(c.rows) == 0 || count == 0 {
		return 0, 0, count
	}
	place := func(r row) int { return max(0, t.Find(r.id.message)) }
	first, last = place(c.rows[0]), place(c.rows[len(c.rows)-1])
	if c.atEnd {
		last = count - 1
	}
	return first, max(first, last), count
}

// ToEnd follows the end again.
func (c *Chat) ToEnd() { c.top, c.cursor.at = anchor{}, anchor{} }

// ToTop scrolls to the first loaded message.
func (c *Chat) ToTop(t *lathe.Transcript) {
	if t.Count() > 0 {
		c.To(t.View(0).ID())
	}
}

// To brings a message to the top of the screen, and the cursor to its first row.
func (c *Chat) To(id lathe.MessageID) {
	c.top = anchor{message: id}
	if c.cursor.on {
		c.cursor.at = anchor{message: id, line: 1} // below the empty row above it
	}
}

// NextPrompt is the message of the user before (back) or behind the top of the screen, "" when there is none.
func (c *Chat) NextPrompt(t *lathe.Transcript, env Env, back bool) lathe.MessageID {
	w := c.walk(t, env)
	at, line, ok := c.first(w)
	if !ok {
		return ""
	}
	i, step := at.message, 1
	if back {
		step = -1
		if at.block == 0 && line <= 1 { // it stands there already
			i--
		}
	} else {
		i++
	}
	for ; i >= 0 && i < w.count; i += step {
		if h := t.View(i); isUser(h) {
			return h.ID()
		}
	}
	return ""
}

// block draws a block, or returns it from the cache.
func (w *walk) block(s blockPos) *block {
	id, b := w.id(s), (*block)(nil)
	if b = w.c.cache[id]; b == nil {
		b = &block{}
		w.c.cache[id] = b
	}
	b.used = w.c.used
	b.draw(w, s, id)
	return b
}
