package screen

import (
	"context"
	"fmt"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/model/provider"
	"github.com/lathe-agent/lathe/tui"
)

// maxLocal is the number of models offered per local server; the model list has the rest.
const maxLocal = 4

// tuiOffers returns the choices of a user without a provider: logins found on this machine first, then a new
// one, local servers, free models and the demo.
func tuiOffers(ctx context.Context, a *cli.App) []tui.SetupOption {
	login := tui.SetupOption{ID: account.ChooseLogin, Title: "Log in to a provider, or enter an API key", Login: true}
	var out []tui.SetupOption
	p, err := account.QuietProviders(a)
	if err != nil {
		a.Log.Warn("cannot list providers", "error", err)
		out = append(out, login)
	} else {
		for _, f := range account.FindLogins(a, p) {
			out = append(out, tui.SetupOption{
				ID: "import/" + f.Tool + "/" + f.Provider, Title: "Use the " + f.Label, Detail: f.File,
				Do: func(ctx context.Context) error { return f.Use(ctx, p) },
			})
		}
		out = append(out, login)
		for _, f := range p.Discover(ctx, "") {
			out = append(out, localOffers(a, f)...)
		}
		if f := account.BestFreeModel(p); f != nil {
			out = append(out, tui.SetupOption{
				ID: f.Ref, Title: "Use " + f.Name + ", free", Detail: f.Provider + " sees your prompts and may store them",
				Do: func(context.Context) error { return account.UseModel(a, f.Ref) },
			})
		}
	}
	return append(out, tui.SetupOption{ID: account.ChooseDemo, Title: "Watch the demo", Detail: "without API key or network"})
}

// localOffers returns the models of local servers.
func localOffers(a *cli.App, f provider.Found) (out []tui.SetupOption) {
	for i, name := range f.Models {
		if i == maxLocal {
			break
		}
		ref := f.Vendor.ID + "/" + name
		out = append(out, tui.SetupOption{
			ID: ref, Title: "Use " + name, Detail: fmt.Sprintf("of %s, on this machine", f.Vendor.Name),
			Do: func(context.Context) error { return account.UseModel(a, ref) },
		})
	}
	return out
}
