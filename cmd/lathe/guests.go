package main

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
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/guest"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// serverWait is how long a turn that nobody watches waits for servers of tools that were never seen.
const serverWait = 5 * time.Second

// idleGuests is how long the guests of a directory stay that nobody asks for: longer than any call of
// theirs may take.
const idleGuests = 2 * time.Hour

// visits are the guests of each directory.
type visits struct {
	at datadir.Folders

	mu     sync.Mutex // guards the fields below
	engine *engine.Engine
	tokens *mcp.Tokens
	dirs   map[string]*visit
	ends   []func() error // of what guests have been given
	ending sync.WaitGroup // of guests that were sent away
	err    error          // of theirs
}

// visit is the guests of one directory, for as long as its settings name the same.
type visit struct {
	*guest.Guests
	names string    // the settings that name them
	used  time.Time // guarded by visits.mu

	mu    sync.Mutex     // guards what follows
	heard *config.Loaded // the settings that plugins have seen
}

// attach tells guests whose sessions they see. It is called once, before the first turn.
func (s *agentSetup) attach(e *engine.Engine) {
	s.visits.mu.Lock()
	defer s.visits.mu.Unlock()
	s.visits.engine = e
}

// Settings is what the engine needs of a directory's settings, with what its guests bring.
func (s *agentSetup) Settings(ctx context.Context, place workspace.Place) (*engine.Settings, error) {
	k, v, err := s.visited(ctx, place)
	if err != nil || v == nil {
		return k.settingsOf(), err
	}
	return v.Join(ctx, k.settings)
}

func (k *known) settingsOf() *engine.Settings {
	if k == nil {
		return nil
	}
	return k.settings
}

// visited is what a directory says, with what its plugins add to it, and who they are; nil if
// there are none.
func (s *agentSetup) visited(ctx context.Context, place workspace.Place) (*known, *visit, error) {
	k, err := s.at(place)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.visit(ctx, k, place)
	if err != nil || v == nil {
		return k, nil, err
	}
	if ctx.Value(byGuest{}) == nil {
		v.mu.Lock()
	} else if !v.mu.TryLock() { // a plugin that is being asked would wait for itself
		return k, nil, nil
	}
	defer v.mu.Unlock()
	if v.heard == nil && ctx.Value(byGuest{}) != nil {
		return k, nil, nil
	}
	if v.heard == k.loaded {
		return k, v, nil
	}
	if err := s.hear(ctx, v, place); err != nil {
		return nil, nil, err
	}
	if k, err = s.at(place); err != nil {
		return nil, nil, err
	}
	v.heard = k.loaded
	return k, v, nil
}

