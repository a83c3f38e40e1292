package harness

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus/nats"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/store/s3"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/workspace/snapshot"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// Options say how turns run.
type Options struct {
	Transport  http.RoundTripper // records or replays the traffic with models; nil is the network
	Keyless    bool              // a recording asks for no key
	Headless   bool              // no person can answer questions
	HasClients bool              // clients may answer permission requests
	Environ    []string          // of commands; nil is the one of the program
	Tracer     *otlp.Tracer
	Buffers    builtin.Buffers // unsaved files of an editor; nil has none
	Shared     Shared
	// Wrap may put a layer between the engine and the config; nil adds none.
	Wrap    func(engine.Environment) engine.Environment
	Cluster Cluster
}

// Open opens an engine that runs turns, with all that they work with.
func Open(ctx context.Context, a *Host, o Options) (*Harness, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	s := New(a, at)
	s.wire, s.Keyless, s.headless, s.serves, s.environ, s.Editor.buffers = o.Transport, o.Keyless, o.Headless, o.HasClients, o.Environ, o.Buffers
	asks := engine.Environment(s)
	if o.Wrap != nil {
		asks = o.Wrap(s)
	}
	with := engine.Options{
		Environment: asks, Tracer: o.Tracer, Search: lathe.Some(a.SearchEnabled()),
		OnDelete: func(id lathe.SessionID) {
			s.extensionSets.hooks.end(id)
			s.Runner.EndSession(string(id))
			s.RemoveSessionServers(id)
			confine.RemoveSessionTemp(at, id)
		},
	}
	if err = o.Shared.connect(ctx, a, at, &with); err == nil {
		s.Engine, err = openEngine(ctx, a, at, with, o.Cluster, func(p *peers) { join(s, p) })
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OpenSessions opens an engine that runs no turns, for commands that read or change sessions. It creates a missing
// database.
func OpenSessions(ctx context.Context, a *Host) (*engine.Engine, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	// The config is not read for a command that only reads sessions: an index that is off stays empty in any case.
	with := engine.Options{Search: lathe.Some(true), OnDelete: func(id lathe.SessionID) { confine.RemoveSessionTemp(at, id) }}
	if err := (Shared{}).connect(ctx, a, at, &with); err != nil {
		return nil, err
	}
	return openEngine(ctx, a, at, with, Cluster{}, nil)
}

// openEngine opens the database and an engine on it. join is called before if this node shares its sessions with others.
func openEngine(ctx context.Context, a *Host, at datadir.Folders, o engine.Options, c Cluster, join func(*peers)) (*engine.Engine, error) {
	began := a.Now()
	driver, node, err := openDriver(ctx, a, at, c)
	if err != nil {
		return nil, err
	}
	if node != nil {
		all := &peers{driver: node}
		all.relay, _ = o.Relay.(*nats.Relay)
		all.bucket, _ = o.Large.(*s3.Bucket)
		o.Node = engine.Node{Fence: node.Fence(), Places: c.Places, Sweeps: c.Serves, Away: all.away, Announce: node.SetPlaces}
		if join != nil {
			join(all)
		}
	}
	o.Driver, o.Blobs, o.Outputs = driver, at.Blobs(), at.Outputs()
	o.CleanUp = func(before time.Time) { confine.RemoveOldTemp(at, before) }
	o.Snapshots = snapshot.New(snapshot.Options{Dir: at.Snapshots(), Log: a.Log, Excludes: a.UserExcludes})
	o.Worktrees = worktree.Root{Dir: at.Worktrees(), Excludes: a.UserExcludes, Leases: &worktree.Leases{}}
	o.Version, o.Log = a.Version, a.Log
	e, err := engine.Open(ctx, o)
	a.Log.Debug("database opened", "path", at.Database(), "took", a.Now().Sub(began), "error", err)
	return e, err
}
