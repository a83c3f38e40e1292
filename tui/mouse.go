package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/selection"
	"github.com/lathe-agent/lathe/tui/status"
)

// pointer is the mouse state of the root.
type pointer struct {
	selection selection.Selection
	wheelAt   time.Time // of the last notch
	wheelRun  int       // notches in quick succession
}

// mouse routes a mouse event to the region under it.
func (p *program) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return p.wheel(m)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft {
			p.selection = p.startSelection(selection.Point{X: m.X, Y: m.Y})
		}
	case tea.MouseMotionMsg:
		if !p.selection.Pressed {
			p.dirty = false
			return nil
		}
		p.selection.To = selection.Point{X: m.X, Y: m.Y}
		p.selection.Moved = p.selection.Moved || p.selection.To != p.selection.From
	case tea.MouseReleaseMsg:
		return p.release(m)
	}
	return nil
}

// startSelection starts a selection in the region under the mouse.
func (p *program) startSelection(at selection.Point) selection.Selection {
	s := selection.Selection{From: at, To: at, Pressed: true, Right: p.width}
	f := p.frame()
	switch {
	case p.overlays.current != nil:
		if w := p.overlays.current.width; at.X >= p.overlays.current.x && at.X < p.overlays.current.x+w {
			s.Left, s.Right = p.overlays.current.x+1, p.overlays.current.x+w-1 // without its border
		}
	case p.reviewer.view != nil || p.state.Current == "":
	case f.sideX > 0 && at.X >= f.sideX:
		s.Left = f.sideX
	default:
		if f.sideX > 0 {
			s.Right = f.sideX
		}
		if at.X >= 2 { // left of that are margins and bars
			s.Left, s.InChat = 2, true
		}
	}
	return s
}

// release ends a drag, which copies, or a click.
func (p *program) release(m tea.Mouse) tea.Cmd {
	s := p.selection
	if !s.Pressed {
		return nil
	}
	if s.Moved {
		p.selection.Pressed = false
		if text := s.Text(p.lines); strings.TrimSpace(text) != "" {
			return p.copy(text)
		}
		return nil
	}
	p.selection = selection.Selection{}
	return p.click(m.X, m.Y)
}

// wheel scrolls the region under the mouse; the conversation is the default.
func (p *program) wheel(m tea.Mouse) tea.Cmd {
	if !p.selection.Pressed {
		p.selection = selection.Selection{} // its text scrolls away
	}
	dy := 1
	switch m.Button {
	case tea.MouseWheelUp:
		dy = -1
	case tea.MouseWheelDown:
	default:
		return nil
	}
	switch f := p.frame(); {
	case p.overlays.current != nil:
		return p.overlays.handle(p.overlays.current.box.Wheel(dy))
	case p.reviewer.view != nil:
		p.reviewer.view.Wheel(m.X, dy*p.wheelRows())
		return nil
	case p.state.Current != "" && f.onSide(m.X, m.Y):
		p.column.view.Wheel(dy * p.wheelRows())
		return nil
	case p.asks.current != nil && m.Y >= f.promptY:
		p.asks.current.Wheel(dy)
		return nil
	case p.showsPrompt() && m.Y >= f.inputY && m.Y < f.promptY+f.promptHeight:
		out := p.drafts.edit.Wheel(dy)
		if _, ends := out.(editor.NotHandled); !ends { // otherwise the prompt cannot scroll further
			return p.prompt.handle(out)
		}
	}
	return p.conversation.scroll(dy * p.wheelRows())
}

// wheelRows is how many rows a wheel notch scrolls. With acceleration they grow while the wheel
// keeps turning.
func (p *program) wheelRows() int {
	rows := 3
	if s := p.o.Look.ScrollSpeed; s > 0 {
		rows = max(1, int(s+0.5))
	}
	if !p.o.Look.Acceleration {
		return rows
	}
	now := p.now()
	if now.Sub(p.wheelAt) > 80*time.Millisecond {
		p.wheelRun = 0
	}
	p.wheelAt = now
	p.wheelRun++
	return rows * min(1+p.wheelRun/4, 8)
}

// click routes a click to the topmost region under the mouse.
func (p *program) click(x, y int) tea.Cmd {
	if len(p.help.groups) > 0 {
		p.help.groups = nil
		return nil
	}
	f := p.frame()
	if p.stack.Len() > 0 && x >= p.notesX && p.stack.Click(y-p.notesY, p.now()) {
		return nil
	}
	if p.overlays.current == nil && p.panel.Shown(p.afterLeader()) && y >= p.panelY {
		out := p.panel.Click(x, y-p.panelY)
		p.leader = time.Time{}
		return p.menu.runKey(out.Name)
	}
	switch {
	case p.overlays.current != nil:
		return p.overlays.click(x, y)
	case p.reviewer.view != nil:
		return p.reviewer.handle(p.reviewer.view.Click(x, y))
	case p.state.Current != "" && f.onSide(x, y):
		if out := p.column.view.Click(x-f.sideX, y); out.File != "" {
			return p.reviewer.start(fromSession, out.File)
		}
		return nil
	case p.drafts.edit.Suggesting() && f.popupRows > 0 && y >= f.popupY && y < f.popupY+f.popupRows:
		return p.prompt.handle(p.drafts.edit.ClickPopup(y - f.popupY))
	case p.state.Current == "":
		return p.clickHome(x, y)
	case y < f.promptY:
		return p.clickChat(y)
	case p.asks.current != nil:
		return p.asks.answer(p.asks.current.Click(x-f.promptX, y-f.promptY, p.now()))
	case y < f.inputY && p.showsPrompt():
		if p.state.Status(p.state.Current).Type == lathe.Retrying {
			return p.menu.statusDialog() // the row has the start of the reason
		}
		p.conversation.chat().ToEnd() // the row says that there is more below
		return nil
	case p.scroller.active():
		return nil
	case p.state.IsChild():
		return p.clickFooter(x, y)
	}
	return p.prompt.handle(p.drafts.edit.Click(x-f.promptX, y-f.inputY))
}

func (p *program) clickHome(x, y int) tea.Cmd {
	f := p.frame()
	if p.setup.isShown() {
		return p.setup.runOption(p.setup.options.panel.Click(x-f.promptX, y-f.promptY))
	}
	return p.prompt.handle(p.drafts.edit.Click(x-f.promptX, y-f.inputY))
}

// clickChat expands a part, opens the session of a subagent, or shows the actions for a prompt.
func (p *program) clickChat(y int) tea.Cmd {
	t, ok := p.conversation.chat().At(y)
	switch {
	case !ok:
		return nil
	case t.User && !p.state.IsChild():
		return p.dialogs.message(t.Message)
	case t.Child != "":
		return p.sessions.open(t.Child)
	case t.Part != "":
		p.conversation.chat().Toggle(t.Part)
	}
	return nil
}

// clickFooter opens the parent or a sibling of a subagent's session.
func (p *program) clickFooter(x, y int) tea.Cmd {
	f := p.frame()
	switch status.FooterHit(p.look.theme(), p.statusBar.childValues(), f.promptWidth, x-f.promptX, y-f.promptY-1) {
	case status.Parent:
		return p.sessions.openParent()
	case status.Prev:
		return p.sessions.openSibling(-1)
	case status.Next:
		return p.sessions.openSibling(1)
	default:
		return nil
	}
}
