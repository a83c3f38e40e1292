package harness

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// Integrations lists all providers of the catalog with their login methods and the credentials that were found. It
// returns the names of credentials, never the secrets.
func (b *backend) Integrations(_ context.Context, at workspace.Place) ([]server.Integration, error) {
	k, err := b.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	stored, err := k.Providers.File.All() // a login may have finished since the config was read
	if err != nil {
		return nil, err
	}
	var out []server.Integration
	for _, p := range k.Providers.Catalog.Providers() {
		out = append(out, server.Integration{ID: p.ID, Name: p.Name, Methods: b.loginMethods(k, p), Connections: b.connections(p, stored[p.ID])})
	}
	return out, nil
}

// loginMethods lists the vendor's login, the API key and the variables of a provider. A provider without variables and login has none.
func (b *backend) loginMethods(k *DirConfig, p *catalog.Provider) []server.IntegrationMethod {
	out := []server.IntegrationMethod{}
	if m, ok := b.method(k, p.ID); ok {
		out = append(out, server.IntegrationMethod{Type: "oauth", ID: p.ID, Label: m.Label})
	}
	names := provider.EnvVars(p)
	if len(names) > 0 || len(out) > 0 {
		out = append(out, server.IntegrationMethod{Type: "key", Label: "API key"})
	}
	if len(names) > 0 {
		out = append(out, server.IntegrationMethod{Type: "env", Names: names})
	}
	return out
}

// connections lists the saved credential of a provider and its variables that are set.
func (b *backend) connections(p *catalog.Provider, c auth.Credential) []server.Connection {
	out := []server.Connection{}
	switch c.(type) {
	case auth.Key:
		out = append(out, server.Connection{Type: "credential", ID: p.ID, Label: "API key"})
	case auth.OAuth, auth.Reference:
		out = append(out, server.Connection{Type: "credential", ID: p.ID, Label: "Login"})
	case auth.WellKnown, nil: // the token of an organization belongs to a variable
	}
	set := slices.DeleteFunc(provider.EnvVars(p), func(name string) bool { return b.app.Env(name) == "" })
	for _, name := range set {
		out = append(out, server.Connection{Type: "env", Name: name})
	}
	return out
}
