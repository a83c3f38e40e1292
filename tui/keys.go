package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/pager"
	"github.com/lathe-agent/lathe/tui/review"
	"github.com/lathe-agent/lathe/tui/selection"
	"github.com/lathe-agent/lathe/tui/toast"
	"github.com/lathe-agent/lathe/tui/whichkey"
)

// keyboard is the key state of the root.
type keyboard struct {
	leader    time.Time // when the leader was pressed; zero when it was not
	quitAsked time.Time // when exit was first requested while a turn was running
	panel     whichkey.Panel
	panelY    int
}

// handleKey routes a key to the region that has focus, the topmost first.
func (p *program) handleKey(k tea.KeyPressMsg) tea.Cmd {
	p.selection = selection.Selection{}
	if !p.afterLeader() && p.help.handleKey(k) {
		return nil
	}
	if p.panel.Key(k, p.keys, p.afterLeader()) {
		return nil
	}
	if p.afterLeader() {
		return p.leaderKey(k)
	}
	switch {
	case p.overlays.current != nil:
		return p.overlays.handle(p.overlays.current.box.Key(k))
	case p.reviewer.view != nil:
		out := p.reviewer.view.Key(k)
		if out == review.NotHandled && p.keys.Match(k, key.AppExit) {
			out = review.Close
		}
		return p.reviewer.handle(out)
	case p.asks.current != nil:
		if cmd, ok := p.asks.handleKey(k); ok {
			return cmd
		}
	case p.setup.isShown():
		if cmd, ok := p.setup.handleKey(k); ok {
			return cmd
		}
	}
	if p.keys.Leader(k) {
		p.leader = p.now()
		return p.after(p.leaderTimeout(), tickLeader)
	}
	if p.asks.current == nil && p.scroller.active() {
		if out := p.scroller.mode.Key(k); out != (pager.Unused{}) {
			return p.scroller.handle(out)
		}
		if p.keys.Match(k, key.SessionInterrupt) { // it edits nothing here
			return p.turns.interrupt()
		}
		return p.globalKey(k)
	}
	if p.asks.current == nil && !p.state.IsChild() && !p.setup.isShown() {
		if cmd, ok := p.editKey(k); ok {
			return cmd
		}
	}
	return p.globalKey(k)
}

// editKey passes a key to the prompt. Some keys scroll while the prompt is empty, and move in it otherwise.
func (p *program) editKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	if p.drafts.edit.IsEmpty() && p.state.Current != "" {
		if n, ok := p.keys.First(k, key.MessagesFirst, key.MessagesLast); ok {
			return p.menu.runKey(n), true
		}
	}
	if p.state.Busy(p.state.Current) && p.keys.Match(k, key.SessionBackground) { // while nothing runs it moves the cursor
		return p.menu.runKey(key.SessionBackground), true
	}
	out := p.drafts.edit.Key(k)
	if _, no := out.(editor.NotHandled); no {
		return nil, false
	}
	if _, quit := out.(editor.Quit); quit && p.keys.Match(k, key.AppExit) {
		return p.quitKey(), true
	}
	return p.prompt.handle(out), true
}

// globalKey runs the action of a key outside of a region.
func (p *program) globalKey(k tea.KeyPressMsg) tea.Cmd {
	for _, a := range p.menu.actions {
		if a.name != "" && p.keys.Match(k, a.name) && a.isAvailable(p.state) {
			return a.do()
		}
	}
	if p.keys.Match(k, key.AppExit) {
		return p.quitKey()
	}
	return nil
}

// afterLeader reports whether the leader was pressed and its time has not run out.
func (p *program) afterLeader() bool {
	return !p.leader.IsZero() && p.now().Sub(p.leader) < p.leaderTimeout()
}

func (p *program) leaderTimeout() time.Duration {
	if t := p.o.Look.LeaderTimeout; t > 0 {
		return t
	}
	return 2 * time.Second
}

// leaderKey runs the action of a key after the leader.
func (p *program) leaderKey(k tea.KeyPressMsg) tea.Cmd {
	p.leader = time.Time{}
	for _, a := range p.menu.actions {
		if a.name == "" || !a.isAvailable(p.state) {
			continue
		}
		if _, ok := p.keys.AfterLeader(k, a.name); ok {
			return a.do()
		}
	}
	if _, ok := p.keys.AfterLeader(k, key.AppExit); ok {
		return p.quit()
	}
	return nil
}

// quitKey exits. While a turn runs it must be pressed twice: the same key also clears
// a prompt.
func (p *program) quitKey() tea.Cmd {
	if p.o.Remote || !p.state.AnyTurn() || p.now().Sub(p.quitAsked) < escapeTime {
		return p.quit()
	}
	p.quitAsked = p.now()
	return p.notify(toast.Warning, "A turn is running. Press again to exit and interrupt it; /go resumes it later")
}

// runNamed runs an action for a client of the HTTP API: by its dotted name, or by the name of a key.
func (p *program) runNamed(name string) tea.Cmd {
	switch name {
	case "prompt.submit":
		return p.prompt.handle(p.drafts.edit.Submit())
	case "prompt.clear":
		p.drafts.edit.Clear()
		return nil
	}
	if rest, ok := strings.CutPrefix(name, "session."); ok {
		switch rest {
		case "page.up", "page.down", "line.up", "line.down", "half.page.up", "half.page.down", "first", "last":
			name = "messages." + rest
		}
	}
	return p.menu.runKey(key.Name(strings.ReplaceAll(name, ".", "_")))
}

// paste routes a paste to the region that has focus.
func (p *program) paste(text string) tea.Cmd {
	p.help.groups = nil
	switch {
	case p.overlays.current != nil:
		return p.overlays.handle(p.overlays.current.box.Paste(text))
	case p.asks.current != nil:
		p.asks.current.Paste(text)
		return nil
	case p.scroller.active():
		return p.scroller.handle(p.scroller.mode.Paste(text))
	case p.reviewer.view != nil || p.state.IsChild() || p.setup.isShown():
		return nil
	default:
		return p.prompt.handle(p.drafts.edit.Paste(text))
	}
}
