// Package mcp is a client of Model Context Protocol servers: local ones that it starts, and
// remote ones over HTTP.
//
// It owns the connections of one directory ([Hub]): their start, their end with all processes,
// deadlines and reconnecting. It caches the offer of each server (tools, prompts, resources,
// instructions) on disk, so that the first prompt has tools before any server has answered. It
// also owns the logins to remote servers ([Tokens]). It decides no permission and reads neither
// config nor environment: its caller passes the allowed servers.
//
// Servers are not trusted: sizes and lists are bounded, texts are cleaned. The protocol and its
// transports come from the official SDK.
//
// A Hub and Tokens are safe for use by many goroutines. Closing a hub waits for everything it
// started. Start reading at [Hub.Tools], then serverentry.go (the life of one server), conn.go
// (one connection) and call.go (one call).
package mcp

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// Options configure a hub. Dir and, for local servers, Runner are needed.
type Options struct {
	Dir     string // absolute: where local servers run, and the root announced to servers
	Servers []Server
	Runner  *sandbox.Runner
	// Confine returns the sandbox for a local server; nil confines none.
	Confine func(Server) (sandbox.Profile, error)
	// Env is the environment of local servers, as name=value; that of a server is added to it.
	Env []string
	// Tokens are the logins to remote servers; nil if none are stored.
	Tokens *Tokens
	// Cache is the folder for cached tool lists; "" disables the cache.
	Cache string
	// Publish publishes an event: changed tools, a required login. It may be nil.
	Publish func(lathe.Fact)
	Log     *slog.Logger // nil is silence
	// Transport carries requests to remote servers; nil is one without a proxy.
	Transport http.RoundTripper
	// AllowPrivate lets servers send logins to private addresses. Without it all but the server's own origin
	// must be public.
	AllowPrivate bool
	// Version is how this program calls itself to servers.
	Version string
	// Timeout is that of servers which have none of their own; 0 is [DefaultTimeout].
	Timeout time.Duration
}

// Hub is the servers of one directory.
type Hub struct {
	o      Options
	ctx    context.Context // of all that it started; ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup
	login  logins
	grown  atomic.Uint64
	first  time.Duration // the pause before a server that ended is tried again; it doubles

	mu      sync.Mutex
	peers   map[string]*serverEntry
	started bool
	closed  bool
	tools   []tool.Tool // as of built
	built   uint64
}

// Open makes a hub. It starts nothing and reads nothing.
func Open(o Options) *Hub {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Publish == nil {
		o.Publish = func(lathe.Fact) {}
	}
	if o.Transport == nil {
		o.Transport = plainTransport()
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &Hub{o: o, ctx: ctx, cancel: cancel, peers: map[string]*serverEntry{}, first: firstPause}
	for _, s := range o.Servers {
		h.peers[s.Name] = newServerEntry(h, s)
	}
	h.grown.Store(1)
	return h
}

// Close disconnects from all servers and ends every process of theirs. It returns when nothing is
// left.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.login.close()
	h.work.Wait()
	if t, ok := h.o.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Generation grows whenever tools, prompts or instructions may have changed.
func (h *Hub) Generation() uint64 { return h.grown.Load() }

// Tools are those known now. It waits for no server: of one that is not connected the tools are
// those it had last time, and calls of them connect to it. Only to servers of which nothing was known
// lately the first call begins to connect.
func (h *Hub) Tools() []tool.Tool {
	h.look()
	now := h.grown.Load()
	h.mu.Lock()
	if h.built == now {
		defer h.mu.Unlock()
		return slices.Clone(h.tools)
	}
	h.mu.Unlock()
	tools := h.build()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tools, h.built = tools, now
	return slices.Clone(tools)
}

// WaitReady waits until every enabled server has listed its tools, now or in an earlier run, or
// failed; at most until ctx ends.
func (h *Hub) WaitReady(ctx context.Context) {
	h.look()
	for _, p := range h.all() {
		p.settled(ctx, func(s state) bool { return s.known != nil })
	}
}

// Start starts to connect to all servers that are on.
func (h *Hub) Start() {
	h.look()
	all := h.all()
	h.spawn(func() { // starting programs takes time, which is not the caller's
		for _, p := range all {
			if p.untried() {
				p.start()
			}
		}
	})
}

// look reads the cached listings of all servers and starts to connect to servers without a
// fresh one; once.
func (h *Hub) look() {
	h.mu.Lock()
	started := h.started || h.closed
	h.started = true
	h.mu.Unlock()
	if started {
		return
	}
	var unknown []*serverEntry
	for _, p := range h.all() {
		p.read.Do(p.recall)
		if !p.fresh() {
			unknown = append(unknown, p)
		}
	}
	h.spawn(func() {
		for _, p := range unknown {
			p.start() // if it is on
		}
	})
}

// all returns the peers by name.
func (h *Hub) all() []*serverEntry {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*serverEntry, 0, len(h.peers))
	for _, name := range slices.Sorted(maps.Keys(h.peers)) {
		out = append(out, h.peers[name])
	}
	return out
}

// peer finds a server by its name in the settings.
func (h *Hub) peer(name string) (*serverEntry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.peers[name]; p != nil {
		return p, nil
	}
	return nil, lathe.Errorf(lathe.NotFound, "unknown MCP server %q; \"lathe mcp list\" lists the servers", phrase.Shorten(name, 100))
}

// noteChange reports that the offer has changed.
func (h *Hub) noteChange() { h.grown.Add(1) }

// Status returns the state of every server, by name. It starts nothing.
func (h *Hub) Status() map[string]Status {
	out := map[string]Status{}
	for _, p := range h.all() {
		out[p.def.Name] = p.status()
	}
	return out
}

// Connect switches a server on, also one that failed or was disconnected, and waits for it: at
// most until ctx ends. An error says why it is not connected.
func (h *Hub) Connect(ctx context.Context, name string) error {
	p, err := h.peer(name)
	if err != nil {
		return err
	}
	p.on()
	_, err = p.connected(ctx)
	return err
}

// Disconnect switches a server off until [Hub.Connect], and ends its processes.
func (h *Hub) Disconnect(name string) error {
	p, err := h.peer(name)
	if err != nil {
		return err
	}
	p.stop()
	return nil
}

// Add adds a server for as long as the hub lives, in place of one of the same name, and connects
// to it unless it is disabled. An error says why it is not connected; it is there all the same.
func (h *Hub) Add(ctx context.Context, s Server) error {
	if err := s.check(); err != nil {
		return err
	}
	p := newServerEntry(h, s)
	h.mu.Lock()
	old := h.peers[s.Name]
	h.peers[s.Name] = p
	h.mu.Unlock()
	if old != nil {
		old.stop()
	}
	h.noteChange()
	if s.Disabled {
		return nil
	}
	_, err := p.connected(ctx)
	return err
}
