package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/style"
)

// overlays shows dialogs over the screen, one at a time.
type overlays struct {
	*services
	drafts  *drafts  // saves text typed into a dialog that closes
	current *overlay // nil when there is none
}

// box is any of the dialogs.
type box interface {
	Key(k tea.KeyPressMsg) dialog.Result
	Paste(text string) dialog.Result
	Click(x, y int) dialog.Result
	Wheel(dy int) dialog.Result
	View(th *style.Theme, width, height int) []style.Line
	Cursor() (x, y int, ok bool)
}

// overlay is a dialog and its handlers.
type overlay struct {
	box box
	// onResult is called for every result but Closed. The dialog closes after a choice unless keepOpen is set.
	onResult func(dialog.Result) tea.Cmd
	// onClose, if any, is called when it closes without a choice.
	onClose func() tea.Cmd
	// refill, if any, updates its items after a change of the state.
	refill func()
	// onOlderLoaded, if any, requests all older messages and is called after each page.
	onOlderLoaded func()
	// keepOpen keeps it open after a choice.
	keepOpen bool
	// isAnimated, if any, reports whether it shows an animation.
	isAnimated func() bool
	// noDim leaves the screen undimmed, for a preview.
	noDim bool

	x, y, width, height int // where it was drawn
}

// show opens a dialog.
func (ov *overlays) show(o *overlay) tea.Cmd {
	ov.current = o
	return ov.animate()
}

// handle processes the result of a dialog.
func (ov *overlays) handle(out dialog.Result) tea.Cmd {
	o := ov.current
	switch out := out.(type) {
	case nil, dialog.None:
		return nil
	case dialog.Closed:
		ov.current = nil
		var kept tea.Cmd
		if b, ok := o.box.(interface{ Typed() string }); ok {
			kept = ov.drafts.saveTyped(b.Typed())
		}
		if o.onClose != nil {
			return tea.Batch(kept, o.onClose())
		}
		return kept
	case dialog.Copy:
		return ov.copy(out.Text)
	case dialog.Moved, dialog.Query:
		return o.onResult(out)
	default:
		if !o.keepOpen {
			ov.current = nil
		}
		return o.onResult(out)
	}
}

// refresh updates the items of the open dialog.
func (ov *overlays) refresh() tea.Cmd {
	if ov.current != nil && ov.current.refill != nil {
		ov.current.refill()
	}
	return nil
}

// onChosen makes a handler for a chosen entry.
func onChosen(do func(c dialog.Chosen) tea.Cmd) func(dialog.Result) tea.Cmd {
	return func(out dialog.Result) tea.Cmd {
		if c, ok := out.(dialog.Chosen); ok {
			return do(c)
		}
		return nil
	}
}

// onEntered makes a handler for an entered text.
func onEntered(do func(text string) tea.Cmd) func(dialog.Result) tea.Cmd {
	return func(out dialog.Result) tea.Cmd {
		if e, ok := out.(dialog.Entered); ok {
			return do(e.Text)
		}
		return nil
	}
}

// draw draws the dialog over the dimmed screen, below the toasts if it would touch them.
func (ov *overlays) draw(th *style.Theme, lines []style.Line, frame int) ([]style.Line, *tea.Cursor) {
	o := ov.current
	if m, ok := o.box.(interface{ SetFrame(n int) }); ok {
		m.SetFrame(max(0, frame))
	}
	rows := ov.place(th, 0)
	if top := ov.notesY + len(ov.notes); len(ov.notes) > 0 && o.y < top && o.x+o.width > ov.notesX {
		rows = ov.place(th, top)
	}
	for i, l := range lines {
		if !o.noDim {
			lines[i] = th.Dim(l)
		}
	}
	lines = drawOver(lines, rows, o.x, o.y)
	if x, y, ok := o.box.Cursor(); ok {
		return lines, tea.NewCursor(x+o.x, y+o.y)
	}
	return lines, nil
}

// place draws the dialog between a row and the bottom of the screen, and notes where.
func (ov *overlays) place(th *style.Theme, top int) []style.Line {
	o, height := ov.current, ov.height-top
	rows := o.box.View(th, ov.width, max(1, height-2))
	o.width, o.height = 0, len(rows)
	for _, r := range rows {
		o.width = max(o.width, r.Width())
	}
	o.x, o.y = max(0, (ov.width-o.width)/2), top+max(0, min((height-len(rows))/3, height-len(rows)))
	return rows
}

// drop closes a dialog that waits in vain.
func (ov *overlays) drop(o *overlay) {
	if o != nil && ov.current == o {
		ov.current = nil
	}
}

// click handles a click while a dialog is open: a click outside closes it.
func (ov *overlays) click(x, y int) tea.Cmd {
	o := ov.current
	if x < o.x || x >= o.x+o.width || y < o.y || y >= o.y+o.height {
		return ov.handle(dialog.Closed{})
	}
	return ov.handle(o.box.Click(x-o.x, y-o.y))
}
