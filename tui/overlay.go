package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/style"
)

// box is any of the dialogs.
type box interface {
	Key(k tea.KeyPressMsg) dialog.Out
	Paste(text string) dialog.Out
	Click(x, y int) dialog.Out
	Wheel(dy int) dialog.Out
	View(th *style.Theme, width, height int) []style.Line
	Cursor() (x, y int, ok bool)
}

// overlay is a dialog and what is to be done with what comes of it.
type overlay struct {
	box box
	// on is called for everything but what closes it. A dialog that was chosen from is gone unless on opens it, or another.
	on func(dialog.Out) tea.Cmd
	// closed, if any, is called when it goes without a choice.
	closed func() tea.Cmd
	// fill, if any, fills it anew when what it shows has changed.
	fill func()
	// whole, if any, wants the session on the screen to be read to its beginning, and is called as it is.
	whole func()
	// stays keeps it open when something is chosen in it.
	stays bool
	// spins, if any, reports whether something in it moves.
	spins func() bool
	// clear leaves the rest of the screen as it is, for a choice that shows there.
	clear bool

	x, y, width int // where it was drawn
}

// show puts a dialog over the rest.
func (p *program) show(o *overlay) tea.Cmd {
	p.over = o
	return p.animate()
}

// overlaid does what a dialog wants.
func (p *program) overlaid(out dialog.Out) tea.Cmd {
	o := p.over
	switch out := out.(type) {
	case nil, dialog.None:
		return nil
	case dialog.Closed:
		p.over = nil
		var kept tea.Cmd
		if b, ok := o.box.(interface{ Typed() string }); ok {
			kept = p.keepTyped(b.Typed())
		}
		if o.closed != nil {
			return tea.Batch(kept, o.closed())
		}
		return kept
	case dialog.Copy:
		return p.copy(out.Text)
	case dialog.Moved, dialog.Query:
		return o.on(out)
	default:
		if !o.stays {
			p.over = nil
		}
		return o.on(out)
	}
}

// refreshOverlay fills the dialog on the screen anew.
func (p *program) refreshOverlay() tea.Cmd {
	if p.over != nil && p.over.fill != nil {
		p.over.fill()
	}
	return nil
}

// chosen makes a handler of what to do with an entry.
func chosen(do func(c dialog.Chosen) tea.Cmd) func(dialog.Out) tea.Cmd {
	return func(out dialog.Out) tea.Cmd {
		if c, ok := out.(dialog.Chosen); ok {
			return do(c)
		}
		return nil
	}
}

// entered makes a handler of what to do with a text.
func entered(do func(text string) tea.Cmd) func(dialog.Out) tea.Cmd {
	return func(out dialog.Out) tea.Cmd {
		if e, ok := out.(dialog.Entered); ok {
			return do(e.Text)
		}
		return nil
	}
}
