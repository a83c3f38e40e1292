package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/home"
	"github.com/lathe-agent/lathe/tui/key"
)

// setup gets a user without a provider going, and logs in to providers.
type setup struct {
	*services
	choice   *choice
	overlays *overlays
	relearn  func() tea.Cmd // reads again what there is to choose from

	hints setupHints
	taken string // the id of an offer that ends the program
}

// setupHints are what somebody without a provider can do.
type setupHints struct {
	on    bool
	asked bool
	list  []Offer
	setup home.Setup
}

// shown reports whether they stand in the place of the prompt.
func (su *setup) shown() bool { return su.hints.on && su.state.Current == "" }

// offer looks for what can be done without a provider, and offers it.
func (su *setup) offer() tea.Cmd {
	if len(su.state.Providers.Connected) > 0 {
		return nil
	}
	su.hints.on = true
	if su.hints.asked {
		return nil
	}
	su.hints.asked = true
	if su.o.FirstRun == nil {
		su.setHints([]Offer{{ID: "login", Title: "Log in to a provider, or give its key", Login: true}})
		return nil
	}
	return su.inBackground(func() tea.Msg {
		found := su.o.FirstRun(su.ctx)
		return answered{then: func() tea.Cmd { su.setHints(found); return nil }}
	})
}

// setHints shows what can be done.
func (su *setup) setHints(found []Offer) {
	su.hints.list = found
	var choices []home.Choice
	for _, f := range found {
		choices = append(choices, home.Choice{ID: f.ID, Title: f.Title, Detail: f.Detail})
	}
	su.hints.setup.Set(choices)
}

func (su *setup) key(k tea.KeyPressMsg) (tea.Cmd, bool) {
	if su.keys.Match(k, key.SessionInterrupt) { // later; there is more to see than answers
		su.hints.on = false
		return nil, true
	}
	out := su.hints.setup.Key(k, su.keys)
	if !out.Handled {
		return nil, false
	}
	return su.choose(out), true
}

// choose does what was chosen.
func (su *setup) choose(out home.Out) tea.Cmd {
	for _, f := range su.hints.list {
		if f.ID != out.Chosen {
			continue
		}
		switch {
		case f.Login:
			return su.providersDialog()
		case f.Do == nil:
			su.taken = f.ID
			return su.quit()
		}
		return su.call("do that", func(ctx context.Context, e Engine) (then, error) {
			return onSuccess(f.Do(ctx), func() tea.Cmd {
				su.log("taken up: %s", f.Title)
				su.hints = setupHints{}
				return su.relearn()
			})
		})
	}
	return nil
}
