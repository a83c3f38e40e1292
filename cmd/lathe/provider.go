package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
)

// providers is what the commands about models share: the settings of the directory, the
// catalogue they make, and the credentials of the user.
type providers struct {
	host        *hostEnv
	settings    *config.Loaded
	at          datadir.Folders
	section     json.RawMessage // of the settings
	filter      catalog.Filter
	catalog     *catalog.Catalog
	file        *auth.File
	credentials map[string]auth.Credential
	deps        provider.Deps
}

// variable reads one that has two names, the reference's and ours; ours counts more.
func (a *hostEnv) variable(name string) string {
	if v := a.env("LATHE_" + name); v != "" {
		return v
	}
	return a.env("OPENCODE_" + name)
}

// isOn reports whether a variable means yes.
func (a *hostEnv) isOn(name string) bool {
	v := a.variable(name)
	return v == "1" || strings.EqualFold(v, "true")
}

// providers reads the settings and the credentials. The catalogue is read when it is asked.
func (a *hostEnv) providers() (*providers, error) {
	at, err := datadir.Find(a.env)
	if err != nil {
		return nil, err
	}
	l, err := a.settings()
	if err != nil {
		return nil, err
	}
	return a.providersOf(l, at)
}

// providersOf is what settings and credentials make usable.
func (a *hostEnv) providersOf(l *config.Loaded, at datadir.Folders) (*providers, error) {
	p := &providers{host: a, settings: l, at: at, filter: filterOf(l, a.isOn("ENABLE_EXPERIMENTAL_MODELS"))}
	var raw struct {
		Provider json.RawMessage `json:"provider"`
	}
	if err := json.Unmarshal(l.Config.Raw, &raw); err != nil {
		return nil, err
	}
	p.section = raw.Provider
	var err error
	if p.file, err = a.credentialFile(at); err != nil {
		return nil, err
	}
	if p.credentials, err = p.file.All(); err != nil {
		return nil, err
	}
	p.deps = provider.Deps{
		Env: a.withTokens(p.credentials), Credentials: p.credentials, IDs: lathe.NewIDs(),
		Token: provider.Tokens(p.file, a.authClient(), a.logins), AWS: a.signer,
	}
	p.catalog = p.with(p.filter)
	return p, nil
}

// with returns the catalogue behind a filter, with more layers below the settings.
func (p *providers) with(f catalog.Filter, more ...catalog.Layer) *catalog.Catalog {
	layers := append([]catalog.Layer{catalog.File(p.host.modelsFile(p.at))}, more...)
	return catalog.New(f, append(layers, catalog.Settings(p.section))...)
}

// modelsFile is the catalogue that was fetched, or one that the user names.
func (a *hostEnv) modelsFile(at datadir.Folders) string {
	if path := a.variable("MODELS_PATH"); path != "" {
		return path
	}
	return at.Models()
}

func filterOf(l *config.Loaded, experimental bool) catalog.Filter {
	f := catalog.Filter{Enabled: l.Config.EnabledProviders, Disabled: l.Config.DisabledProviders, Experimental: experimental}
	for _, p := range l.Config.Experimental.Policies {
		if p.Action == "provider.use" {
			f.Policies = append(f.Policies, catalog.Policy{Deny: p.Effect == "deny", Resource: p.Resource})
		}
	}
	return f
}

// credentialFile opens the file of credentials and closes it to others.
func (a *hostEnv) credentialFile(at datadir.Folders) (*auth.File, error) {
	f := auth.Open(auth.Source{Path: at.Credentials(), Content: a.variable("AUTH_CONTENT"), Borrowed: a.borrowed()})
	mended, err := f.Mend()
	if mended {
		a.remark("Warning: others could read %s; now only you can (mode 0600). If they may have, make new keys.", a.shown(at.Credentials()))
	}
	return f, err
}

// borrowed is the credential file of OpenCode, for users who want theirs used here too.
func (a *hostEnv) borrowed() string {
	if path := a.foreignAuth(); a.isOn("BORROW_AUTH") {
		return path
	}
	return ""
}

func (a *hostEnv) foreignAuth() string {
	dir := a.env("XDG_DATA_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.home(), ".local", "share")
	}
	return filepath.Join(dir, "opencode", "auth.json")
}

