package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/home"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/key"
)

// offers are what somebody without a provider can do.
type offers struct {
	on    bool
	asked bool
	list  []Offer
	setup home.Setup
}

// offering reports whether they stand in the place of the prompt.
func (p *program) offering() bool { return p.offers.on && p.state.Current == "" }

// offerFirst looks for what can be done without a provider, and offers it.
func (p *program) offerFirst() tea.Cmd {
	if len(p.state.Providers.Connected) > 0 {
		return nil
	}
	p.offers.on = true
	if p.offers.asked {
		return nil
	}
	p.offers.asked = true
	if p.o.FirstRun == nil {
		p.setOffers([]Offer{{ID: "login", Title: "Log in to a provider, or give its key", Login: true}})
		return nil
	}
	return func() tea.Msg {
		if !p.calls.enter() {
			return nil
		}
		defer p.calls.wg.Done()
		found := p.o.FirstRun(p.ctx)
		return answered{then: func() tea.Cmd { p.setOffers(found); return nil }}
	}
}

// setOffers shows what can be done.
func (p *program) setOffers(found []Offer) {
	p.offers.list = found
	var choices []home.Choice
	for _, f := range found {
		choices = append(choices, home.Choice{ID: f.ID, Title: f.Title, Detail: f.Detail})
	}
	p.offers.setup.Set(choices)
}

func (p *program) offerKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	if p.keys.Match(k, key.SessionInterrupt) { // later; there is more to see than answers
		p.offers.on = false
		return nil, true
	}
	out := p.offers.setup.Key(k, p.keys)
	if !out.Handled {
		return nil, false
	}
	return p.offerOut(out), true
}

// offerOut does what was chosen.
func (p *program) offerOut(out home.Out) tea.Cmd {
	for _, f := range p.offers.list {
		if f.ID != out.Chosen {
			continue
		}
		switch {
		case f.Login:
			return p.providersDialog()
		case f.Do == nil:
			p.offer = f.ID
			return p.quit()
		}
		return p.call("do that", func(ctx context.Context, e host.Engine) (then, error) {
			if err := f.Do(ctx); err != nil {
				return nil, err
			}
			p.log("taken up: %s", f.Title)
			return func() tea.Cmd { p.offers = offers{}; return p.learn() }, nil
		})
	}
	return nil
}
