// Package account has the commands for providers: API keys, logins and models.
package account

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
)

// NewAuth returns `lathe auth`, also as `lathe providers` for users of OpenCode.
func NewAuth(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "auth",
		Aliases: []string{"providers"},
		Short:   "Manage provider credentials",
		Long: `Manage API keys and logins of model providers. They are stored in one file that only you can read.
An API key in the config (provider.ID.options.apiKey, as {env:NAME} or {file:path}) overrides the
file, and the file overrides environment variables. No command prints an API key.

Logins that you already have with other tools (Codex, GitHub Copilot, OpenCode and more) can be
imported instead of logging in again.`,
		Example: `  lathe auth login anthropic
  lathe auth import
  lathe auth import codex
  lathe auth list
  lathe auth logout anthropic`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(NewLogin(a), newAuthImport(a), newAuthList(a), newAuthCheck(a), newAuthLogout(a))
	return cmd
}

// newAuthList shows where credentials come from, and no secrets.
func newAuthList(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List credentials and their sources",
		Long: `List the credentials in the config of this directory, in the credentials file and in environment
variables. If a provider has several, the first one is used. API keys are not shown.`,
		Example: `  lathe auth list
  lathe auth list --json | jq -r '.credentials[].provider'`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listAuth(a) },
	})
}

// credentialJSON is a credential without its secret.
type credentialJSON struct {
	Provider string     `json:"provider"`
	Name     string     `json:"name"`
	Type     string     `json:"type"`
	From     string     `json:"from"`
	Variable string     `json:"variable,omitempty"`
	Tool     string     `json:"tool,omitempty"` // of a reference
	Path     string     `json:"path,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"`
	Used     bool       `json:"used"`

	renew string // the command of the tool, for a reference that has expired
}

// authJSON is the output of `lathe auth list --json`.
type authJSON struct {
	Path        string           `json:"path"`
	Credentials []credentialJSON `json:"credentials"`
	Unknown     []string         `json:"unknown,omitempty"`
}

// The places a credential can come from.
const (
	fromSettings  = "settings"
	fromFile      = "file"
	fromReference = "reference"
	fromBorrowed  = "opencode"
	fromContent   = "LATHE_AUTH_CONTENT"
	fromEnv       = "environment"
)

// listAuth lists all credentials in their order of precedence, so that users see which one a provider uses.
func listAuth(a *cli.App) error {
	p, err := a.Providers()
	if err != nil {
		return err
	}
	list, err := allCredentials(a, p)
	if err != nil {
		return err
	}
	unknown, err := p.File.InvalidIDs()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(authJSON{p.At.Credentials(), list, unknown})
	}
	if len(list) > 0 {
		if err := credentialTable(a, p, list).Write(a.Out, a.Width()); err != nil {
			return err
		}
		a.Flush()
	} else {
		a.Notify("No credentials yet. Add one with `lathe auth login`.")
	}
	if len(unknown) > 0 {
		a.Notify("Ignored unreadable entries in %s: %s.", a.DisplayPath(p.At.Credentials()), termtext.Plain(strings.Join(unknown, ", ")))
	}
	if path := a.ForeignAuth(); !a.IsEnvTrue("BORROW_AUTH") && harness.FileExists(path) {
		a.Notify("OpenCode has credentials in %s. Set LATHE_BORROW_AUTH=1 to use them.", a.DisplayPath(path))
	}
	return nil
}

