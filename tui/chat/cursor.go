package chat

import (
	"cmp"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// cursor is the row of the scroll mode, and the row at which a selection began.
type cursor struct {
	on        bool
	at        anchor // zero is the last row: the end is followed
	selecting bool
	mark      anchor
}

// Reader reads a conversation with the cursor, for the scroll mode: it moves, selects and searches. Make one with Chat.Reader
// for each key.
type Reader struct{ *walk }

// Reader makes a reader of the history as it is now.
func (c *Chat) Reader(t *lathe.Transcript, env Env) Reader { return Reader{c.walk(t, env)} }

// StartCursor shows the cursor, in the last row on the screen.
func (c *Chat) StartCursor() {
	c.cursor = cursor{on: true}
	if n := len(c.rows); n > 0 && !c.atEnd {
		c.cursor.at = c.rows[n-1].anchor()
	}
}

// StopCursor hides the cursor and ends the search.
func (c *Chat) StopCursor() {
	c.cursor = cursor{}
	c.Search("")
}

// Selecting reports whether rows are being selected.
func (c *Chat) Selecting() bool { return c.cursor.selecting }

// Select begins a selection at the cursor, or ends it.
func (rd Reader) Select() {
	if rd.c.cursor.selecting = !rd.c.cursor.selecting; !rd.c.cursor.selecting {
		return
	}
	if at, line, ok := rd.cursorPos(); ok {
		rd.c.cursor.mark = rd.anchor(at, line)
	}
}

func (r row) anchor() anchor { return anchor{r.id.message, r.block, r.line} }

// cursorPos is the block and the row of the cursor.
func (rd Reader) cursorPos() (at blockPos, line int, ok bool) {
	if rd.c.cursor.at != (anchor{}) {
		if at, ok = rd.find(rd.c.cursor.at); ok {
			return at, min(rd.c.cursor.at.line, max(0, rd.block(at).height()-1)), true
		}
	}
	at, ok = rd.last()
	for ok && rd.block(at).height() == 0 {
		at, ok = rd.before(at)
	}
	if !ok {
		return at, 0, false
	}
	return at, rd.block(at).height() - 1, true
}

// cursorRow is the row of the cursor on the screen, -1 if it is not there.
func (c *Chat) cursorRow() int {
	if c.cursor.at == (anchor{}) {
		if c.atEnd {
			return len(c.rows) - 1
		}
		return -1
	}
	for y, r := range c.rows {
		if r.anchor() == c.cursor.at {
			return y
		}
	}
	return -1
}

// Move moves the cursor by rows, up when negative. The view follows it.
func (rd Reader) Move(rows int) {
	at, line, ok := rd.cursorPos()
	if !ok {
		return
	}
	if at.message >= rd.count && rows < 0 { // the list of undone messages is one row here
		if at, ok = rd.before(at); !ok {
			return
		}
		line = rd.block(at).height()
	}
	at, line, end := rd.move(at, line, rows)
	rd.setCursor(at, line, end)
	rd.show(rows > 0)
}

// Page moves the cursor and the view by rows.
func (rd Reader) Page(rows int) {
	rd.c.Scroll(rd.t, rd.env, rows)
	rd.Move(rows)
}

// setCursor puts the cursor on a row.
func (rd Reader) setCursor(at blockPos, line int, end bool) {
	for ; !end && rd.block(at).height() == 0; line = 0 {
		next, more := rd.after(at)
		if end = !more; more {
			at = next
		}
	}
	rd.c.cursor.at = anchor{}
	if !end && !rd.isLastRow(at, line) {
		rd.c.cursor.at = rd.anchor(at, line)
	}
}

// isLastRow reports whether no row follows.
func (w *walk) isLastRow(at blockPos, line int) bool {
	if line+1 < w.block(at).height() {
		return false
	}
	for {
		var more bool
		if at, more = w.after(at); !more {
			return true
		}
		if w.block(at).height() > 0 {
			return false
		}
	}
}

// KeepOnScreen brings the cursor back to the screen after the view was scrolled.
func (rd Reader) KeepOnScreen() {
	if !rd.c.cursor.on || len(rd.c.rows) == 0 {
		return
	}
	at, line, ok := rd.cursorPos()
	first, found := rd.find(rd.c.rows[0].anchor())
	switch {
	case !ok || !found || rd.c.cursorRow() >= 0:
	case comparePos(at, line, first, rd.c.rows[0].line) < 0:
		rd.c.cursor.at = rd.c.rows[0].anchor()
	default:
		rd.c.cursor.at = rd.c.rows[len(rd.c.rows)-1].anchor()
	}
}

// Toggle unfolds the part at the cursor, or folds it.
func (rd Reader) Toggle() {
	at, _, ok := rd.cursorPos()
	if !ok || at.message >= rd.count || !rd.block(at).canFold {
		return
	}
	part := rd.id(at).foldKey()
	rd.c.open[part] = !rd.c.open[part]
	if _, line, ok := rd.cursorPos(); ok { // it may have fewer rows now
		rd.setCursor(at, line, false)
	}
	rd.show(true)
}

// Text is the text of the message or part at the cursor, and its name.
func (rd Reader) Text() (text, what string) {
	at, _, ok := rd.cursorPos()
	if !ok || at.message >= rd.count {
		return "", ""
	}
	h := rd.t.View(at.message)
	if isUser(h) || at.block >= h.Len() {
		return messageText(h), "message"
	}
	switch b := h.Part(at.block).Body.(type) {
	case *lathe.Text:
		return strings.TrimSpace(b.Text), "message"
	case *lathe.Reasoning:
		return strings.TrimSpace(b.Text), "reasoning"
	case *lathe.ToolCall:
		call := parseCall(b)
		return strings.TrimSpace(cmp.Or(call.failed, call.meta.Diff, call.args.Content, call.shownOutput(), call.output)), "output"
	default:
		return "", ""
	}
}

// messageText is the text of a message, without tool calls and reasoning.
func messageText(h lathe.MessageView) string {
	var out []string
	for i := range h.Len() {
		if t, ok := h.Part(i).Body.(*lathe.Text); ok && !t.Synthetic.On() && !t.Ignored.On() && t.Text != "" {
			out = append(out, strings.TrimSpace(t.Text))
		}
	}
	return strings.Join(out, "\n\n")
}

// show scrolls until the cursor is on the screen: at its edge, after a small move.
func (rd Reader) show(down bool) {
	if rd.c.cursor.at == (anchor{}) {
		rd.c.top = anchor{}
		return
	}
	if rd.c.View(rd.t, rd.env); rd.c.cursorRow() >= 0 {
		return
	}
	above := 0
	if down {
		above = rd.env.Height - 1
	}
	rd.showAt(above)
}

// showAt scrolls so that a number of rows is above the cursor.
func (rd Reader) showAt(above int) {
	if at, line, ok := rd.cursorPos(); ok {
		at, line, _ = rd.move(at, line, -above)
		rd.c.top = rd.anchor(at, line)
	}
}

func comparePos(a blockPos, aLine int, b blockPos, bLine int) int {
	return cmp.Or(cmp.Compare(a.message, b.message), cmp.Compare(a.block, b.block), cmp.Compare(aLine, bLine))
}

// maxSelected is how many rows of a selection are copied: a clipboard is not an archive.
const maxSelected = 10_000

// Selected is the text of the selected rows, without margins and bars.
func (rd Reader) Selected() string {
	from, first, ok := rd.cursorPos()
	to, found := rd.find(rd.c.cursor.mark)
	if !ok || !found || !rd.c.cursor.selecting {
		return ""
	}
	last := rd.c.cursor.mark.line
	if comparePos(from, first, to, last) > 0 {
		from, first, to, last = to, last, from, first
	}
	var out []string
	for len(out) < maxSelected {
		b := rd.block(from)
		for ; first < b.height() && (from != to || first <= last); first++ {
			row := b.row(first).Text()
			out = append(out, strings.TrimRight(row[decoration(row):], " "))
		}
		next, more := rd.after(from)
		if from == to || !more {
			break
		}
		from, first = next, 0
	}
	return strings.Join(out, "\n")
}

// decoration is how many bytes of a row are its margin and bar.
func decoration(row string) int {
	at := 0
	for range 2 {
		rest := row[at:]
		for _, d := range []string{"  ", "│ ", "┃ "} {
			if strings.HasPrefix(rest, d) {
				at += len(d)
				break
			}
		}
		if at == 0 || strings.HasPrefix(row, "┃ ") {
			break
		}
	}
	return at
}

// mark draws the cursor, the selection and the matches over the rows on the screen.
func (rd Reader) drawMarks(lines []style.Line) {
	if !rd.c.search.pattern.IsEmpty() {
		rd.drawMatches(lines)
	}
	if !rd.c.cursor.on {
		return
	}
	if rd.c.cursor.selecting {
		rd.drawSelection(lines)
	}
	if y := rd.c.cursorRow(); y >= 0 && y < len(lines) {
		th := rd.env.Theme
		row := lines[y].Fit(rd.env.Width, style.Attr{}).With(func(a style.Attr) style.Attr {
			if a.BG == (style.Color{}) || a.BG == th.BackgroundPanel {
				a.BG = th.BackgroundElement
			}
			return a
		})
		lines[y] = row.Over(0, style.Of("▌", style.Fg(th.Primary).On(th.BackgroundElement)))
	}
}

// drawSelection inverts the selected rows.
func (rd Reader) drawSelection(lines []style.Line) {
	at, line, ok := rd.cursorPos()
	mark, found := rd.find(rd.c.cursor.mark)
	if !ok || !found {
		return
	}
	from, first, to, last := at, line, mark, rd.c.cursor.mark.line
	if comparePos(from, first, to, last) > 0 {
		from, first, to, last = to, last, from, first
	}
	places := map[lathe.MessageID]int{}
	for y, r := range rd.c.rows {
		i, known := places[r.id.message]
		if !known {
			i = rd.t.Find(r.id.message)
			places[r.id.message] = i
		}
		pos := blockPos{i, r.block}
		if i < 0 || comparePos(pos, r.line, from, first) < 0 || comparePos(pos, r.line, to, last) > 0 {
			continue
		}
		lines[y] = lines[y].Fit(rd.env.Width, style.Attr{}).With(func(a style.Attr) style.Attr { a.Invert = !a.Invert; return a })
	}
}
