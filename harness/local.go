package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/harness/insight"
	"github.com/lathe-agent/lathe/harness/trees"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
)

var _ api.Host = (*Local)(nil)

// Local is the api.Host of a front end in this process. It does without a server what client.Client requests from one.
// Close it before the harness.
type Local struct {
	*insight.Reports
	trees.Trees
	served  *backend
	version string
	unwatch func()
}

// Local returns the host of a front end. While it is open, it publishes file changes in a directory, or in none if it
// is "".
func (s *Harness) Local(ctx context.Context, dir, version string) (*Local, error) {
	l := &Local{served: s.newServed(), version: version, unwatch: func() {}, Trees: trees.Trees{Engine: s.Engine}}
	l.Reports = l.served.reports()
	if dir == "" {
		return l, nil
	}
	at, err := l.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	l.unwatch = server.Watch(s.Engine, l.served, at)
	return l, nil
}

// Close ends the logins still in progress.
func (l *Local) Close() error {
	l.unwatch()
	l.served.logins.close()
	return nil
}

func (l *Local) place(ctx context.Context, dir string) (workspace.Place, error) {
	at, _, err := l.served.Open(ctx, dir)
	return at, err
}

// Providers returns the providers of a directory and the model that the config names.
func (l *Local) Providers(ctx context.Context, dir string) (out lathe.Providers, err error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return out, err
	}
	k, err := l.served.setup.ConfigFor(at)
	if err != nil {
		return out, err
	}
	out.Default = map[string]string{}
	defaults := k.Providers.Catalog.Defaults()
	for _, one := range k.Providers.Active() {
		p := one.Provider
		if one.Implicit && !k.Providers.isNamed(p.ID) {
			continue
		}
		usable := providerOf(p)
		out.All = append(out.All, usable)
		for _, m := range p.Models {
			usable.Models = append(usable.Models, modelOf(m))
		}
		lathe.SortModels(usable.Models)
		out.Connected = append(out.Connected, usable)
		if best := defaults[p.ID]; best != "" {
			out.Default[p.ID] = best
		}
	}
	for _, p := range k.Providers.Catalog.Providers() {
		if !slices.ContainsFunc(out.Connected, func(c lathe.Provider) bool { return c.ID == p.ID }) {
			out.All = append(out.All, providerOf(p))
		}
	}
	if provider, model, ok := strings.Cut(k.loaded.Config.Model, "/"); ok {
		out.Model = &lathe.ModelRef{Provider: provider, Model: model}
	}
	return out, nil
}

func providerOf(p *catalog.Provider) lathe.Provider {
	return lathe.Provider{ID: p.ID, Name: p.Name, Env: p.Env}
}

func modelOf(m *catalog.Model) lathe.Model {
	w := m.Wire()
	out := lathe.Model{
		Ref: lathe.ModelRef{Provider: m.Provider, Model: m.ID}, Name: w.Name, Released: w.ReleaseDate, Status: string(w.Status),
		Reasoning: w.Capabilities.Reasoning, Images: w.Capabilities.Input.Image, Context: int(w.Limit.Context), Output: int(w.Limit.Output),
		InputPrice: w.Cost.Input, OutputPrice: w.Cost.Output, CacheReadPrice: w.Cost.Cache.Read,
	}
	if out.Status == "active" { // as nearly all are
		out.Status = ""
	}
	for name := range w.Variants {
		out.Variants = append(out.Variants, name)
	}
	lathe.SortVariants(out.Variants)
	return out
}

// LoginMethods returns the login methods of each provider.
func (l *Local) LoginMethods(ctx context.Context, dir string) (map[string][]lathe.LoginMethod, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	return l.served.Methods(ctx, at)
}

// CheckKey asks a provider about a key.
func (l *Local) CheckKey(ctx context.Context, dir, provider, key string) (api.KeyCheck, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return api.KeyCheck{}, err
	}
	return l.served.CheckKey(ctx, at, provider, key)
}

