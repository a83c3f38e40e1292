package chat

import (
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/find"
	"github.com/lathe-agent/lathe/tui/style"
)

// place is where the current match was drawn, and the drawing it was found in.
type place struct {
	line, from int // the row of its block, and the first cell
	drawn      stamp
	look       look
	at, nth    int
}

// piece is a match on one row, or the part of one that a line break divides.
type piece struct {
	row, from, to int // cells
	match         int
}

// pieces finds the matches in drawn rows: a match may continue in the next row.
func pieces(p find.Pattern, rows []style.Line) (out []piece) {
	var text strings.Builder
	starts, cuts := make([]int, len(rows)), make([]int, len(rows))
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = strings.TrimRight(r.Text(), " ")
		cuts[i] = min(decoration(texts[i]), len(texts[i]))
		starts[i] = text.Len()
		text.WriteString(texts[i][cuts[i]:])
		text.WriteByte(' ')
	}
	row, n := 0, 0
	for from, to := range p.All(text.String()) {
		for row+1 < len(starts) && starts[row+1] <= from {
			row++
		}
		for y := row; y < len(starts) && starts[y] < to; y++ {
			a, b := max(from-starts[y], 0)+cuts[y], min(to-starts[y]+cuts[y], len(texts[y]))
			if a < b {
				out = append(out, piece{y, style.Width(texts[y][:a]), style.Width(texts[y][:b]), n})
			}
		}
		n++
	}
	return out
}

// allRows are the rows of a block.
func (b *block) allRows() []style.Line {
	out := make([]style.Line, b.height())
	for i := range out {
		out[i] = b.row(i)
	}
	return out
}

// drawMatches highlights the matches on the screen, the current one differently. Both differ without colors, too.
func (rd Reader) drawMatches(lines []style.Line) {
	c, th := rd.c, rd.env.Theme
	other := style.Attr{FG: th.Background, BG: th.Warning, Underline: true}
	current := style.Attr{FG: th.Primary, BG: th.Background, Invert: true, Bold: true}
	here := rd.currentPlace()
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && c.rows[to].id == c.rows[from].id {
			to++
		}
		now := -1
		for _, p := range pieces(c.search.pattern, lines[from:to]) {
			y, look := from+p.row, other
			if here != nil && c.rows[y].id == c.search.found[c.search.at].id && c.rows[y].line == here.line && p.from == here.from {
				now = p.match
			}
			if p.match == now {
				look = current
			}
			lines[y] = lines[y].Over(p.from, lines[y].Cut(p.from, p.to).With(func(style.Attr) style.Attr { return look }))
		}
		from = to
	}
}

// currentPlace is where the current match is drawn, nil if it is not on the screen.
func (rd Reader) currentPlace() *place {
	c, s := rd.c, &rd.c.search
	if s.at < 0 || s.at >= len(s.found) {
		return nil
	}
	b := c.cache[s.found[s.at].id]
	if b == nil || b.used != c.used {
		return nil
	}
	if s.place.drawn != b.stamp || s.place.look != c.look || s.place.at != s.at || s.place.nth != s.nth {
		rd.locate(b)
	}
	return &s.place
}

// locate finds the drawn row of the current match. A match that is drawn in another form, such as the target of a
// link, counts as the last before it. It reports whether the match itself is there.
func (rd Reader) locate(b *block) bool {
	s := &rd.c.search
	s.place = place{line: b.lead, from: -1, drawn: b.stamp, look: rd.c.look, at: s.at, nth: s.nth}
	last := -1
	for _, p := range pieces(s.pattern, b.allRows()) {
		if p.match > s.nth {
			break
		}
		if p.match > last {
			last, s.place.line, s.place.from = p.match, p.row, p.from
		}
	}
	return last == s.nth
}

// ToNearest goes to the nearest match at the cursor or above it. With all, when nothing is left to search, a match
// below it will do. It reports whether there is one.
func (rd Reader) ToNearest(all bool) bool {
	s := &rd.c.search
	pos, _, ok := rd.cursorPos()
	if !ok || len(s.found) == 0 {
		return false
	}
	here := foundBlock{}
	if pos.message < rd.count {
		here.created, here.id, here.block = rd.t.View(pos.message).Message().Created, rd.id(pos), pos.block
	}
	for i, f := range s.found {
		if here.id.message == "" || !f.isBelow(here) {
			rd.goTo(i, f.count-1)
			return true
		}
	}
	if all {
		rd.goTo(len(s.found)-1, 0)
	}
	return all
}

// isBelow reports whether a block comes after another.
func (f foundBlock) isBelow(other foundBlock) bool {
	if f.id.message == other.id.message {
		return f.block > other.block
	}
	a, b := lathe.Message{ID: f.id.message, Created: f.created}, lathe.Message{ID: other.id.message, Created: other.created}
	return b.Before(a)
}

// NextMatch goes to the next match, or with back to the previous one. At the end it begins again from the other side.
// It reports whether it did.
func (rd Reader) NextMatch(back bool) (wrapped bool) {
	s := &rd.c.search
	if rd.update(); len(s.found) == 0 {
		return false
	}
	i, n := s.at, s.nth
	switch {
	case i < 0:
		i, n = 0, s.found[0].count-1
	case back && n > 0:
		n--
	case !back && n+1 < s.found[i].count:
		n++
	case back:
		if i++; i == len(s.found) {
			i, wrapped = 0, true
		}
		n = s.found[i].count - 1
	default:
		if i--; i < 0 {
			i, wrapped = len(s.found)-1, true
		}
		n = 0
	}
	rd.goTo(i, n)
	return wrapped
}

// goTo makes a match the current one, unfolds its block if the match is folded away, and puts the cursor on it.
func (rd Reader) goTo(i, n int) {
	c, s := rd.c, &rd.c.search
	s.at, s.nth = i, n
	f := s.found[i]
	at, ok := rd.find(anchor{message: f.id.message, block: f.block})
	if !ok {
		return
	}
	if !rd.locate(rd.block(at)) && rd.unfold(at) {
		rd.locate(rd.block(at))
	}
	c.cursor.at = rd.anchor(at, s.place.line)
	if c.View(rd.t, rd.env); c.cursorRow() < 0 {
		rd.showAt(rd.env.Height / 3)
	}
}

// unfold opens the part of a block if it is folded.
func (w *walk) unfold(at blockPos) bool {
	h := w.t.View(at.message)
	if isUser(h) || at.block >= h.Len() {
		key := w.id(at).foldKey()
		folded := w.block(at).canFold && !w.c.open[key]
		w.c.open[key] = w.c.open[key] || folded
		return folded
	}
	id, body, _ := h.Peek(at.block)
	switch b := body.(type) {
	case *lathe.Reasoning:
		if w.form(id, b) != inline {
			return false
		}
		w.c.open[id] = !w.c.open[id]
	case *lathe.ToolCall:
		if w.c.open[id] || b.Tool == "task" {
			return false
		}
		w.c.open[id] = true
	default:
		return false
	}
	return true
}
