package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// openEngine gets the engine and begins to listen to it.
func (p *program) openEngine() tea.Cmd {
	return p.inBackground(func() tea.Msg {
		e, err := p.o.Open(p.ctx)
		if err != nil {
			return answered{then: func() tea.Cmd { p.fatalError = err; return p.quit() }}
		}
		return answered{then: func() tea.Cmd { return p.start(e) }}
	})
}

// start goes on when the engine is there: events first, so that nothing is missed, then what there is to know.
func (p *program) start(e Engine) tea.Cmd {
	p.engine = e
	if p.calls.enter() {
		go func() {
			defer p.calls.wg.Done()
			p.feed.follow(p.ctx, e, p.dir(), &p.scope)
		}()
	}
	p.catalog.serverWait = time.Second
	return tea.Batch(p.next(), p.catalog.read(), p.sessions.openFirst(), p.after(p.catalog.serverWait, tickServers))
}

// next waits for a batch, and then until a frame has passed since the last: what comes meanwhile is in it.
func (p *program) next() tea.Cmd {
	ctx, f, last := p.ctx, p.feed, p.lastBatch
	return p.inBackground(func() tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case <-f.ready:
		}
		if rest := frameTime - time.Since(last); rest > 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(rest):
			}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		b := batch{f.events, f.err, f.lost}
		f.events = nil
		return b
	})
}

// receive takes in events.
func (p *program) receive(b batch) tea.Cmd {
	p.lastBatch = p.now()
	var cmds []tea.Cmd
	for _, e := range b.events {
		for _, n := range p.state.Apply(e) {
			cmds = append(cmds, p.handle(n))
		}
	}
	cmds = append(cmds, p.setConnection(b.lost))
	if b.err != nil {
		cmds = append(cmds, p.say(toast.Error, fmt.Sprintf("No more news from the engine: %s", words(b.err))))
	} else {
		cmds = append(cmds, p.next())
	}
	return tea.Batch(append(cmds, p.asks.refresh(), p.animate(), p.overlays.refresh())...)
}

// handle does what a note asks for.
func (p *program) handle(n state.Note) tea.Cmd {
	here := n.Session == p.state.Current && n.Session != ""
	switch n.Kind {
	case state.Ended:
		return p.turns.ended(n.Session)
	case state.Failed:
		if here && p.o.Look.Attention {
			return p.attract("A turn failed")
		}
	case state.Asked:
		return tea.Batch(p.attract("Your answer is wanted"), p.asks.sayElsewhere(n.Session))
	case state.Gone:
		return tea.Batch(p.sessions.unpin(n.Session), p.sessions.leave(n.Session))
	case state.Renewed:
		return p.catalog.read()
	case state.Lost:
		return p.sessions.readAgain(n.Session)
	case state.Branched:
		p.state.Info.Branch = n.Text
	case state.Say:
		return p.sayFor(n.Toast)
	case state.Insert:
		p.drafts.edit.Insert(n.Text)
	case state.Do:
		return p.doNamed(n.Text)
	case state.Select:
		return p.sessions.open(n.Session)
	case state.Compact:
		if here {
			return p.say(toast.Success, "The conversation was compacted")
		}
	case state.Stranger:
		return p.sessions.meet(n.Session)
	}
	return nil
}

// setConnection takes in whether there is one to the engine. When it is found again, what waits for an answer and what
// was cut off may be others than before.
func (p *program) setConnection(lost error) tea.Cmd {
	was := p.state.Lost != nil
	if p.state.Lost = lost; was == (lost != nil) {
		return nil
	}
	if lost != nil {
		p.log("no connection: %v", lost)
		return nil
	}
	return tea.Batch(p.say(toast.Success, "The server is there again"), p.catalog.readWork(), p.sessions.lookForCut())
}
