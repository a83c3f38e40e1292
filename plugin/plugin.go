// Package plugin runs the plugins of a directory in their own processes and talks to them.
// Plugins are programs in any language that speak our protocol (docs/plugins.md), or JavaScript
// written for OpenCode's plugin package, which runs in a host that ships inside the binary
// (host/*.mjs).
//
// It owns those processes, their limits (time, sizes, restarts), the packages it installs for
// them, and the protocol. It does not decide which plugins are trusted, nor what a hook means:
// it sends JSON to each plugin in load order and validates the answers.
//
// A [Hub] is the plugins of one directory. It is safe for use by many goroutines. It starts
// nothing until the first use, and a hub without plugins costs nothing at all.
//
// Start reading at [Open] and [Hub.Call]; supervisor.go is a process and its restarts, fault.go the rule
// by which a plugin is switched off.
package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
)

// Options configure a hub.
type Options struct {
	Dir      string // the directory, absolute; processes start in it
	Worktree string
	Project  json.RawMessage // the project's record, as the wire has it
	Plugins  []Plugin        // in load order
	Tools    []string        // files of custom tools, absolute, in load order
	Runner   *sandbox.Runner // starts the processes, and ends them with us
	// Cache is the folder for installed packages and the files of the host.
	Cache string
	// Env is the whole environment of the processes; programs are found by its PATH.
	Env []string
	// Confine returns the sandbox of the processes; nil confines none.
	Confine func() (sandbox.Profile, error)
	// Client answers what plugins ask of the server through their SDK client; nil answers 503.
	Client http.Handler
	// ServerURL is the address that plugins see; requests to it always go to Client.
	ServerURL string
	// Publish publishes an event: a failed plugin is a *lathe.SessionFailed without a session.
	Publish  func(lathe.Fact)
	Log      *slog.Logger
	Timeouts Timeouts
}

// Plugin is one entry of the settings.
type Plugin struct {
	// Spec is a path or file URL (.js, .mjs, .cjs, .ts, .mts or a folder with a package.json: for the
	// JavaScript host; any other must be an executable file, which speaks the protocol itself), or
	// else a package of the npm registry: name, name@version, @scope/name@version. A path begins with
	// "/", "./", "../" or "file:".
	Spec string
	// Command is the command line of a program that speaks the protocol; Spec is then only its
	// name.
	Command []string
	// Options are handed to the plugin as they are.
	Options json.RawMessage
}

// Timeouts are how long plugins may take; 0 is the default of each.
type Timeouts struct {
	Hook    time.Duration // one hook of one plugin: 10 s
	Load    time.Duration // from the start of a process to its hooks: 30 s
	Install time.Duration // one npm package: 5 min
	Tool    time.Duration // one call of a tool: 10 min
	Probe   time.Duration // a sign of life from a process that is suspected to be stuck: 3 s
}

func (t Timeouts) withDefaults() Timeouts {
	set := func(p *time.Duration, value time.Duration) {
		if *p <= 0 {
			*p = value
		}
	}
	set(&t.Hook, 10*time.Second)
	set(&t.Load, 30*time.Second)
	set(&t.Install, 5*time.Minute)
	set(&t.Tool, 10*time.Minute)
	set(&t.Probe, 3*time.Second)
	return t
}

// Hub is the plugins of one directory.
type Hub struct {
	opt     Options
	members []*plugin          // in load order: the plugins, then the files of tools
	stop    context.CancelFunc // cancels running work
	life    context.Context
	work    sync.WaitGroup
	started atomic.Bool // loading has been tried for all

	mu      sync.Mutex
	peers   []*supervisor
	support map[string]fetched // packages that were installed for the host
	loading chan struct{}      // closed when it is done; nil before the first use
	closed  bool
	early   []lathe.Event // events from before the first plugin
}

// earlyMost is how many events wait for plugins that are not loaded yet.
const earlyMost = 256

// Open makes a hub. It starts nothing and reads no file.
func Open(o Options) *Hub {
	o.Timeouts = o.Timeouts.withDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Publish == nil {
		o.Publish = func(lathe.Fact) {}
	}
	life, stop := context.WithCancel(context.Background())
	c := &Hub{opt: o, life: life, stop: stop, support: map[string]fetched{}}
	for _, p := range o.Plugins {
		c.members = append(c.members, newPlugin(c, len(c.members), p, ""))
	}
	for _, file := range o.Tools {
		c.members = append(c.members, newPlugin(c, len(c.members), Plugin{Spec: file}, file))
	}
	c.assign()
	return c
}

// assign gives each member its process: one for all of JavaScript, one for each program.
func (c *Hub) assign() {
	var host *supervisor
	for _, m := range c.members {
		if m.kind == kindProgram {
			c.peers = append(c.peers, newSupervisor(c, m.name, m))
			continue
		}
		if host == nil {
			host = newSupervisor(c, hostName)
			c.peers = append(c.peers, host)
		}
		host.add(m)
	}
}

// processes are the places for processes as they are now.
func (c *Hub) processes() []*supervisor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peers // which is replaced, never changed
}

var errClosed = errors.New("the plugins of this directory are closed")

// Start loads the plugins and returns when that is done, even if some failed: failures are
// reported and found in [Hub.Status]. It fails when the context ends, while loading continues.
// Call, Tools and Execute call it.
func (c *Hub) Start(ctx context.Context) error {
	if c.started.Load() || len(c.members) == 0 {
		return nil
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return errClosed
	}
	if c.loading == nil {
		c.loading = make(chan struct{})
		c.work.Add(1)
		go c.load(c.loading)
	}
	loading := c.loading
	c.mu.Unlock()
	select {
	case <-loading:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// load starts all processes at once.
func (c *Hub) load(done chan struct{}) {
	defer c.work.Done()
	defer close(done)
	var all sync.WaitGroup
	for _, p := range c.processes() {
		all.Go(func() { _, _ = p.ready(c.life) }) // a failure is its members' state
	}
	all.Wait()
	c.mu.Lock()
	early := c.early
	c.early = nil
	c.started.Store(true)
	c.mu.Unlock()
	for _, e := range early {
		c.spread(e)
	}
}

// Has reports whether a hook may have anyone to call. It is false where nothing is configured, and
// true for all hooks while the plugins are not loaded.
func (c *Hub) Has(hook string) bool {
	if len(c.members) == 0 {
		return false
	}
	if !c.started.Load() {
		return true
	}
	return slices.ContainsFunc(c.members, func(m *plugin) bool { return m.has(hook) })
}

// Close lets the plugins put themselves away, ends their processes and waits for them.
func (c *Hub) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		c.work.Wait()
		return nil
	}
	c.closed = true
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range c.processes() {
		all.Go(p.dispose)
	}
	all.Wait()
	c.stop()
	for _, p := range c.processes() {
		p.close()
	}
	c.work.Wait()
	return nil
}
