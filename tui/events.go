package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// openEngine opens the engine and subscribes to its events.
func (p *program) openEngine() tea.Cmd {
	return p.inBackground(func() tea.Msg {
		e, err := p.o.Open(p.ctx)
		if err != nil {
			return answered{then: func() tea.Cmd { p.fatalError = err; return p.quit() }}
		}
		return answered{then: func() tea.Cmd { return p.start(e) }}
	})
}

// start subscribes to events first, so that none is missed, and then loads the catalog.
func (p *program) start(e Engine) tea.Cmd {
	p.engine = e
	if p.calls.enter() {
		go func() {
			defer p.calls.wg.Done()
			p.feed.follow(p.ctx, e, p.dir(), &p.scope)
		}()
	}
	p.catalog.serverWait = time.Second
	return tea.Batch(p.nextBatch(), p.catalog.load(), p.sessions.openFirst(), p.after(p.catalog.serverWait, tickServers))
}

// nextBatch waits for a batch of events, at most one per frame.
func (p *program) nextBatch() tea.Cmd {
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

// applyEvents applies a batch of events to the state.
func (p *program) applyEvents(b batch) tea.Cmd {
	p.lastBatch = p.now()
	var cmds []tea.Cmd
	for _, e := range b.events {
		p.clock.Event(e, p.lastBatch)
		for _, n := range p.state.Apply(e) {
			cmds = append(cmds, p.applyEffect(n))
		}
		if f, ok := e.Fact.(*lathe.PartChanged); ok {
			cmds = append(cmds, p.sessions.followTask(f.Part))
		}
	}
	p.watch.NoteRunning(p.state, p.now())
	cmds = append(cmds, p.setConnection(b.lost))
	if b.err != nil {
		cmds = append(cmds, p.notify(toast.Error, fmt.Sprintf("The event stream ended: %s", errorText(b.err))))
	} else {
		cmds = append(cmds, p.nextBatch())
	}
	return tea.Batch(append(cmds, p.asks.refresh(), p.animate(), p.overlays.refresh())...)
}

// applyEffect carries out an effect of an event.
func (p *program) applyEffect(n state.Effect) tea.Cmd {
	here := n.Session == p.state.Current && n.Session != ""
	switch n.Kind {
	case state.TurnEnded:
		return p.turns.turnEnded(n.Session)
	case state.TurnFailed: // the transcript shows it
	case state.Asked:
		return tea.Batch(tea.Raw(p.watch.Asked(p.o.Look.Attention, p.state, n.Session, p.now())), p.asks.notifyElsewhere(n.Session))
	case state.SessionDeleted:
		return tea.Batch(p.sessions.unpin(n.Session), p.sessions.leave(n.Session))
	case state.CatalogChanged:
		return p.catalog.load()
	case state.EventsMissed:
		return p.sessions.reload(n.Session)
	case state.LanguagesChanged:
		return p.catalog.reloadLanguages()
	case state.BranchChanged:
		p.state.Info.Branch = n.Text
	case state.ShowToast:
		return p.showToast(n.Toast)
	case state.InsertText:
		p.drafts.edit.Insert(n.Text)
	case state.RunAction:
		return p.runNamed(n.Text)
	case state.SelectSession:
		return p.sessions.open(n.Session)
	case state.Compacted:
		if here {
			return p.notify(toast.Success, "Conversation compacted")
		}
	case state.AgentSwitched:
		if o := p.state.Shown(); here && o != nil {
			p.choice.follow(o.Transcript)
		}
	case state.UnknownSession:
		return p.sessions.identify(n.Session)
	}
	return nil
}

// setConnection stores the state of the connection. After a reconnect, open requests and interrupted turns
// are loaded again.
func (p *program) setConnection(lost error) tea.Cmd {
	was := p.state.ConnectionError != nil
	if p.state.ConnectionError = lost; was == (lost != nil) {
		return nil
	}
	if lost != nil {
		p.log("connection lost: %v", lost)
		return nil
	}
	return tea.Batch(p.notify(toast.Success, "Reconnected to the server"), p.catalog.loadActivity(), p.sessions.checkInterrupted())
}
