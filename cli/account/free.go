package account

import (
	"fmt"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/model/catalog"
)

// The choices of the first run besides local servers.
const (
	ChooseLogin = "login"
	ChooseFree  = "free"
	ChooseDemo  = "demo"
)

// FreeModel is a model that needs no API key.
type FreeModel struct{ Ref, Name, Provider string }

// Offer describes the model and who can read the prompts.
func (f FreeModel) Offer() string {
	return fmt.Sprintf("a free model of %s, which sees your prompts and may store them", f.Provider)
}

// BestFreeModel returns the best model without API key, or nil. It is offered and never used by default.
func BestFreeModel(p *harness.Providers) *FreeModel {
	var open []*catalog.Provider
	for _, a := range p.Active() {
		if a.Implicit {
			open = append(open, a.Provider)
		}
	}
	m, err := p.Catalog.Default(catalog.Preference{Usable: open})
	if len(open) == 0 || err != nil {
		return nil
	}
	return &FreeModel{Ref: m.Provider + "/" + m.ID, Name: m.Name, Provider: p.Catalog.Provider(m.Provider).Name}
}

// QuietProviders returns the providers without repeating their warnings.
func QuietProviders(a *cli.App) (*harness.Providers, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	l, err := a.Config()
	if err != nil {
		return nil, err
	}
	return a.ProvidersOf(l, at)
}
