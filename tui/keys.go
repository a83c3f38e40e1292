package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/review"
	"github.com/lathe-agent/lathe/tui/toast"
)

// pressed takes a key to the region that has it: what lies above the rest first.
func (p *program) pressed(k tea.KeyPressMsg) tea.Cmd {
	p.selection = selection{}
	if p.panel.Key(k, p.keys, p.afterLeader()) {
		return nil
	}
	if p.afterLeader() {
		return p.leaderKey(k)
	}
	switch {
	case p.over != nil:
		return p.overlaid(p.over.box.Key(k))
	case p.review != nil:
		out := p.review.Key(k)
		if out == review.NotHandled && p.keys.Match(k, key.AppExit) {
			out = review.Close
		}
		return p.reviewed(out)
	case p.asking != nil:
		if cmd, ok := p.askKey(k); ok {
			return cmd
		}
	case p.offering():
		if cmd, ok := p.offerKey(k); ok {
			return cmd
		}
	}
	if p.keys.Leader(k) {
		p.leader = p.now()
		return p.after(p.leaderTimeout(), tickLeader)
	}
	if p.asking == nil && !p.state.IsChild() && !p.offering() {
		if cmd, ok := p.editKey(k); ok {
			return cmd
		}
	}
	return p.globalKey(k)
}

// editKey gives a key to the prompt. Some keys scroll while the prompt is empty, and move in it otherwise.
func (p *program) editKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	if p.edit.IsEmpty() && p.state.Current != "" {
		if n, ok := p.keys.First(k, key.MessagesFirst, key.MessagesLast); ok {
			return p.doAction(n), true
		}
	}
	out := p.edit.Key(k)
	if _, no := out.(editor.NotHandled); no {
		return nil, false
	}
	if _, quit := out.(editor.Quit); quit && p.keys.Match(k, key.AppExit) {
		return p.quitKey(), true
	}
	return p.edited(out), true
}

// globalKey does what a key means wherever one is.
func (p *program) globalKey(k tea.KeyPressMsg) tea.Cmd {
	for i := range p.allActions {
		a := &p.allActions[i]
		if a.name != "" && p.keys.Match(k, a.name) && a.fits(p.state) {
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

// leaderKey does what a key means behind the leader.
func (p *program) leaderKey(k tea.KeyPressMsg) tea.Cmd {
	p.leader = time.Time{}
	for i := range p.allActions {
		a := &p.allActions[i]
		if a.name == "" || !a.fits(p.state) {
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

// quitKey leaves the program. Where that would cut a turn off, it wants to be pressed again: the key is also what
// empties a prompt.
func (p *program) quitKey() tea.Cmd {
	if p.o.Remote || !p.state.AnyTurn() || p.now().Sub(p.leaving) < escapeTime {
		return p.quit()
	}
	p.leaving = p.now()
	return p.say(toast.Warning, "A turn is under way. Again leaves and cuts it off; /go goes on with it later")
}

// quit leaves the program. Run keeps what was typed.
func (p *program) quit() tea.Cmd {
	if p.o.Leaving != nil {
		p.o.Leaving()
	}
	return tea.Quit
}
