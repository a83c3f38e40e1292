package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/keyhelp"
	"github.com/lathe-agent/lathe/tui/style"
)

// keyHelp is the short list of the keys that work where the focus is, over everything else on the screen.
type keyHelp struct {
	*services
	drafts *drafts
	on     *regions

	groups []keyhelp.Group // none while it is hidden
}

// handleKey shows or hides the list. It reports whether the key was one for it: where text is typed, it is not. Any
// other key hides the list and counts as usual.
func (kh *keyHelp) handleKey(k tea.KeyPressMsg) bool {
	isHelp := kh.keys.Match(k, key.KeysShow)
	if len(kh.groups) > 0 {
		kh.groups = nil
		return isHelp || dialog.Closes(k) || kh.keys.Match(k, key.DialogSelectSubmit)
	}
	if isHelp {
		kh.groups = kh.here()
	}
	return len(kh.groups) > 0
}

// here are the keys where the focus is. There are none where a text is typed, and where the region has its own help.
func (kh *keyHelp) here() []keyhelp.Group {
	on := kh.on
	switch {
	case on.overlays.current != nil:
		b := on.overlays.current.box
		if l, ok := b.(*dialog.List); ok && !l.IsFiltered() {
			return keyhelp.Dialog(l.Extras())
		}
		if _, _, typing := b.Cursor(); !typing {
			return keyhelp.Dialog(nil)
		}
	case on.reviewer.view != nil || on.setup.isShown():
	case on.asks.current != nil:
		// Right after other keys, it is a part of a text that was meant for the prompt.
		a := on.asks.current
		if _, _, typing := a.Cursor(); !typing && kh.now().Sub(a.lastTyped) >= ask.Quiet {
			return keyhelp.Request(a.permission != nil)
		}
	case on.scroller.active():
		if !on.scroller.mode.Typing() {
			return keyhelp.Scroll()
		}
	case kh.state.IsChild():
		return keyhelp.Child()
	case kh.drafts.edit.IsEmpty() && !kh.drafts.edit.InShell() && !kh.drafts.edit.Suggesting():
		return keyhelp.Prompt(kh.state.Current != "")
	}
	return nil
}

// draw draws the list in the middle of the screen.
func (kh *keyHelp) draw(th *style.Theme, lines []style.Line) []style.Line {
	rows := keyhelp.View(th, kh.keys, kh.groups, kh.width, kh.height-2)
	return drawOver(lines, rows, max(0, (kh.width-rows[0].Width())/2), max(0, (kh.height-len(rows))/2))
}