// shown is a path for people.
func (a *hostEnv) shown(path string) string {
	return termtext.Plain(termtext.Tilde(path, a.env("HOME")))
}

// withTokens is the environment, and for variables that are not set the tokens of
// organisations that are meant for them.
func (a *hostEnv) withTokens(all map[string]auth.Credential) func(string) string {
	tokens := map[string]auth.Secret{}
	for _, c := range all {
		if known, ok := c.(auth.WellKnown); ok && isTokenVariable(known.Variable) {
			tokens[known.Variable] = known.Token
		}
	}
	return func(name string) string {
		if v := a.env(name); v != "" {
			return v
		}
		return tokens[name].Reveal()
	}
}

func (a *hostEnv) authClient() auth.Client {
	return auth.Client{Now: a.now, Agent: "lathe/" + version}
}

// actives are the providers that can be used, those of the gateway's maker first, as in the
// list of the reference.
func (p *providers) actives() []provider.Active { return sorted(provider.Actives(p.catalog, p.deps)) }

func sorted(all []provider.Active) []provider.Active {
	slices.SortStableFunc(all, func(a, b provider.Active) int {
		return rank(a.Provider.ID) - rank(b.Provider.ID)
	})
	return all
}

func rank(id string) int {
	if strings.HasPrefix(id, "opencode") {
		return 0
	}
	return 1
}

// discover asks servers of this machine for their models and adds what they have to the
// catalogue. An id limits it to one of them.
func (p *providers) discover(ctx context.Context, id string) []provider.Found {
	var servers []catalog.Vendor
	for _, v := range catalog.Locals() {
		if id != "" && id != v.ID || slices.Contains(p.filter.Disabled, v.ID) {
			continue
		}
		if own := p.settings.Config.Providers[v.ID]; own.Options.BaseURL != "" || own.API != "" { // it is where the user says
			v.API = own.Options.BaseURL
			if v.API == "" {
				v.API = own.API
			}
		}
		servers = append(servers, v)
	}
	found := provider.Discover(ctx, http.DefaultClient, servers)
	p.catalog = p.with(p.filter, catalog.Settings(provider.Section(found)))
	return found
}

// find returns a model by its name. That of a server of this machine is asked for there.
func (p *providers) find(ctx context.Context, ref string) (*catalog.Model, error) {
	m, err := p.catalog.Find(ref)
	if err == nil {
		return m, nil
	}
	id, _, ok := strings.Cut(ref, "/")
	if !ok || !isLocal(id) {
		return nil, err
	}
	if len(p.discover(ctx, id)) == 0 {
		if context.Cause(ctx) != nil {
			return nil, context.Cause(ctx)
		}
		return nil, noServer(id)
	}
	return p.catalog.Find(ref)
}

func noServer(id string) error {
	return lathe.Errorf(lathe.Unavailable, "%s does not answer; start it, or set provider.%s.options.baseURL to where it is", catalog.VendorOf(id).Name, id)
}

func isLocal(id string) bool {
	return slices.ContainsFunc(catalog.Locals(), func(v catalog.Vendor) bool { return v.ID == id })
}

// choose returns the model that is meant: the one named, else what settings, habit and the
// usable providers suggest.
func (p *providers) choose(ctx context.Context, ref string) (*catalog.Model, error) {
	if ref == "" {
		ref = p.settings.Config.Model
	}
	if ref != "" {
		return p.find(ctx, ref)
	}
	return p.catalog.Default(catalog.Wish{Recent: recent(p.at.Choices()), Usable: provider.Choices(p.actives())})
}

// recent reads which models were used, latest first. It is a convenience: what cannot be read
// is none.
func recent(path string) (out []string) {
	src, err := os.ReadFile(path)
	var file struct {
		Recent []struct{ ProviderID, ModelID string }
	}
	if err != nil || json.Unmarshal(src, &file) != nil {
		return nil
	}
	for _, r := range file.Recent {
		out = append(out, r.ProviderID+"/"+r.ModelID)
	}
	return out
}

// warnCatalog tells what of the catalogue could not be read.
func (a *app) warnCatalog(c *catalog.Catalog) {
	for _, err := range c.Errors() {
		a.remark("Warning: %s", termtext.OneLine(err.Error()))
	}
}