// allCredentials lists all credentials by provider, in order of precedence.
func allCredentials(a *cli.App, p *harness.Providers) ([]credentialJSON, error) {
	all := p.With(catalog.Filter{Experimental: true})
	name := func(id string) string {
		known, _ := providerName(all, id) // unknown providers are named by ID
		return cmp.Or(known, id)
	}
	list := []credentialJSON{}
	add := func(c credentialJSON) {
		c.Name = name(c.Provider)
		c.Used = c.Type != typeToken && !slices.ContainsFunc(list, func(o credentialJSON) bool { return o.Provider == c.Provider && o.Used })
		list = append(list, c)
	}
	for _, id := range slices.Sorted(maps.Keys(p.Settings.Config.Providers)) {
		if p.Settings.Config.Providers[id].Options.Text("apiKey") != "" {
			add(credentialJSON{Provider: id, Type: typeKey, From: fromSettings})
		}
	}
	if err := storedCredentials(a, p, add); err != nil {
		return nil, err
	}
	for _, one := range all.Providers() {
		for _, variable := range provider.EnvVars(one) {
			if a.Env(variable) != "" {
				add(credentialJSON{Provider: one.ID, Type: typeKey, From: fromEnv, Variable: variable})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b credentialJSON) int { return strings.Compare(a.Provider, b.Provider) })
	return list, nil
}

// The types of credentials, as in the file.
const (
	typeKey   = "api"
	typeLogin = "oauth"
	typeToken = "wellknown"
)

// storedCredentials adds the credentials of lathe's file, or of OpenCode's.
func storedCredentials(a *cli.App, p *harness.Providers, add func(credentialJSON)) error {
	borrowed, err := p.File.Borrowed()
	if err != nil {
		return err
	}
	references := p.File.References()
	for _, id := range slices.Sorted(maps.Keys(p.Credentials)) {
		c := credentialJSON{Provider: id, Type: typeKey, From: fromFile}
		ref, refers := references[id]
		switch {
		case refers:
			c.From, c.Tool, c.Path, c.renew = fromReference, ref.Tool, ref.Path, cmp.Or(ref.Renew, ref.Name)
		case a.Variable("AUTH_CONTENT") != "":
			c.From = fromContent
		case slices.Contains(borrowed, id):
			c.From = fromBorrowed
		}
		switch one := p.Credentials[id].(type) {
		case auth.Key:
		case auth.OAuth:
			c.Type = typeLogin
			if !one.Refresh.IsEmpty() {
				c.renew = "" // lathe renews it
			}
			if !one.Expires.IsZero() {
				at := one.Expires.UTC()
				c.Expires = &at
			}
		case auth.Reference: // it cannot be read now
			c.Type = typeLogin
		case auth.WellKnown:
			c.Type, c.Variable = typeToken, one.Variable
		}
		add(c)
	}
	return nil
}

// credentialTable shows where each credential comes from, and never its value.
func credentialTable(a *cli.App, p *harness.Providers, list []credentialJSON) layout.Table {
	t := layout.Table{Head: []string{"Provider", "ID", "Type", "From"}, Flexible: []int{3, 0}, Paths: -1}
	for _, c := range list {
		from := c.From
		switch c.From {
		case fromFile:
			from = a.DisplayPath(p.At.Credentials())
		case fromReference:
			from = a.DisplayPath(c.Path)
		case fromBorrowed:
			from = a.DisplayPath(a.ForeignAuth())
		case fromEnv:
			from = "$" + c.Variable
		}
		kind := map[string]string{typeKey: "key", typeLogin: "login", typeToken: "token for $" + c.Variable}[c.Type]
		switch expired := c.Expires != nil && c.Expires.Before(a.Now()); {
		case expired && c.renew != "":
			kind += " (expired; run `" + c.renew + "`)"
		case expired:
			kind += " (renewed on use)"
		}
		if !c.Used && c.Type != typeToken {
			kind += " (not used)"
		}
		t.Rows = append(t.Rows, []string{termtext.Plain(c.Name), termtext.Plain(c.Provider), termtext.Plain(kind), termtext.Plain(from)})
	}
	return t
}

// newAuthLogout deletes the local copy only; it cannot revoke an API key at the provider.
func newAuthLogout(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:   "logout [PROVIDER]",
		Short: "Remove the credentials of a provider",
		Long: `Remove the API key or login of a provider from the credentials file. Environment variables and the
config stay unchanged. Without a provider, lathe asks on a terminal. To revoke an API key
permanently, delete it at the provider too.`,
		Example: `  lathe auth logout anthropic
  lathe auth logout`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			id := ""
			if len(args) > 0 {
				id = args[0]
			}
			return logOut(c.Context(), a, id)
		},
	})
}

// logOut removes credentials from lathe's own file only. Those borrowed from OpenCode stay there.
func logOut(ctx context.Context, a *cli.App, id string) error {
	p, err := a.Providers()
	if err != nil {
		return err
	}
	borrowed, err := p.File.Borrowed()
	if err != nil {
		return err
	}
	var own []string
	for _, stored := range slices.Sorted(maps.Keys(p.Credentials)) {
		if !slices.Contains(borrowed, stored) {
			own = append(own, stored)
		}
	}
	if id == "" {
		if id, err = chooseLogout(ctx, a, own); err != nil {
			return err
		}
	}
	if slices.Contains(borrowed, strings.TrimRight(id, "/")) {
		return lathe.Errorf(lathe.Conflict, "this credential belongs to OpenCode (%s): log out there", a.DisplayPath(a.ForeignAuth()))
	}
	if err := p.File.Remove(ctx, id); err != nil {
		if near := phrase.Similar(id, own); lathe.CodeOf(err) == lathe.NotFound && len(near) > 0 {
			return lathe.Errorf(lathe.NotFound, "no credentials for %s; did you mean %s?", termtext.Quote(id), termtext.Plain(near[0]))
		}
		return err
	}
	if a.JSON {
		return a.PrintJSON(loginJSON{Provider: strings.TrimRight(id, "/"), Path: p.At.Credentials()})
	}
	a.Printf("Logged out: %s\n", termtext.Plain(id))
	a.Flush()
	if one := p.With(catalog.Filter{Experimental: true}).Provider(id); one != nil {
		for _, variable := range provider.EnvVars(one) {
			if a.Env(variable) != "" {
				a.Notify("%s is still set in your environment and will be used.", variable)
			}
		}
	}
	return nil
}

func chooseLogout(ctx context.Context, a *cli.App, own []string) (string, error) {
	switch {
	case len(own) == 0:
		return "", lathe.Errorf(lathe.NotFound, "no credentials to remove")
	case !cli.IsTerminal(a.Stdin):
		return "", cli.Usagef("give the provider to log out of: %s", termtext.Plain(strings.Join(own, ", ")))
	}
	return a.ChooseName(ctx, "Log out of", own)
}
