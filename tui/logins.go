package tui

import (
	"context"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/toast"
)

// providersDialog begins a login: provider, way, and then a key, a code or a page.
func (p *program) providersDialog() tea.Cmd {
	box := dialog.NewProviders(p.keys, p.state.Providers)
	return p.show(&overlay{box: box, on: chosen(func(c dialog.Chosen) tea.Cmd {
		all := slices.Concat(p.state.Providers.All, p.state.Providers.Connected)
		i := slices.IndexFunc(all, func(x host.Provider) bool { return x.ID == c.ID })
		if i < 0 {
			return nil
		}
		return p.loginTo(all[i])
	})})
}

func (p *program) loginTo(provider host.Provider) tea.Cmd {
	return p.call("read the ways to log in", func(ctx context.Context, e host.Engine) (then, error) {
		all, err := e.Methods(ctx)
		if err != nil {
			return nil, err
		}
		methods := all[provider.ID]
		return func() tea.Cmd {
			switch {
			case len(methods) == 0:
				return p.keyDialog(provider)
			case len(methods) == 1:
				return p.loginBy(provider, methods, 0)
			}
			box := dialog.NewMethods(p.keys, provider, methods)
			return p.show(&overlay{box: box, on: chosen(func(c dialog.Chosen) tea.Cmd {
				n, err := strconv.Atoi(c.ID)
				if err != nil || n < 0 || n >= len(methods) {
					return nil
				}
				return p.loginBy(provider, methods, n)
			})})
		}, nil
	})
}

func (p *program) loginBy(provider host.Provider, methods []host.LoginMethod, n int) tea.Cmd {
	if !methods[n].Browser {
		return p.keyDialog(provider)
	}
	return p.call("begin the login", func(ctx context.Context, e host.Engine) (then, error) {
		a, err := e.Authorize(ctx, provider.ID, n)
		if err != nil {
			return nil, err
		}
		return func() tea.Cmd { return p.authorize(provider, n, a) }, nil
	})
}

func (p *program) keyDialog(provider host.Provider) tea.Cmd {
	keeper := "on this machine"
	if p.o.Remote {
		keeper = "on the server"
	}
	return p.show(&overlay{box: dialog.NewKeyInput(p.keys, provider, keeper), on: entered(func(key string) tea.Cmd {
		return p.call("keep the key", func(ctx context.Context, e host.Engine) (then, error) {
			if err := e.SetKey(ctx, provider.ID, key); err != nil {
				return nil, err
			}
			return func() tea.Cmd { return p.loggedIn(provider) }, nil
		})
	})})
}

// authorize shows the page to log in at, and waits for the end of it or for its code.
func (p *program) authorize(provider host.Provider, n int, a host.Authorization) tea.Cmd {
	var waiting *overlay
	complete := func(code string) tea.Cmd {
		return p.longCall("log in", func(ctx context.Context, e host.Engine) (then, error) {
			if err := e.Complete(ctx, provider.ID, n, code); err != nil {
				return func() tea.Cmd { p.giveUp(waiting); return nil }, err
			}
			return func() tea.Cmd { return p.loggedIn(provider) }, nil
		})
	}
	if a.WantsCode {
		return tea.Batch(p.browse(a.URL), p.show(&overlay{box: dialog.NewCodeInput(p.keys, provider, a), on: entered(complete)}))
	}
	box := dialog.NewLoginWait(p.keys, provider, a)
	waiting = &overlay{box: box, stays: true, spins: func() bool { return true }, on: chosen(func(dialog.Chosen) tea.Cmd { return p.browse(a.URL) })}
	return tea.Batch(p.browse(a.URL), p.show(waiting), complete(""))
}

// giveUp takes a dialog away that waits for what will not come any more.
func (p *program) giveUp(o *overlay) {
	if o != nil && p.over == o {
		p.over = nil
	}
}

// loggedIn reads anew who can answer, and lets choose.
func (p *program) loggedIn(provider host.Provider) tea.Cmd {
	p.over = nil
	return tea.Batch(p.say(toast.Success, "Logged in to "+provider.Name), p.call("read the providers", func(ctx context.Context, e host.Engine) (then, error) {
		providers, err := e.Providers(ctx)
		if err != nil {
			return nil, err
		}
		return func() tea.Cmd {
			p.state.Providers, p.offers = providers, offers{}
			p.state.Epoch++
			return p.modelsDialog()
		}, nil
	}))
}

// browse opens a page where the user has a browser; the address is on the screen in any case.
func (p *program) browse(url string) tea.Cmd {
	if p.o.Browse == nil {
		return nil
	}
	return func() tea.Msg {
		if !p.calls.enter() {
			return nil
		}
		defer p.calls.wg.Done()
		if err := p.o.Browse(url); err != nil {
			p.log("open a page: %v", err)
		}
		return nil
	}
}
