package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/style"
)

// overlays are the dialogs that lie over the rest, one at a time.
type overlays struct {
	*services
	drafts  *drafts  // what was typed into a dialog that is gone is kept
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

// overlay is a dialog and what is to be done with what comes of it.
type overlay struct {
	box box
	// onResult is called for everything but what closes it. A dialog that was chosen from is gone unless on opens it, or another.
	onResult func(dialog.Result) tea.Cmd
	// onClose, if any, is called when it goes without a choice.
	onClose func() tea.Cmd
	// refill, if any, fills it anew when what it shows has changed.
	refill func()
	// onOlderLoaded, if any, wants the session on the screen to be read to its beginning, and is called as it is.
	onOlderLoaded func()
	// keepOpen keeps it open when something is chosen in it.
	keepOpen bool
	// isAnimated, if any, reports whether something in it moves.
	isAnimated func() bool
	// noDim leaves the rest of the screen as it is, for a choice that shows there.
	noDim bool

	x, y, width, height int // where it was drawn
}

// show puts a dialog over the rest.
func (ov *overlays) show(o *overlay) tea.Cmd {
	ov.current = o
	return ov.animate()
}

// handle does what a dialog wants.
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

// refresh fills the dialog on the screen anew.
func (ov *overlays) refresh() tea.Cmd {
	if ov.current != nil && ov.current.refill != nil {
		ov.current.refill()
	}
	return nil
}

// onChosen makes a handler of what to do with an entry.
func onChosen(do func(c dialog.Chosen) tea.Cmd) func(dialog.Result) tea.Cmd {
	return func(out dialog.Result) tea.Cmd {
		if c, ok := out.(dialog.Chosen); ok {
			return do(c)
		}
		return nil
	}
}

// onEntered makes a handler of what to do with a text.
func onEntered(do func(text string) tea.Cmd) func(dialog.Result) tea.Cmd {
	return func(out dialog.Result) tea.Cmd {
		if e, ok := out.(dialog.Entered); ok {
			return do(e.Text)
		}
		return nil
	}
}

// draw puts a dialog over the screen, which recedes.
func (ov *overlays) draw(th *style.Theme, lines []style.Line, frame int) ([]style.Line, *tea.Cursor) {
	o := ov.current
	if m, ok := o.box.(interface{ SetFrame(n int) }); ok {
		m.SetFrame(max(0, frame))
	}
	rows := o.box.View(th, ov.width, max(1, ov.height-2))
	o.width, o.height = 0, len(rows)
	for _, r := range rows {
		o.width = max(o.width, r.Width())
	}
	o.x, o.y = max(0, (ov.width-o.width)/2), max(0, min((ov.height-len(rows))/3, ov.height-len(rows)))
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

// drop takes a dialog away that waits for what will not come any more.
func (ov *overlays) drop(o *overlay) {
	if o != nil && ov.current == o {
		ov.current = nil
	}
}

// click is a click while a dialog lies over the rest: outside of it, it closes.
func (ov *overlays) click(x, y int) tea.Cmd {
	o := ov.current
	if x < o.x || x >= o.x+o.width || y < o.y || y >= o.y+o.height {
		return ov.handle(dialog.Closed{})
	}
	return ov.handle(o.box.Click(x-o.x, y-o.y))
}
