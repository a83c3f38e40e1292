package harness

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/extension"
	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// serverWait limits how long a headless turn waits for MCP servers that never connected before.
const serverWait = 5 * time.Second

// idleExtensions is how long the extensions of an unused directory stay open. It is longer than any of their calls.
const idleExtensions = 2 * time.Hour

// extensionSets holds the extensions of each directory.
type extensionSets struct {
	tokens *mcp.Tokens // logins to MCP servers, one value for the whole program
	hooks  *hookSets

	mu     sync.Mutex // guards the fields below
	dirs   map[string]*extensionSet
	ends   []func() error // closes resources given to extensions
	ending sync.WaitGroup // counts extensions that are closing
	err    error          // joined errors of closing
}

// extensionSet holds the extensions of one directory until its config names others.
type extensionSet struct {
	*extension.Set
	names string    // identifies the config that names them
	used  time.Time // guarded by extensionSets.mu

	calls atomic.Int32 // plugin requests in progress

	mu      sync.Mutex     // guards the fields below
	seen    *config.Loaded // the config that plugins have seen
	running *configRun     // nil unless plugins are being asked
	closed  bool
}

// configRun is one round of asking plugins to change the config.
type configRun struct {
	done   chan struct{} // closed when all plugins have answered and the fields below are set
	config *DirConfig
	err    error
}

// Settings returns the engine's settings for a directory, with those of its extensions.
func (s *Harness) Settings(ctx context.Context, place workspace.Place) (*engine.StepSettings, error) {
	k, v, err := s.withExtensions(ctx, place)
	if k != nil {
		s.Languages.Offer(k, place)
	}
	if err != nil || v == nil {
		return k.settingsOf(), err
	}
	return v.Apply(ctx, k.Settings)
}

func (k *DirConfig) settingsOf() *engine.StepSettings {
	if k == nil {
		return nil
	}
	return k.Settings
}

// ConfigWithPlugins returns the config of a directory with the additions of its plugins.
func (s *Harness) ConfigWithPlugins(ctx context.Context, place workspace.Place) (*DirConfig, error) {
	k, _, err := s.withExtensions(ctx, place)
	return k, err
}

