package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/home"
	"github.com/lathe-agent/lathe/tui/key"
)

// setup helps a user without a provider to get started, and logs in to providers.
type setup struct {
	*services
	choice        *choice
	overlays      *overlays
	reloadCatalog func() tea.Cmd // reloads providers and agents

	options      setupState
	chosenOption string // the id of an option that exits the TUI
}

// setupState holds the options for a user without a provider.
type setupState struct {
	visible   bool
	requested bool
	list      []SetupOption
	panel     home.Setup
}

// isShown reports whether the options replace the prompt.
func (su *setup) isShown() bool { return su.options.visible && su.state.Current == "" }

// showOptions finds ways to get started without a provider, and shows them.
func (su *setup) showOptions() tea.Cmd {
	if len(su.state.Providers.Connected) > 0 {
		return nil
	}
	su.options.visible = true
	if su.options.requested {
		return nil
	}
	su.options.requested = true
	if su.o.FindSetupOptions == nil {
		su.setOptions([]SetupOption{{ID: "login", Title: "Log in to a provider, or enter an API key", Login: true}})
		return nil
	}
	return su.inBackground(func() tea.Msg {
		found := su.o.FindSetupOptions(su.ctx)
		return answered{then: func() tea.Cmd { su.setOptions(found); return nil }}
	})
}

// setOptions shows the options.
func (su *setup) setOptions(found []SetupOption) {
	su.options.list = found
	var choices []home.Choice
	for _, f := range found {
		choices = append(choices, home.Choice{ID: f.ID, Title: f.Title, Detail: f.Detail})
	}
	su.options.panel.Set(choices)
}

func (su *setup) handleKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	if su.keys.Match(k, key.SessionInterrupt) { // dismissed for now
		su.options.visible = false
		return nil, true
	}
	out := su.options.panel.Key(k, su.keys)
	if !out.Handled {
		return nil, false
	}
	return su.runOption(out), true
}

// runOption runs the chosen option.
func (su *setup) runOption(out home.Result) tea.Cmd {
	for _, f := range su.options.list {
		if f.ID != out.Chosen {
			continue
		}
		switch {
		case f.Login:
			return su.providersDialog()
		case f.Do == nil:
			su.chosenOption = f.ID
			return su.quit()
		}
		return su.call("set that up", func(ctx context.Context, e Engine) (then, error) {
			return onSuccess(f.Do(ctx), func() tea.Cmd {
				su.log("setup option chosen: %s", f.Title)
				su.options = setupState{}
				return su.reloadCatalog()
			})
		})
	}
	return nil
}
