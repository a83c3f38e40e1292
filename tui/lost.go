package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/toast"
)

// connection takes in whether there is one to the engine. When it is found again, what waits for an answer and what
// was cut off may be others than before.
func (p *program) connection(lost error) tea.Cmd {
	was := p.state.Lost != nil
	if p.state.Lost = lost; was == (lost != nil) {
		return nil
	}
	if lost != nil {
		p.log("no connection: %v", lost)
		return nil
	}
	return tea.Batch(p.say(toast.Success, "The server is there again"), p.learnWork(), p.lookForCut())
}

// lookForCut finds out whether the turn of the session on the screen was cut off: by a process that died, or that
// was left while it worked.
func (p *program) lookForCut() tea.Cmd {
	id := p.state.Current
	if id == "" || p.state.IsChild() || p.state.Busy(id) {
		return nil
	}
	return p.call("look for interrupted turns", func(ctx context.Context, e host.Engine) (then, error) {
		all, err := e.Interrupted(ctx)
		if err != nil {
			return nil, nil // a server that does not know cannot go on, either
		}
		return func() tea.Cmd {
			cut := map[lathe.SessionID]bool{}
			for _, s := range all {
				cut[s] = true
			}
			p.state.Cut = cut
			return nil
		}, nil
	})
}
