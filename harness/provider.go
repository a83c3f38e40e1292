package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/modelname"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/auth/othertool"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
)

// Providers is shared by all commands about models: the config of the directory, its model catalog, and the user's
// credentials.
type Providers struct {
	host        *Host
	Settings    *config.Loaded
	At          datadir.Folders
	section     json.RawMessage // of the settings
	filter      catalog.Filter
	Catalog     *catalog.Catalog
	File        *auth.File
	Credentials map[string]auth.Credential
	Deps        provider.Deps
}

// Variable reads a variable by its LATHE_ name, or else by its OPENCODE_ name.
func (a *Host) Variable(name string) string {
	if v := a.Env("LATHE_" + name); v != "" {
		return v
	}
	return a.Env("OPENCODE_" + name)
}

// IsEnvTrue reports whether a variable means yes.
func (a *Host) IsEnvTrue(name string) bool {
	v := a.Variable(name)
	return v == "1" || strings.EqualFold(v, "true")
}

// Providers reads the config and the credentials. The catalog is read when it is first used.
func (a *Host) Providers() (*Providers, error) {
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

// ProvidersOf returns the providers for a loaded config.
func (a *Host) ProvidersOf(l *config.Loaded, at datadir.Folders) (*Providers, error) {
	p := &Providers{host: a, Settings: l, At: at, filter: filterOf(l, a.IsEnvTrue("ENABLE_EXPERIMENTAL_MODELS"))}
	var raw struct {
		Provider json.RawMessage `json:"provider"`
	}
	if err := json.Unmarshal(l.Config.Raw, &raw); err != nil {
		return nil, err
	}
	p.section = raw.Provider
	var err error
	if p.File, err = a.CredentialFile(at); err != nil {
		return nil, err
	}
	if p.Credentials, err = p.File.All(); err != nil {
		return nil, err
	}
	p.Deps = provider.Deps{
		Env: a.withTokens(p.Credentials), Credentials: p.Credentials, IDs: lathe.NewIDs(),
		Token: provider.Tokens(p.File, a.AuthClient(), a.LoginMethods(l.Config)), AWS: a.signer,
	}
	p.filter.Adapt = provider.ForCredentials(p.Credentials)
	p.Catalog = p.With(p.filter)
	return p, nil
}

// With returns the filtered catalog, with more layers below the config.
func (p *Providers) With(f catalog.Filter, more ...catalog.Layer) *catalog.Catalog {
	layers := append([]catalog.Layer{catalog.File(p.host.modelsFile(p.At))}, more...)
	return catalog.New(f, append(layers, catalog.Config(p.section))...)
}

// modelsFile returns the path of the fetched catalog, or of the file that the user names.
func (a *Host) modelsFile(at datadir.Folders) string {
	if path := a.Variable("MODELS_PATH"); path != "" {
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

// CredentialFile opens the credential file and makes it unreadable to other users.
func (a *Host) CredentialFile(at datadir.Folders) (*auth.File, error) {
	f := auth.Open(auth.Source{
		Path: at.Credentials(), Content: a.Variable("AUTH_CONTENT"), Borrowed: a.opencodeCredentials(),
		Resolve: a.OtherTools(nil).Resolve,
	})
	fixed, err := f.FixPermissions()
	if fixed {
		a.Notify("Warning: other users could read %s; now only you can (mode 0600). If they may have read it, create new keys.", a.DisplayPath(at.Credentials()))
	}
	return f, err
}

// opencodeCredentials returns the path of OpenCode's credential file if the user wants to share it.
func (a *Host) opencodeCredentials() string {
	if path := a.ForeignAuth(); a.IsEnvTrue("BORROW_AUTH") {
		return path
	}
	return ""
}

func (a *Host) ForeignAuth() string {
	dir := a.Env("XDG_DATA_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Home(), ".local", "share")
	}
	return filepath.Join(dir, "opencode", "auth.json")
}

// OtherTools returns where other tools keep their credentials. The catalog names the variables that hold
// keys; without one, no variable is known.
func (a *Host) OtherTools(c *catalog.Catalog) othertool.Machine {
	m := othertool.Machine{Home: a.Home(), Env: a.Env, Windows: runtime.GOOS == "windows"}
	if c == nil {
		return m
	}
	for _, p := range c.Providers() {
		for _, name := range provider.EnvVars(p) {
			m.Variables = append(m.Variables, othertool.Variable{Name: name, Provider: p.ID})
		}
	}
	return m
}

// DisplayPath shortens a path for people, with ~ for the home folder.
func (a *Host) DisplayPath(path string) string {
	return termtext.Plain(termtext.Tilde(path, a.Env("HOME")))
}

// withTokens returns the environment, with tokens of organizations in place of variables that are not set.
func (a *Host) withTokens(all map[string]auth.Credential) func(string) string {
	tokens := map[string]auth.Secret{}
	for _, c := range all {
		if known, ok := c.(auth.WellKnown); ok && IsTokenVariable(known.Variable) {
			tokens[known.Variable] = known.Token
		}
	}
	return func(name string) string {
		if v := a.Env(name); v != "" {
			return v
		}
		return tokens[name].Reveal()
	}
}

func (a *Host) AuthClient() auth.Client {
	return auth.Client{Now: a.Now, UserAgent: a.agent()}
}

// Active returns the usable providers. OpenCode's own come first, as in its list.
func (p *Providers) Active() []provider.Active {
	return SortActive(provider.ActiveProviders(p.Catalog, p.Deps))
}

func SortActive(all []provider.Active) []provider.Active {
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

// CheckKey asks a provider whether it accepts a key. One without models cannot be asked.
func (p *Providers) CheckKey(ctx context.Context, id string, k auth.Key) provider.KeyCheck {
	one := p.With(catalog.Filter{Experimental: true}).Provider(id)
	if one == nil {
		return provider.KeyCheck{Verdict: provider.Unchecked, Detail: "the catalog has no models of this provider"}
	}
	return provider.CheckKey(ctx, one, k, p.Deps)
}

// Discover asks local model servers for their models and adds these to the catalog. An id limits it to one server.
func (p *Providers) Discover(ctx context.Context, id string) []provider.Found {
	var servers []catalog.Vendor
	for _, v := range catalog.LocalVendors() {
		if id != "" && id != v.ID || slices.Contains(p.filter.Disabled, v.ID) {
			continue
		}
		own := p.Settings.Config.Providers[v.ID]
		v.API = cmp.Or(own.Options.Text("baseURL"), own.API, v.API) // the user's address wins
		servers = append(servers, v)
	}
	found := provider.Discover(ctx, http.DefaultClient, servers)
	p.Catalog = p.With(p.filter, catalog.Config(provider.ConfigSection(found)))
	return found
}

// Find returns a model by its name. It asks a local model server for its models first.
func (p *Providers) Find(ctx context.Context, ref string) (*catalog.Model, error) {
	m, err := p.Catalog.Find(ref)
	if err == nil {
		return m, nil
	}
	id, _, ok := strings.Cut(ref, "/")
	if !ok || !IsLocal(id) {
		return nil, err
	}
	if len(p.Discover(ctx, id)) == 0 {
		if context.Cause(ctx) != nil {
			return nil, context.Cause(ctx)
		}
		return nil, NoServer(id)
	}
	return p.Catalog.Find(ref)
}

func NoServer(id string) error {
	return lathe.Errorf(lathe.Unavailable, "%s is not responding; start it, or set provider.%s.options.baseURL to its address", catalog.VendorOf(id).Name, id)
}

func IsLocal(id string) bool {
	return slices.ContainsFunc(catalog.LocalVendors(), func(v catalog.Vendor) bool { return v.ID == id })
}

// Choose returns the named model, or else the one from the config, the last one used, or the best usable one.
func (p *Providers) Choose(ctx context.Context, ref string) (*catalog.Model, error) {
	if ref == "" {
		ref = p.Settings.Config.Model
	}
	if ref != "" {
		return p.Find(ctx, ref)
	}
	return p.Catalog.Default(catalog.Preference{Recent: recent(p.At.RecentModels()), Usable: provider.Selectable(p.Active())})
}

// FullName returns provider/model for a model of the command line. A part of a name, such as "sonnet", stands for the
// newest usable model with it (package modelname).
func (p *Providers) FullName(ctx context.Context, name string) (string, error) {
	m, err := p.Find(ctx, name)
	if err == nil {
		return m.Ref(), nil
	}
	id, _, slash := strings.Cut(name, "/")
	known := slash && p.Catalog.Provider(id) != nil
	if slash && IsLocal(id) {
		return "", err
	}
	var usable []modelname.Model
	for _, one := range provider.Selectable(p.Active()) {
		for _, m := range one.Models {
			if !known || one.ID == id { // no other provider gets a prompt for this one
				usable = append(usable, modelname.Model{Provider: one.ID, ID: m.ID, Name: m.Name, Released: m.ReleaseDate})
			}
		}
	}
	found, unnamed := modelname.Find(name, usable, p.preferred())
	switch {
	case unnamed == nil:
		return found.Ref(), nil
	case slash && errors.Is(unnamed, modelname.ErrNotFound):
		return "", err
	}
	return "", lathe.Errorf(lathe.NotFound, "%w", unnamed)
}

// preferred returns the providers of the configured model and of the last used ones.
func (p *Providers) preferred() (out []string) {
	for _, ref := range append([]string{p.Settings.Config.Model}, recent(p.At.RecentModels())...) {
		if id, _, ok := strings.Cut(ref, "/"); ok && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// recent returns the models used last, newest first. It is a convenience, so an unreadable file counts as empty.
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

// OutputLimit returns the user's limit on output tokens, 0 without one.
func (a *Host) OutputLimit() int {
	n, _ := strconv.Atoi(a.Variable("EXPERIMENTAL_OUTPUT_TOKEN_MAX")) // not a number: no limit
	return max(n, 0)
}

// WithoutKeys returns providers that need no key and renew no token, for recordings.
func WithoutKeys(p *catalog.Provider, m *catalog.Model, d provider.Deps) provider.Deps {
	d.Token, d.AWS = nil, nil
	if _, _, err := provider.Open(p, m, d); lathe.CodeOf(err) == lathe.Unauthorized {
		d.Credentials = map[string]auth.Credential{p.ID: auth.Key{Key: auth.NewSecret("none")}}
	}
	return d
}

// RedactURL returns an address without its password and query, which may hold keys.
func RedactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an invalid address"
	}
	u.RawQuery, u.User = "", nil
	return u.String()
}

// IsTokenVariable reports whether a token may stand in for a variable. It must not for one that controls this program
// or the address of requests.
func IsTokenVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && !strings.HasPrefix(name, "LATHE_") && !strings.HasPrefix(name, "OPENCODE_") &&
		!strings.HasSuffix(name, "_URL") && !slices.Contains([]string{"HOME", "PATH", "SHELL", "EDITOR", "VISUAL"}, name)
}
