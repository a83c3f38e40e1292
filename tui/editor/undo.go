package editor

import (
	"slices"
	"unicode"
)

// Limits of the undo log.
const (
	mostChanges = 5000
	mostUndo    = 8 << 20 // bytes
)

// change is an edit and the data to undo it.
type change struct {
	at, end        pos // where the new text is
	removed, added []*line
	before, after  pos // of the cursor
	group          int // changes of the same group are undone together; 0 for none
}

// weight is the memory of a change in bytes, with an estimate for its fields.
func (c change) weight() int { return sizeOf(c.removed) + sizeOf(c.added) + 64 }

// undoLog holds the edits, oldest first, and the undone ones.
type undoLog struct {
	done, undone []change
	weight       int // of done
	open         bool
	group        int // of the next edits; 0 for none
	groups       int // how many there were
}

// settle makes the next edit one of its own.
func (p *undoLog) settle() { p.open = false }

// setGroup makes the edits from here on one step of undo, until it is closed.
func (p *undoLog) setGroup(open bool) {
	if p.open = false; !open {
		p.group = 0
	} else if p.group == 0 {
		p.groups++
		p.group = p.groups
	}
}

// add records an edit. Consecutive letters of a word become one edit.
func (p *undoLog) add(c change) {
	p.undone = nil
	c.group = p.group
	if k := len(p.done) - 1; p.open && k >= 0 && p.done[k].joins(c) {
		last := &p.done[k]
		last.added = []*line{joinLines(last.added[0], c.added[0])}
		last.end, last.after = c.end, c.after
		p.weight += len(c.added[0].text)
		return
	}
	p.done = append(p.done, c)
	p.weight += c.weight()
	p.trim()
	p.open = len(c.added) == 1 && sizeOf(c.removed) == 0 && len(c.added[0].toks) == 0 && c.added[0].text != ""
}

// trim drops the oldest edits, several at once so that not every key pays for it. Groups go as a whole, and the present
// one stays.
func (p *undoLog) trim() {
	drop, most := 0, len(p.done)
	if most > mostChanges {
		most -= mostChanges / 5
	}
	for left := len(p.done); left > 1; left-- {
		oldest := p.done[drop].group
		rest := drop > 0 && oldest != 0 && oldest == p.done[drop-1].group
		if left <= most && p.weight <= mostUndo && !rest || oldest != 0 && oldest == p.group {
			break
		}
		p.weight -= p.done[drop].weight()
		drop++
	}
	if drop > 0 {
		p.done = slices.Clone(p.done[drop:])
	}
}

// joins reports whether an edit continues this one inside a word.
func (c change) joins(next change) bool {
	if c.group != next.group || len(next.added) != 1 || sizeOf(next.removed) != 0 || next.at != c.end || len(next.added[0].text) > 16 || len(c.added[0].text) > 400 {
		return false
	}
	now := next.added[0].text
	if now == "" || len(next.added[0].toks) > 0 {
		return false
	}
	was := c.added[0].text
	return unicode.IsSpace(rune(now[0])) || !unicode.IsSpace(rune(was[len(was)-1]))
}
