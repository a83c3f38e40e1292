package server

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/metric"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/server/device"
	"github.com/lathe-agent/lathe/server/push"
	"github.com/lathe-agent/lathe/workspace/git"
	"github.com/lathe-agent/lathe/workspace/terminal"
)

// Options are the surroundings of a server.
type Options struct {
	Directory    string   // default directory of requests
	Version      string   // of the program
	Username     string   // "" is opencode
	Password     string   // "" disables authentication: for loopback and tests
	Origins      []string // additional allowed origins of web pages
	Hosts        []string // host names to accept in requests
	Log          *slog.Logger
	IDs          *lathe.IDs
	Heartbeat    time.Duration // interval on streams; 0 means ten seconds
	PollInterval time.Duration // interval of checks for config and credential changes while streams are open; 0 means two seconds
	MaxBody      int64         // maximum bytes of a request; 0 means 64 MiB
	Metrics      bool          // serve metrics to authenticated clients
	Tracer       *otlp.Tracer  // traces requests; nil disables tracing
	// Upgrade installs a version of the program, "" for the latest, and returns it; nil says that it cannot.
	Upgrade func(ctx context.Context, version string) (string, error)
	// CheckPeer returns an error for a client that must not use this server even with the password,
	// such as a command of an agent. [Server.Serve] calls it once per connection; nil accepts all.
	CheckPeer func(net.Conn) error
	Pairing   Pairing
}

// Pairing is what a server needs for devices.
type Pairing struct {
	Devices     *device.Store // nil turns pairing off
	Address     string        // where other machines reach this server, for links made on this one
	Fingerprint func() string // of a certificate that browsers do not trust; nil if they trust it or there is none
	Push        *push.Options // how devices are notified; nil turns that off. The server fills in the rest
}

// Engine is the engine behind a server: the API of every front end, and the operations of the wire alone.
type Engine interface {
	api.Engine
	// Follow is Events for callers that batch: rest is called before each wait, when the queue is empty.
	Follow(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor], rest func()) iter.Seq2[lathe.Event, error]
	// Publish sends events to all listeners.
	Publish(events ...lathe.Event)
	// Revert undoes from a message or part on; one that does not exist changes nothing. Unrevert redoes it.
	Revert(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error)
	Unrevert(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error)
	RemoveMessage(ctx context.Context, session lathe.SessionID, id lathe.MessageID) error
	// UpdatePart writes a part; with a delta the part grows by it.
	UpdatePart(ctx context.Context, p lathe.Part, delta string) (lathe.Part, error)
	RemovePart(ctx context.Context, session lathe.SessionID, message lathe.MessageID, id lathe.PartID) error
	// Projects returns all known projects, most recent first.
	Projects(ctx context.Context) ([]lathe.Project, error)
	// EditProject changes the name, icon or commands of a project.
	EditProject(ctx context.Context, id string, edit lathe.ProjectEdit) (lathe.Project, error)
	// Measure writes the metrics of the engine.
	Measure(p *metric.Page)
}

// Backend is an engine, and a small interface for each family of routes about its surroundings. All
// are required unless noted.
type Backend struct {
	Engine      Engine
	Instances   Instances
	Config      ConfigStore
	Providers   Providers
	ToolServers ToolServers
	Folders     Folders
	Git         *git.Git
	Terminals   *terminal.Set
	Watcher     ChangeWatcher // may be nil
	Reports     api.Reports   // may be nil
	Usage       UsageReports  // may be nil
	Languages   Languages     // may be nil
	Worktrees   Worktrees     // may be nil
	Untils      api.Untils    // may be nil
	Node        Node          // of a cluster
}

// Server answers requests. Make one with [New]; it is an [http.Handler].
type Server struct {
	options   Options
	guard     *guard
	mux       *http.ServeMux
	instances Instances
	engine    Engine
	meters    *meters
	watch     *watch
	notifier  *push.Notifier // may be nil
	node      Node
	peers     *http.Transport // to other nodes

	closing context.Context // ends when the server closes; streams and waits end with it
	close   context.CancelFunc
}

// New returns a server that does not listen yet.
func New(b Backend, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.IDs == nil {
		o.IDs = lathe.NewIDs()
	}
	o.Heartbeat = cmp.Or(max(o.Heartbeat, 0), heartbeatEvery)
	o.PollInterval = cmp.Or(max(o.PollInterval, 0), watchEvery)
	o.MaxBody = cmp.Or(max(o.MaxBody, 0), 64<<20)
	events := publisher{engine: b.Engine, ids: o.IDs}
	s := &Server{
		options: o, guard: newGuard(o), instances: b.Instances, engine: b.Engine, meters: &meters{}, node: b.Node, peers: newPeerTransport(),
		watch: newWatch(events, b.Watcher, o.PollInterval),
	}
	if p := o.Pairing; p.Devices != nil && p.Push != nil {
		to := *p.Push
		to.Engine, to.Devices, to.Log = b.Engine, p.Devices, o.Log
		s.notifier = push.New(to)
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.mux = s.routes(s.table(b, events))
	return s
}

// Close ends streams and waits. Requests that come later are answered as before.
func (s *Server) Close() {
	s.close()
	s.peers.CloseIdleConnections()
}
