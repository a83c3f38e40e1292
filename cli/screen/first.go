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

// mostLocal is how many models of one server are offered; the others are found in its list.
const mostLocal = 4

// tuiOffers is what somebody without a provider can do in the terminal program.
func tuiOffers(ctx context.Context, a *cli.App) []tui.SetupOption {
	out := []tui.SetupOption{{ID: account.ChooseLogin, Title: "Log in to a provider, or enter an API key", Login: true}}
	p, err := account.QuietProviders(a)
	if err != nil {
		a.Log.Warn("providers are not known", "error", err)
	} else {
		for _, f := range p.Discover(ctx, "") {
			out = append(out, localOffers(a, f)...)
		}
		if f := account.BestFreeModel(p); f != nil {
			out = append(out, tui.SetupOption{
				ID: f.Ref, Title: "Use " + f.Name + ", free", Detail: f.Provider + " sees what you send and may keep it",
				Do: func(context.Context) error { return useModel(a, f.Ref) },
			})
		}
	}
	return append(out, tui.SetupOption{ID: account.ChooseDemo, Title: "See the demo", Detail: "without a key and without a network"})
}

// localOffers are the models of a server on this machine.
func localOffers(a *cli.App, f provider.Found) (out []tui.SetupOption) {
	for i, name := range f.Models {
		if i == mostLocal {
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

// useModel makes a model the one of the user's settings.
func useModel(a *cli.App, ref string) error {
	change, err := json.Marshal(struct {
		Model string `json:"model"`
	}{ref})
	if err != nil {
		return err
	}
	path := a.UserConfigFile()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return lathe.Errorf(lathe.Unavailable, "no place for your settings: %w", err)
	}
	return config.Edit(path, change)
}
