// Package extension connects the extensions of a directory to its turns: plugins, which add hooks and
// tools, and MCP servers.
//
// It owns their lifetimes and nothing else: [plugin] and [mcp] speak the protocols, and the engine knows
// only hooks, tools, commands and texts. A Set is opened when the config of its directory names an
// extension. The extensions start at their first use and end with [Set.Close].
//
// A Set is safe for use by many goroutines. Start reading at [Set.Apply]; hooks.go has the input and
// output of each hook.
package extension

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// Options name the extensions and the resources they may use.
type Options struct {
	Place   workspace.Place
	Project lathe.Project
	Plugins []plugin.Plugin
	Tools   []string // files of custom tools
	Servers []mcp.Server
	// Wait is how long the first step waits for servers whose tools were never seen; 0 waits for none.
	Wait    time.Duration
	Timeout time.Duration // of calls to servers that have none of their own
	Runner  *sandbox.Runner
	Cache   string // a folder
	Env     []string
	Tokens  *mcp.Tokens
	// Confine returns the sandbox of a server, ConfinePlugins the sandbox of plugins; nil
	// confines none.
	Confine        func(mcp.Server) (sandbox.Profile, error)
	ConfinePlugins func() (sandbox.Profile, error)
	// Transport carries requests to remote servers; nil is one without a proxy.
	Transport http.RoundTripper
	Private   bool // MCP servers may send logins to private addresses
	// Client answers what plugins ask of the server.
	Client http.Handler
	// Models describes a model and its provider in the words of the wire.
	Models func(lathe.ModelRef) (model, provider json.RawMessage)
	// Events streams the events of the directory from now on; nil has none.
	Events  func(ctx context.Context) iter.Seq2[lathe.Event, error]
	Publish func(lathe.Fact)
	Log     *slog.Logger
	Version string
}

// Set holds the extensions of one directory.
type Set struct {
	Options
	plugins *plugin.Hub     // nil without any
	servers *mcp.Hub        // nil until there is one
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu         sync.Mutex // guards the fields below
	waited     bool       // for servers
	forwarding bool       // events are passed on
	cached     cachedSettings
}

// cachedSettings is the result for some settings, valid until they or the servers change.
type cachedSettings struct {
	base       *engine.StepSettings
	generation uint64
	out        *engine.StepSettings
}

// Open makes a Set. It starts nothing.
func Open(o Options) *Set {
	g := &Set{Options: o}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	if len(o.Plugins)+len(o.Tools) > 0 {
		project, _ := json.Marshal(o.Project) // written by lathe
		g.plugins = plugin.Open(plugin.Options{
			Dir: o.Place.Directory, Worktree: o.Place.Worktree, Project: project, Plugins: o.Plugins, Tools: o.Tools, Runner: o.Runner,
			Cache: filepath.Join(o.Cache, "plugins"), Env: o.Env, Client: o.Client, ServerURL: "http://lathe.internal/", Publish: o.Publish, Log: o.Log,
			Confine: o.ConfinePlugins,
		})
	}
	g.servers = mcp.Open(mcp.Options{
		Dir: o.Place.Directory, Servers: o.Servers, Runner: o.Runner, Env: o.Env, Tokens: o.Tokens, Cache: filepath.Join(o.Cache, "mcp"),
		Publish: o.Publish, Log: o.Log, Version: o.Version, Timeout: o.Timeout, Transport: o.Transport, AllowPrivate: o.Private, Confine: o.Confine,
	})
	return g
}

// Servers are the MCP servers. More may be added while the program runs.
func (g *Set) Servers() *mcp.Hub { return g.servers }

// Close ends all extensions with their processes, and waits for them.
func (g *Set) Close() error {
	g.cancel()
	var err error
	if g.plugins != nil {
		err = g.plugins.Close()
	}
	g.servers.Close()
	g.work.Wait()
	return err
}

// Apply adds the tools, hooks and commands of the extensions to the settings of the directory. It loads
// plugins first, and starts to connect to servers without waiting for them.
func (g *Set) Apply(ctx context.Context, base *engine.StepSettings) (*engine.StepSettings, error) {
	if g.plugins != nil {
		if err := g.plugins.Start(ctx); err != nil {
			return nil, err
		}
		g.forwardEvents()
	}
	g.waitForServers(ctx, base.Headless)
	brought := g.servers.Tools()
	generation := g.servers.Generation()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cached.out != nil && g.cached.base == base && g.cached.generation == generation {
		return g.cached.out, nil
	}
	out := *base
	tools, err := g.defineTools(ctx, g.tools(base.Tools.All(), brought))
	if err != nil {
		return nil, err
	}
	out.Tools = tool.NewSet(tools...)
	if out.SmallModel, err = g.smallModel(ctx, base.DefaultModel, base.SmallModel); err != nil {
		return nil, err
	}
	out.Hooks = g.hooks(base.Hooks)
	out.Commands = g.commands(base.Commands)
	out.Instructions = g.instructions(base.Instructions)
	out.Resource = g.resourceOr(base.Resource)
	g.cached = cachedSettings{base, generation, &out}
	return g.cached.out, nil
}

// waitForServers waits for new servers before the first step of a headless session, because it has no
// second prompt that could use tools that come later.
func (g *Set) waitForServers(ctx context.Context, headless bool) {
	g.mu.Lock()
	wait := headless && !g.waited && g.Wait > 0
	g.waited = true
	g.mu.Unlock()
	if wait {
		ctx, cancel := context.WithTimeout(ctx, g.Wait)
		defer cancel()
		g.servers.WaitReady(ctx)
	}
}

// forwardEvents sends events to plugins with an event hook.
func (g *Set) forwardEvents() {
	if g.Events == nil || !g.plugins.Has("event") && !g.plugins.Has("event.part.delta") {
		return
	}
	g.mu.Lock()
	wasForwarding := g.forwarding
	g.forwarding = true
	g.mu.Unlock()
	if wasForwarding {
		return
	}
	g.work.Go(func() {
		for e, err := range g.Events(g.ctx) {
			if err != nil {
				if g.ctx.Err() == nil {
					g.Log.Warn("plugins no longer receive events", "directory", g.Place.Directory, "error", err)
				}
				return
			}
			g.plugins.Event(e)
		}
	})
}
