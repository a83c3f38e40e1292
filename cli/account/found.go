package account

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/auth/othertool"
	"github.com/lathe-agent/lathe/model/catalog"
)

// FoundLogin is a credential of another tool that a user without a provider may use.
type FoundLogin struct {
	othertool.Login
	Label string // its name for people
	File  string // its path for people
}

// FindLogins returns the credentials of other tools that lathe may use now: the best one for each
// provider. Keys in variables are not among them; lathe uses those without asking.
func FindLogins(a *cli.App, p *harness.Providers) (out []FoundLogin) {
	all := p.With(catalog.Filter{Experimental: true})
	m := a.OtherTools(all)
	for _, id := range othertool.IDs() {
		found, _, err := m.Find(id) // a file that is not believed is not offered
		if err != nil || id == "env" {
			continue
		}
		for _, l := range found {
			known := slices.ContainsFunc(out, func(o FoundLogin) bool { return o.Provider == l.Provider })
			ended := !l.Expires.IsZero() && l.Expires.Before(a.Now())
			if l.Refused != "" || known || ended || all.Provider(l.Provider) == nil {
				continue
			}
			out = append(out, FoundLogin{l, labelOf(p, l), a.DisplayPath(l.Path)})
		}
	}
	return out
}

// labelOf names a credential as its owner knows it.
func labelOf(p *harness.Providers, l othertool.Login) string {
	_, isKey := l.Credential.(auth.Key)
	switch {
	case isKey:
		return fmt.Sprintf("%s API key from %s", providerLabel(p, l.Provider), l.ToolName)
	case l.Provider == "openai":
		return "ChatGPT login from " + l.ToolName
	case l.Tool == "copilot":
		return "GitHub Copilot login from your editor"
	case l.Provider == "github-copilot":
		return "GitHub Copilot login from " + l.ToolName
	}
	return fmt.Sprintf("%s login from %s", providerLabel(p, l.Provider), l.ToolName)
}

// Use saves the login, as a copy or a reference, for a user who chose it.
func (f FoundLogin) Use(ctx context.Context, p *harness.Providers) error {
	return p.File.Set(ctx, f.Provider, credentialOf(f.Login, importFlags{}.how(f.Login)))
}

// UseModel writes the model to the user's config.
func UseModel(a *cli.App, ref string) error {
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
