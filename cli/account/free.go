package account

import (
	"fmt"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/model/catalog"
)

// The choices of the first run that are no servers.
const (
	ChooseLogin = "login"
	ChooseFree  = "free"
	ChooseDemo  = "demo"
)

// FreeModel is one that a provider serves to anyone.
type FreeModel struct{ Ref, Name, Provider string }

// Offer offer it, and say who reads along.
func (f FreeModel) Offer() string {
	return fmt.Sprintf("a free model of %s, which sees what you send and may keep it", f.Provider)
}

// BestFreeModel is the best model that nobody needs a key for; nil is none. It is offered and never taken by itself.
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

// QuietProviders are the providers, without the warnings that were printed before.
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
