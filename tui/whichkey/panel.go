// Package whichkey owns the panel at the bottom of the screen that lists the available keys: after the
// leader, or in the current mode.
//
// It knows the names of package key, not their actions. It is not safe for use by several goroutines.
// Start with Panel.
package whichkey

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
)

// Panel is the state of the panel. The zero value is closed, and opens by itself while the
// leader waits for its second key.
type Panel struct {
	open  bool
	quiet bool // stays closed while the leader waits
	list  bool // one below the other, with all keys of each
	group int  // 0 is all of them
	top   int  // the first entry that is drawn

	// The last drawing, for scrolling and clicks.
	groups, rows, columns, total int
	hits                         []hit
}

// hit is a click target: a group of the title, or a name.
type hit struct {
	x, y, width int
	group       int
	name        key.Name
}

// Context is the set of available keys.
type Context struct {
	Title       string     // the title, such as the leader key
	Names       []key.Name // the available actions
	AfterLeader bool       // show only keys that follow the leader
}

// Result is the outcome of a click.
type Result struct {
	Handled bool
	Name    key.Name // the action to run
}

// Shown reports whether the panel is to be drawn; pending says that the leader was pressed.
func (p *Panel) Shown(pending bool) bool { return p.open || pending && !p.quiet }

// Reset goes back to the beginning, for another set of keys.
func (p *Panel) Reset() { p.top, p.group = 0, 0 }

// Key does what a key of the panel does and reports whether it was one. Those that move need the panel to be
// shown; otherwise they belong to others.
func (p *Panel) Key(k tea.KeyPressMsg, m *key.Map, pending bool) bool {
	name, ok := m.First(k, key.WhichKeyToggle, key.WhichKeyLayoutToggle, key.WhichKeyPendingToggle)
	if !ok && p.Shown(pending) {
		name, ok = m.First(k, key.WhichKeyGroupPrevious, key.WhichKeyGroupNext, key.WhichKeyScrollUp, key.WhichKeyScrollDown,
			key.WhichKeyPageUp, key.WhichKeyPageDown, key.WhichKeyHome, key.WhichKeyEnd)
	}
	if ok {
		p.do(name)
	}
	return ok
}

func (p *Panel) do(name key.Name) {
	switch name {
	case key.WhichKeyToggle:
		p.open = !p.open
		p.Reset()
	case key.WhichKeyLayoutToggle:
		p.list, p.top = !p.list, 0
	case key.WhichKeyPendingToggle:
		p.quiet = !p.quiet
	case key.WhichKeyGroupPrevious:
		p.turn(-1)
	case key.WhichKeyGroupNext:
		p.turn(1)
	case key.WhichKeyScrollUp:
		p.scroll(-p.step())
	case key.WhichKeyScrollDown:
		p.scroll(p.step())
	case key.WhichKeyPageUp:
		p.scroll(-p.rows * p.columns)
	case key.WhichKeyPageDown:
		p.scroll(p.rows * p.columns)
	case key.WhichKeyHome:
		p.top = 0
	case key.WhichKeyEnd:
		p.scroll(p.total)
	}
}

// turn goes to another group.
func (p *Panel) turn(by int) {
	n := p.groups + 1
	p.group, p.top = (p.group+by+n)%n, 0
}

// step is how many entries one scroll moves: a column, so that entries keep their row.
func (p *Panel) step() int {
	if p.columns > 1 {
		return p.rows
	}
	return 1
}

// scroll moves by a number of entries, as far as possible.
func (p *Panel) scroll(by int) {
	last := max(0, p.total-p.rows*p.columns)
	if step := p.step(); step > 1 {
		last = (last + step - 1) / step * step // whole columns
	}
	p.top = max(0, min(p.top+by, last))
}

// Wheel scrolls.
func (p *Panel) Wheel(dy int) { p.scroll(dy * p.step()) }

// Click chooses a group, or returns an action.
func (p *Panel) Click(x, y int) Result {
	for _, h := range p.hits {
		if y != h.y || x < h.x || x >= h.x+h.width {
			continue
		}
		if h.name == "" {
			p.group, p.top = h.group, 0
		}
		return Result{Handled: true, Name: h.name}
	}
	return Result{}
}
