package harness

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/store/sqlite"
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
	// Wrap may put a layer between the engine and the config; nil adds none.
	Wrap func(engine.Environment) engine.Environment
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
	s.Engine, err = openEngine(ctx, a, at, engine.Options{
		Environment: asks, Tracer: o.Tracer, Search: lathe.Some(a.SearchEnabled()),
		OnDelete: func(id lathe.SessionID) {
			s.extensionSets.hooks.end(id)
			s.Runner.EndSession(string(id))
			s.RemoveSessionServers(id)
			confine.RemoveSessionTemp(at, id)
		},
	})
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
	return openEngine(ctx, a, at, engine.Options{Search: lathe.Some(true), OnDelete: func(id lathe.SessionID) { confine.RemoveSessionTemp(at, id) }})
}

func openEngine(ctx context.Context, a *Host, at datadir.Folders, o engine.Options) (*engine.Engine, error) {
	began := a.Now()
	driver, err := sqlite.Open(ctx, sqlite.Options{Path: at.Database(), State: at.Owners})
	if err != nil {
		return nil, err
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