// withExtensions returns the config of a directory with the additions of its plugins, and its extensions, nil if it
// has none.
func (s *Harness) withExtensions(ctx context.Context, place workspace.Place) (*DirConfig, *extensionSet, error) {
	k, err := s.ConfigFor(place)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.extensionSet(ctx, k, place)
	if err != nil || v == nil {
		return k, nil, err
	}
	run := v.configure(ctx, s, k.loaded, place)
	if run == nil { // plugins have seen this config
		return k, v, nil
	}
	if v.calls.Load() > 0 {
		// A plugin that is loading or being asked waits for this answer, and would wait for itself. Until it has
		// answered, callers get the config without plugins.
		return k, nil, nil
	}
	select {
	case <-run.done:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	if run.err != nil {
		return nil, nil, run.err
	}
	return run.config, v, nil
}

// configure starts asking plugins to change the config, or joins a round in progress. It returns nil if they have seen
// this config. The caller's context does not end the round, because others wait for it too.
func (v *extensionSet) configure(ctx context.Context, s *Harness, loaded *config.Loaded, place workspace.Place) *configRun {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed || v.running == nil && v.seen == loaded {
		return nil
	}
	if v.running != nil {
		return v.running
	}
	run := &configRun{done: make(chan struct{})}
	v.running = run
	go func() {
		defer close(run.done)
		if run.err = s.askPlugins(context.WithoutCancel(ctx), v, place); run.err == nil {
			run.config, run.err = s.ConfigFor(place)
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.running = nil; run.err == nil {
			v.seen = run.config.loaded
		}
	}()
	return run
}

// Close ends the extensions and waits for their open requests.
func (v *extensionSet) Close() error {
	v.mu.Lock()
	v.closed = true
	run := v.running
	v.mu.Unlock()
	err := v.Set.Close()
	if run != nil {
		<-run.done
	}
	return err
}

// askPlugins lets plugins change the config.
func (s *Harness) askPlugins(ctx context.Context, v *extensionSet, place workspace.Place) error {
	o, err := s.app.WithDir(place.Directory).ConfigOptions()
	if err != nil {
		return err
	}
	bare, err := config.Load(o)
	if err != nil {
		return err
	}
	added, err := v.Configure(ctx, bare.Config.Raw)
	if err != nil {
		return err
	}
	if added != "" {
		o.FromPlugins = added
		if _, err := config.Load(o); err != nil {
			return lathe.Errorf(lathe.Invalid, "a plugin added invalid config: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added[place.Directory] = added
	return nil
}

// extensionSet returns the extensions that the config names and closes others of the directory.
func (s *Harness) extensionSet(ctx context.Context, k *DirConfig, place workspace.Place) (*extensionSet, error) {
	names, err := s.extensionNames(k)
	if err != nil {
		return nil, err
	}
	vs := &s.extensionSets
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.sweep(s.app.Now())
	v := vs.dirs[place.Directory]
	if v != nil && v.names == names {
		v.used = s.app.Now()
		return v, nil
	}
	if v != nil {
		delete(vs.dirs, place.Directory)
		vs.closeAsync(v)
	}
	if names == "" {
		return nil, nil
	}
	return s.host(ctx, k, place, names), nil
}

// addExtensions opens an empty set, for an extension that is added at run time.
func (s *Harness) addExtensions(ctx context.Context, k *DirConfig, place workspace.Place) *extensionSet {
	s.extensionSets.mu.Lock()
	defer s.extensionSets.mu.Unlock()
	if v := s.extensionSets.dirs[place.Directory]; v != nil {
		return v
	}
	return s.host(ctx, k, place, "")
}

// sweep closes the extensions of directories that are long unused. The mutex is held.
func (vs *extensionSets) sweep(now time.Time) {
	for dir, v := range vs.dirs {
		if now.Sub(v.used) > idleExtensions {
			delete(vs.dirs, dir)
			vs.closeAsync(v)
		}
	}
}

// closeAsync closes extensions in the background. The mutex is held.
func (vs *extensionSets) closeAsync(v *extensionSet) {
	vs.ending.Go(func() {
		if err := v.Close(); err != nil {
			vs.mu.Lock()
			defer vs.mu.Unlock()
			vs.err = errors.Join(vs.err, err)
		}
	})
}

// close closes all extensions and waits.
func (vs *extensionSets) close() error {
	vs.mu.Lock()
	for dir, v := range vs.dirs {
		delete(vs.dirs, dir)
		vs.closeAsync(v)
	}
	vs.mu.Unlock()
	vs.ending.Wait()
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for _, end := range vs.ends {
		vs.err = errors.Join(vs.err, end())
	}
	return vs.err
}

// forget closes the extensions of one directory.
func (vs *extensionSets) forget(dir string) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if v := vs.dirs[dir]; v != nil {
		delete(vs.dirs, dir)
		vs.closeAsync(v)
	}
}

// extensionNames returns a key for the extensions that a config names, "" if it names none.
func (s *Harness) extensionNames(k *DirConfig) (string, error) {
	c := k.loaded.Config
	plugins, tools := s.app.PluginsOf(k.loaded), k.loaded.Tools
	if s.app.Pure {
		tools = nil
	}
	if len(plugins)+len(tools)+len(c.MCP) == 0 {
		return "", nil
	}
	text, err := json.Marshal([]any{plugins, tools, c.MCP, c.Experimental.MCPTimeout, c.Env})
	return string(text), err
}

// PluginsOf returns the plugins that the config names, then the plugin files in config folders.
func (a *Host) PluginsOf(l *config.Loaded) (out []plugin.Plugin) {
	if a.Pure || a.Variable("PURE") != "" {
		return nil
	}
	for _, p := range l.Config.Plugins {
		out = append(out, plugin.Plugin{Spec: p.Name, Options: p.Options})
	}
	for _, path := range l.Plugins {
		out = append(out, plugin.Plugin{Spec: path})
	}
	return out
}

// ServersOf returns the MCP servers that the config names.
func ServersOf(c config.Config) (out []mcp.Server) {
	for _, name := range slices.Sorted(maps.Keys(c.MCP)) {
		out = append(out, serverOf(name, c.MCP[name]))
	}
	return out
}

func serverOf(name string, m config.MCPServer) mcp.Server {
	return mcp.Server{
		Name: name, Command: m.Command, Dir: m.Cwd, Environment: m.Environment, URL: m.URL, Headers: m.Headers,
		OAuth: mcp.OAuth{
			ClientID: m.OAuth.ClientID, ClientSecret: m.OAuth.ClientSecret, Scope: m.OAuth.Scope,
			CallbackPort: m.OAuth.CallbackPort, RedirectURI: m.OAuth.RedirectURI, Off: m.OAuth.Off,
		},
		Disabled: m.Enabled != nil && !*m.Enabled, Timeout: time.Duration(m.Timeout) * time.Millisecond,
	}
}

// host opens extensions. The mutex of extensionSets is held.
func (s *Harness) host(ctx context.Context, k *DirConfig, place workspace.Place, names string) *extensionSet {
	v := &extensionSet{names: names, used: s.app.Now(), Set: extension.Open(s.extensionOptions(ctx, k, place))}
	s.extensionSets.dirs[place.Directory] = v
	return v
}

// extensionOptions returns the options of extensions. The mutex of extensionSets is held.
func (s *Harness) extensionOptions(ctx context.Context, k *DirConfig, place workspace.Place) extension.Options {
	o := extension.Options{
		Place: place, Plugins: s.app.PluginsOf(k.loaded), Tools: k.loaded.Tools, Servers: ServersOf(k.loaded.Config),
		Wait: serverWait, Timeout: time.Duration(k.loaded.Config.Experimental.MCPTimeout) * time.Millisecond,
		Runner: s.Runner, Cache: s.Folders.Cache, Env: environ.With(s.app.ServiceEnv(), k.loaded.Config.Env), Tokens: s.extensionSets.tokens, Log: s.app.Log, Version: s.app.Version,
		Transport: ProxyTransport(), Private: k.loaded.Config.WebFetch.Private, Models: s.describeModel(place),
	}
	o.Confine, o.ConfinePlugins = s.ConfineServer(k.loaded.Config, place), s.ConfinePlugins(k.loaded.Config, place)
	if s.app.Pure {
		o.Tools = nil
	}
	if e := s.Engine; e != nil {
		if inst, err := e.Instance(ctx, place.Directory); err == nil {
			o.Project = inst.Project
		}
		o.Client = s.ownServer(place.Directory)
		o.Publish = func(f lathe.Fact) {
			e.Publish(lathe.Event{Directory: place.Directory, Project: place.ProjectID, Fact: f})
		}
		o.Events = func(ctx context.Context) iter.Seq2[lathe.Event, error] {
			return e.Events(ctx, lathe.Scope{Directory: place.Directory}, lathe.Opt[lathe.Cursor]{})
		}
	}
	return o
}

// MCPLogins returns the saved logins to MCP servers.
func MCPLogins(at datadir.Folders) *mcp.Tokens {
	return mcp.OpenTokens(filepath.Join(at.Data, "mcp-auth.json"))
}

// ProxyTransport returns a transport that uses the proxy of the environment.
func ProxyTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = http.ProxyFromEnvironment
	return t
}

// describeModel returns a function that describes a model to plugins, in wire format.
func (s *Harness) describeModel(place workspace.Place) func(lathe.ModelRef) (model, provider json.RawMessage) {
	return func(ref lathe.ModelRef) (model, provider json.RawMessage) {
		k, err := s.ConfigFor(place)
		if err != nil {
			return nil, nil
		}
		p := k.Providers.Catalog.Provider(ref.Provider)
		if p == nil {
			return nil, nil
		}
		alone := *p
		alone.Models = map[string]*catalog.Model{}
		if m := p.Models[ref.Model]; m != nil {
			alone.Models[ref.Model] = m
		}
		wire := wireProvider(&alone, "config")
		provider, _ = json.Marshal(wire) // it was read from JSON
		return wire.Models[ref.Model], provider
	}
}

// env returns the variables that plugins add to a command.
func (s *Harness) env(dir string) func(ctx context.Context, cwd string, c *tool.Call) (map[string]string, error) {
	return func(ctx context.Context, cwd string, c *tool.Call) (map[string]string, error) {
		s.extensionSets.mu.Lock()
		v := s.extensionSets.dirs[dir]
		s.extensionSets.mu.Unlock()
		if v == nil {
			return nil, nil
		}
		return v.Env(ctx, cwd, c)
	}
}
