package tui

import (
	"context"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/toast"
)

// providersDialog starts a login: choose the provider and the method, then enter a key or a code, or use a web page.
func (su *setup) providersDialog() tea.Cmd {
	box := dialog.NewProviders(su.keys, su.state.Providers)
	return su.overlays.show(&overlay{box: box, onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
		all := slices.Concat(su.state.Providers.All, su.state.Providers.Connected)
		i := slices.IndexFunc(all, func(x lathe.Provider) bool { return x.ID == c.ID })
		if i < 0 {
			return nil
		}
		return su.loginTo(all[i])
	})})
}

// loginTo asks for the login method, unless the provider has only one.
func (su *setup) loginTo(provider lathe.Provider) tea.Cmd {
	return su.call("load the login methods", func(ctx context.Context, e Engine) (then, error) {
		all, err := e.LoginMethods(ctx, su.dir())
		methods := all[provider.ID]
		return onSuccess(err, func() tea.Cmd {
			switch len(methods) {
			case 0:
				return su.keyDialog(provider)
			case 1:
				return su.loginBy(provider, methods, 0)
			}
			box := dialog.NewMethods(su.keys, provider, methods)
			return su.overlays.show(&overlay{box: box, onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
				n, err := strconv.Atoi(c.ID)
				if err != nil || n < 0 || n >= len(methods) {
					return nil
				}
				return su.loginBy(provider, methods, n)
			})})
		})
	})
}

func (su *setup) loginBy(provider lathe.Provider, methods []lathe.LoginMethod, n int) tea.Cmd {
	if !methods[n].UsesBrowser() {
		return su.keyDialog(provider)
	}
	return su.call("start the login", func(ctx context.Context, e Engine) (then, error) {
		a, err := e.Authorize(ctx, su.dir(), provider.ID, n)
		return onSuccess(err, func() tea.Cmd { return su.authorize(provider, n, a) })
	})
}

// keyDialog asks for an API key, checks it with its provider, and saves it with the engine.
func (su *setup) keyDialog(provider lathe.Provider) tea.Cmd {
	storedAt := "on this machine"
	if su.o.Remote {
		storedAt = "on the server"
	}
	return su.overlays.show(&overlay{box: dialog.NewKeyInput(su.keys, provider, storedAt), onResult: onEntered(func(key string) tea.Cmd {
		return su.call("save the API key", func(ctx context.Context, e Engine) (then, error) {
			checked, err := e.CheckKey(ctx, su.dir(), provider.ID, key)
			switch {
			case err != nil:
				return nil, err
			case checked.IsRefused():
				return nil, lathe.Errorf(lathe.Unauthorized, "%s refused this key (%s)", provider.Name, checked.Detail)
			}
			return onSuccess(e.SetKey(ctx, provider.ID, key), func() tea.Cmd {
				if text := checked.Warning(); text != "" {
					return tea.Batch(su.finishLogin(provider), su.notify(toast.Warning, text))
				}
				return su.finishLogin(provider)
			})
		})
	})})
}

// authorize shows the login page and waits for its completion or its code.
func (su *setup) authorize(provider lathe.Provider, n int, a lathe.Authorization) tea.Cmd {
	var waiting *overlay
	complete := func(code string) tea.Cmd {
		return su.longCall("log in", func(ctx context.Context, e Engine) (then, error) {
			if err := e.CompleteLogin(ctx, su.dir(), provider.ID, n, code); err != nil {
				return func() tea.Cmd { su.overlays.drop(waiting); return nil }, err
			}
			return func() tea.Cmd { return su.finishLogin(provider) }, nil
		})
	}
	if a.NeedsCode() {
		return tea.Batch(su.browse(a.URL), su.overlays.show(&overlay{box: dialog.NewCodeInput(su.keys, provider, a), onResult: onEntered(complete)}))
	}
	box := dialog.NewLoginWait(su.keys, provider, a)
	waiting = &overlay{box: box, keepOpen: true, isAnimated: func() bool { return true }, onResult: onChosen(func(dialog.Chosen) tea.Cmd { return su.browse(a.URL) })}
	return tea.Batch(su.browse(a.URL), su.overlays.show(waiting), complete(""))
}

// finishLogin reloads the providers and opens the model list.
func (su *setup) finishLogin(provider lathe.Provider) tea.Cmd {
	su.overlays.current = nil
	return tea.Batch(su.notify(toast.Success, "Logged in to "+provider.Name), su.call("load the providers", func(ctx context.Context, e Engine) (then, error) {
		providers, err := e.Providers(ctx, su.dir())
		return onSuccess(err, func() tea.Cmd {
			su.state.Providers, su.options = providers, setupState{}
			su.state.Epoch++
			return su.choice.modelsDialog()
		})
	}))
}
