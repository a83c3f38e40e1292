package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
)

// Result is the outcome of a key or a click: None, Closed, Chosen, Moved, Query, Entered, Filled or Copy. Sealed.
type Result interface{ isResult() }

type (
	// None needs only a redraw.
	None struct{}
	// Closed closes the dialog without a choice.
	Closed struct{}
	// Chosen is an entry. Key is "" for enter and click, or the extra key that was pressed on it; ID is ""
	// for an extra key that needs no entry.
	Chosen struct {
		ID  string
		Key key.Name
	}
	// Moved reports another entry under the cursor, for lists with a preview. ID is
	// "" when the list is empty.
	Moved struct{ ID string }
	// Query is the new text of the filter, for lists with a remote search.
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

// base is embedded by dialogs that handle only keys and a click on the close corner.
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

// Closes reports whether a key closes any dialog. These two cannot be rebound: a user who has bound
// everything away must still get out.
func Closes(k tea.KeyPressMsg) bool {
	return k.Code == tea.KeyEscape || k.Code == 'c' && k.Mod.Contains(tea.ModCtrl)
}
