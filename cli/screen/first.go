package screen

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/model/provider"
	"github.com/lathe-agent/lathe/tui"
)

// maxLocal is the number of models offered per local server; the model list has the rest.
const maxLocal = 4

// tuiOffers returns the choices of a user without a provider.
func tuiOffers(ctx context.Context, a *cli.App) []tui.SetupOption {
	out := []tui.SetupOption{{ID: account.ChooseLogin, Title: "Log in to a provider, or enter an API key", Login: true}}
	p, err := account.QuietProviders(a)
	if err != nil {
		a.Log.Warn("cannot list providers", "error", err)
	} else {
		for _, f := range p.Discover(ctx, "") {
			out = append(out, localOffers(a, f)...)
		}
		if f := account.BestFreeModel(p); f != nil {
			out = append(out, tui.SetupOption{
				ID: f.Ref, Title: "Use " + f.Name + ", free", Detail: f.Provider + " sees your prompts and may store them",
				Do: func(context.Context) error { return useModel(a, f.Ref) },
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
			Do: func(context.Context) error { return useModel(a, ref) },
		})
	}
	return out
}

// useModel writes the model to the user's config.
func useModel(a *cli.App, ref string) error {
	change, err := json.Marshal(struct {
		Model string `json:"model"`
	}{ref})
	if err != nil {
		return err
	}
	path := a.UserConfigFile()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return lathe.Errorf(lathe.Unavailable, "no config folder: %w", err)
	}
	return config.Edit(path, change)
}