// hear lets plugins change the settings. The visit's mutex is held.
func (s *agentSetup) hear(ctx context.Context, v *visit, place workspace.Place) error {
	o, err := s.app.in(place.Directory).settingsOptions()
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
		o.Added = added
		if _, err := config.Load(o); err != nil {
			return lathe.Errorf(lathe.Invalid, "a plugin adds settings that are wrong: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added[place.Directory] = added
	return nil
}

// visit returns the guests that the settings name; others of the directory are sent away.
func (s *agentSetup) visit(ctx context.Context, k *known, place workspace.Place) (*visit, error) {
	names, err := s.guestNames(k)
	if err != nil {
		return nil, err
	}
	vs := &s.visits
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.sweep(s.app.now())
	v := vs.dirs[place.Directory]
	if v != nil && v.names == names {
		v.used = s.app.now()
		return v, nil
	}
	if v != nil {
		delete(vs.dirs, place.Directory)
		vs.send(v)
	}
	if names == "" {
		return nil, nil
	}
	return s.host(ctx, k, place, names), nil
}

// welcome makes guests where there were none, for one that is added while the program runs.
func (s *agentSetup) welcome(ctx context.Context, k *known, place workspace.Place) *visit {
	s.visits.mu.Lock()
	defer s.visits.mu.Unlock()
	if v := s.visits.dirs[place.Directory]; v != nil {
		return v
	}
	return s.host(ctx, k, place, "")
}

// sweep sends away the guests of directories nobody has worked in for long. The mutex is held.
func (vs *visits) sweep(now time.Time) {
	for dir, v := range vs.dirs {
		if now.Sub(v.used) > idleGuests {
			delete(vs.dirs, dir)
			vs.send(v)
		}
	}
}

// send lets guests go, beside what else happens. The mutex is held.
func (vs *visits) send(v *visit) {
	vs.ending.Go(func() {
		if err := v.Close(); err != nil {
			vs.mu.Lock()
			defer vs.mu.Unlock()
			vs.err = errors.Join(vs.err, err)
		}
	})
}

// close sends all guests away and waits for it.
func (vs *visits) close() error {
	vs.mu.Lock()
	for dir, v := range vs.dirs {
		delete(vs.dirs, dir)
		vs.send(v)
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

// forget sends the guests of one directory away.
func (vs *visits) forget(dir string) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if v := vs.dirs[dir]; v != nil {
		delete(vs.dirs, dir)
		vs.send(v)
	}
}

// guestNames is what the settings say of guests, "" if there are none.
func (s *agentSetup) guestNames(k *known) (string, error) {
	c := k.loaded.Config
	plugins, tools := s.app.pluginsOf(k.loaded), k.loaded.Tools
	if s.app.pure {
		tools = nil
	}
	if len(plugins)+len(tools)+len(c.MCP) == 0 {
		return "", nil
	}
	text, err := json.Marshal([]any{plugins, tools, c.MCP, c.Experimental.MCPTimeout})
	return string(text), err
}

// pluginsOf are the plugins of the settings, then those that lie in folders.
func (a *hostEnv) pluginsOf(l *config.Loaded) (out []plugin.Plugin) {
	if a.pure || a.variable("PURE") != "" {
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

// serversOf are the servers of tools that the settings name.
func serversOf(c config.Config) (out []mcp.Server) {
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

// host opens guests. The mutex of visits is held.
func (s *agentSetup) host(ctx context.Context, k *known, place workspace.Place, names string) *visit {
	v := &visit{names: names, used: s.app.now(), Guests: guest.Open(s.invite(ctx, k, place))}
	s.visits.dirs[place.Directory] = v
	return v
}

// invite is what guests are opened with. The mutex of visits is held.
func (s *agentSetup) invite(ctx context.Context, k *known, place workspace.Place) guest.Options {
	vs := &s.visits
	o := guest.Options{
		Place: place, Plugins: s.app.pluginsOf(k.loaded), Tools: k.loaded.Tools, Servers: serversOf(k.loaded.Config),
		Wait: serverWait, Timeout: time.Duration(k.loaded.Config.Experimental.MCPTimeout) * time.Millisecond,
		Runner: s.runner, Cache: vs.at.Cache, Env: s.app.serviceEnv(), Tokens: vs.logins(), Log: s.app.log, Version: version,
		Transport: proxied(), Private: k.loaded.Config.WebFetch.Private, Models: s.described(place),
	}
	o.Confine, o.ConfinePlugins = s.confineServer(k.loaded.Config, place), s.confinePlugins(k.loaded.Config, place)
	if s.app.pure {
		o.Tools = nil
	}
	if e := vs.engine; e != nil {
		if inst, err := e.Instance(ctx, place.Directory); err == nil {
			o.Project = inst.Project
		}
		o.Client = s.ownServer(e, place.Directory)
		o.Tell = func(f lathe.Fact) {
			e.Publish(lathe.Event{Directory: place.Directory, Project: place.ProjectID, Fact: f})
		}
		o.Events = func(ctx context.Context) iter.Seq2[lathe.Event, error] {
			return e.Events(ctx, lathe.Scope{Directory: place.Directory}, lathe.Opt[lathe.Cursor]{})
		}
	}
	return o
}

// proxied goes by way of the proxy that the environment names, where it does.
func proxied() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = http.ProxyFromEnvironment
	return t
}

// logins are those to servers of tools, one value for the whole program. The mutex is held.
func (vs *visits) logins() *mcp.Tokens {
	if vs.tokens == nil {
		vs.tokens = mcp.OpenTokens(filepath.Join(vs.at.Data, "mcp-auth.json"))
	}
	return vs.tokens
}

// described tells plugins of a model in the words of the wire.
func (s *agentSetup) described(place workspace.Place) func(lathe.ModelRef) (model, provider json.RawMessage) {
	return func(ref lathe.ModelRef) (model, provider json.RawMessage) {
		k, err := s.at(place)
		if err != nil {
			return nil, nil
		}
		p := k.providers.catalog.Provider(ref.Provider)
		if p == nil {
			return nil, nil
		}
		alone := *p
		alone.Models = map[string]*catalog.Model{}
		if m := p.Models[ref.Model]; m != nil {
			alone.Models[ref.Model] = m
		}
		wire := wireProvider(&alone, "config")
		provider, _ = json.Marshal(wire) // of JSON
		return wire.Models[ref.Model], provider
	}
}

// env are the variables that plugins add to a command.
func (s *agentSetup) env(dir string) func(ctx context.Context, cwd string, c *tool.Call) (map[string]string, error) {
	return func(ctx context.Context, cwd string, c *tool.Call) (map[string]string, error) {
		s.visits.mu.Lock()
		v := s.visits.dirs[dir]
		s.visits.mu.Unlock()
		if v == nil {
			return nil, nil
		}
		return v.Env(ctx, cwd, c)
	}
}
