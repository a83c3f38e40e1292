package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
)

// Result is what came of a key or of a click: None, Closed, Chosen, Moved, Query, Entered, Filled or Copy. Sealed.
type Result interface{ isResult() }

type (
	// None is nothing for the root to do but to draw.
	None struct{}
	// Closed wants the dialog gone, with nothing done.
	Closed struct{}
	// Chosen is an entry. Key is "" for enter and click, or the extra key that was pressed on it; ID is ""
	// for an extra key that needs no entry.
	Chosen struct {
		ID  string
		Key key.Name
	}
	// Moved tells that another entry is under the cursor, for lists that show what it would be like. ID is
	// "" when nothing is left to be under it.
	Moved struct{ ID string }
	// Query tells what the filter says now, for lists that others search too.
	Query struct{ Text string }
	// Entered is the text of an Input.
	Entered struct{ Text string }
	// Filled is a Form, by the ids of its fields.
	Filled struct {
		Texts  map[string]string
		Checks map[string]bool
	}
	// Copy is a text for the clipboard; the dialog stays.
	Copy struct{ Text string }
)

func (None) isResult()    {}
func (Closed) isResult()  {}
func (Chosen) isResult()  {}
func (Moved) isResult()   {}
func (Query) isResult()   {}
func (Entered) isResult() {}
func (Filled) isResult()  {}
func (Copy) isResult()    {}

// base is a dialog that takes nothing but keys, and a click at its corner. Others are made of it.
type base struct{ corner corner }

// Paste does nothing.
func (*base) Paste(string) Result { return None{} }

// Click closes it at the corner.
func (q *base) Click(x, y int) Result {
	if q.corner.hit(x, y) {
		return Closed{}
	}
	return None{}
}

// Wheel has nothing to scroll.
func (*base) Wheel(int) Result { return None{} }

// Cursor is nowhere.
func (*base) Cursor() (x, y int, ok bool) { return 0, 0, false }

// Closes reports whether a key closes any dialog. These two are not for settings: somebody who has bound
// everything away must still get out.
func Closes(k tea.KeyPressMsg) bool {
	return k.Code == tea.KeyEscape || k.Code == 'c' && k.Mod.Contains(tea.ModCtrl)
}