// SetKey saves the key of a provider.
func (l *Local) SetKey(ctx context.Context, provider, key string) error {
	secret, err := auth.ParseKey(key)
	if err != nil {
		return lathe.Errorf(lathe.Invalid, "%w", err)
	}
	f, err := l.served.app.CredentialFile(l.served.at)
	if err != nil {
		return err
	}
	return f.Set(ctx, provider, auth.Key{Key: secret})
}

// Authorize starts a login.
func (l *Local) Authorize(ctx context.Context, dir, provider string, method int) (lathe.Authorization, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return lathe.Authorization{}, err
	}
	a, err := l.served.Authorize(ctx, at, provider, method, nil)
	switch {
	case err != nil:
		return lathe.Authorization{}, err
	case a == nil:
		return lathe.Authorization{}, lathe.Errorf(lathe.Invalid, "this login method takes an API key; save it with `lathe auth login`")
	}
	return *a, nil
}

// CompleteLogin waits until a login ends.
func (l *Local) CompleteLogin(ctx context.Context, _, provider string, method int, code string) error {
	return l.served.Complete(ctx, workspace.Place{}, provider, method, code)
}

// ToolServers returns the MCP servers of a directory, by name.
func (l *Local) ToolServers(ctx context.Context, dir string) ([]lathe.ToolServer, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	return l.served.toolServers(ctx, at)
}

// ConnectTools enables or disables an MCP server.
func (l *Local) ConnectTools(ctx context.Context, dir, name string, on bool) error {
	at, err := l.place(ctx, dir)
	switch {
	case err != nil:
		return err
	case on:
		return l.served.ConnectServer(ctx, at, name)
	default:
		return l.served.DisconnectServer(ctx, at, name)
	}
}

// Info describes a directory: its project, branch, trust and permission mode.
func (l *Local) Info(ctx context.Context, dir string) (api.Info, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return api.Info{}, err
	}
	home, _ := os.UserHomeDir() // "" without a home folder
	out := api.Info{Directory: at.Directory, Home: home, Branch: git.Branch(at), Version: l.version, Trusted: true, Confined: true}
	loaded, err := l.served.Config(ctx, at)
	if err != nil {
		return out, err
	}
	config, _ := json.Marshal(loaded.Config) // it was read from JSON
	out.Mode, out.Limits = lathe.Mode(loaded.Config.PermissionMode), api.ParseLimits(config)
	return out, nil
}

func (l *Local) mode(ctx context.Context, at workspace.Place) (lathe.Mode, error) {
	loaded, err := l.served.Config(ctx, at)
	if err != nil {
		return "", err
	}
	return lathe.Mode(loaded.Config.PermissionMode), nil
}

// SetMode changes the permission mode of the user. A project or the environment may keep a stricter one.
func (l *Local) SetMode(ctx context.Context, dir string, m lathe.Mode) (lathe.Mode, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return "", err
	}
	change, _ := json.Marshal(map[string]lathe.Mode{"permission_mode": m}) // it never fails
	if err := l.served.UpdateGlobalConfig(ctx, change); err != nil {
		return "", err
	}
	l.served.Publish(lathe.Event{Fact: &lathe.GlobalDisposed{}})
	is, err := l.mode(ctx, at)
	return cmp.Or(is, lathe.SandboxMode), err
}

// FindFiles returns files and folders whose path matches a query.
func (l *Local) FindFiles(ctx context.Context, dir, query string, limit int) ([]string, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	return server.FindFiles(ctx, l.served.folders(), at, query, limit)
}

// Changes returns the differences that version control reports.
func (l *Local) Changes(ctx context.Context, dir string, from api.Source) ([]lathe.FileDiff, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	return server.Changes(ctx, l.served.git(), at, git.DiffOptions{Mode: git.Mode(from), Context: git.DefaultContext})
}

// Share always fails, because this process has no address.
func (l *Local) Share(context.Context, lathe.SessionID) (lathe.Session, error) {
	return lathe.Session{}, lathe.Errorf(lathe.Unavailable, "only a server can share sessions: run `lathe serve`, open the session with `lathe attach`, and share it there")
}

// Unshare removes a share that a server created.
func (l *Local) Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return l.served.Unshare(ctx, id)
}
