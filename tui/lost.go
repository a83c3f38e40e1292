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
	was := p.lost != nil
	if p.lost = lost; was == (lost != nil) {
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
	id := p.session
	if id == "" || p.isChild() || p.state.Busy(id) {
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
			p.cut = cut
			return nil
		}, nil
	})
}

// waits reports whether prompts on the screen wait although nothing is under way: those that were sent before the
// turn was interrupted are held until somebody says go.
func (p *program) waits() bool {
	o := p.opened()
	if o == nil || p.state.Busy(p.session) {
		return false
	}
	said := false
	for i := o.Transcript.Count() - 1; i >= 0; i-- {
		h := o.Transcript.Held(i)
		a, answer := h.Said().(*lathe.Assistant)
		if !answer {
			said = said || isSaid(h)
			continue
		}
		_, aborted := a.Error.(*lathe.AbortedFault)
		return said && (aborted || p.cut[p.session])
	}
	return false
}
