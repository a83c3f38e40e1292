// Package engine runs sessions. It is the only package that knows the rules of a session.
//
// It opens and closes the store and the bus, and runs turns. A session with work to do is awake
// (actor.go): one goroutine holds its lease, asks plan for the next action and executes it
// (turn.go) until no action is left. The choice of the next action (plan.go) and the meaning of
// a stream (package fold) are pure. All writes below a session happen under its lease
// (runner.go), except edits of single columns of a session record.
//
// Operations that need no turn are in packages below: record (session records, histories, requests), directory
// (projects) and events (streams to readers). Engine embeds them, so that it has all operations of package
// api.
//
// It imports the store and the bus directly, without interfaces of its own: the difference
// between one machine and many is below them, in the store's driver and in the source of the
// bus.
//
// An Engine is safe for use by many goroutines. Its own goroutines end with Close.
//
// Start reading at turn.go, then plan.go, step.go and package fold; send.go admits prompts,
// package events streams the results.
package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/engine/directory"
	"github.com/lathe-agent/lathe/engine/events"
	"github.com/lathe-agent/lathe/engine/fairqueue"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/record"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/engine/telemetry"
	"github.com/lathe-agent/lathe/internal/fence"
	"github.com/lathe-agent/lathe/internal/metric"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace/snapshot"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// Options are the surroundings of an engine.
type Options struct {
	Driver  store.Driver
	Blobs   string // folder for large values
	Version string // of the program, noted in new sessions
	Now     func() lathe.Time
	IDs     *lathe.IDs
	Log     *slog.Logger
	// Environment and what follows are for engines that run turns.
	Environment Environment
	Outputs     string      // directory for long outputs of tools; "" saves none
	Large       store.Blobs // large values that other machines share; nil means files in Blobs
	// Relay connects the nodes on the database; nil without others. Close closes it.
	Relay events.Relay
	// OnDelete is called after a session was deleted, and Tidy at most once an hour with the time before which
	// unused files can go. Either may be nil.
	OnDelete func(lathe.SessionID)
	CleanUp  func(before time.Time)
	// Snapshots store earlier contents of files for an undo; nil stores none. Close closes them.
	Snapshots *snapshot.Store
	Worktrees worktree.Root  // for isolated sessions
	Requests  int            // to models at the same time; 0 is the default
	Random    func() float64 // in [0, 1)
	Tracer    *otlp.Tracer   // nil traces nothing
	// Search indexes the words of all sessions, also of old ones, in the background. False removes the index;
	// unset changes nothing and finds nothing.
	Search lathe.Opt[bool]
	Node   Node // in a cluster
}

var (
	_ api.Engine = (*Engine)(nil)
	_ api.Local  = (*Engine)(nil)
)

// Engine is the core of the program. The embedded parts carry out the verbs that need no turn.
type Engine struct {
	record.Sessions
	record.Histories
	record.Requests
	*directory.Directories
	*events.Source

	*services
	*lifetime
	*composer
	editor
	recovery

	actors    actors
	files     sessionFiles
	telemetry telemetry.Recorder
	requests  *fairqueue.Queue // places of requests to models
	subagents subagent.Registry
}

// services are the dependencies that all parts of the engine share.
type services struct {
	store  *store.Store
	bus    *bus.Bus
	ids    *lathe.IDs
	now    func() lathe.Time
	log    *slog.Logger
	env    Environment // nil runs no turns
	random func() float64

	version string  // of the program
	Member  *Member // of a cluster
}

// publish sends ephemeral events about a session to its listeners.
func (s *services) publish(rec lathe.Session, facts ...lathe.Fact) {
	out := make([]lathe.Event, len(facts))
	for i, f := range facts {
		out[i] = lathe.Event{Session: rec.ID, Directory: rec.Directory, Project: rec.Project, Fact: f}
	}
	s.bus.Publish(out...)
}

// publishIdle publishes that a session is idle, without storing that.
func (s *services) publishIdle(rec lathe.Session) {
	s.publish(rec, &lathe.StatusChanged{Session: rec.ID, Status: lathe.Status{Type: lathe.Idle}}, &lathe.SessionIdle{Session: rec.ID})
}

// publishFailure publishes why a session's prompt or turn failed.
func (s *services) publishFailure(rec lathe.Session, err error) {
	s.publish(rec, &lathe.SessionFailed{Session: rec.ID, Error: faultOf(err)})
}

// lifetime is how long the engine runs: its context, and the goroutines that Close waits for.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup // actors, their tools and background jobs
}

// Open returns an engine on an open database, which it closes in the end.
func Open(ctx context.Context, o Options) (*Engine, error) {
	o = o.withDefaults()
	b := newBus(o)
	e := &Engine{
		services: &services{bus: b, ids: o.IDs, now: o.Now, log: o.Log, env: o.Environment, random: o.Random, version: strings.ReplaceAll(cmp.Or(o.Version, "unknown"), " ", "_")},
		lifetime: &lifetime{},
		requests: fairqueue.New(o.Requests),
		files:    sessionFiles{outputs: o.Outputs, snapshots: o.Snapshots, deleted: o.OnDelete, cleanMore: o.CleanUp, trees: o.Worktrees},
	}
	e.ctx, e.cancel = context.WithCancelCause(fence.NewContext(context.Background(), o.Node.Fence))
	e.telemetry.Tracer = o.Tracer
	e.actors = actors{engine: e, awake: map[lathe.SessionID]*actor{}, cache: history.NewCache(o.Now, debug.FreeOSMemory)} // Go alone returns memory to the system too late
	out := events.NewPublisher(b, e.receive, e.actors.isAwake, o.Relay)
	s, err := store.Open(ctx, o.Driver, store.Options{
		Publish: out.Publish, HasListeners: out.HasListeners,
		Now: o.Now, IDs: o.IDs, Blobs: o.Blobs, Large: o.Large, Log: o.Log, Search: o.Search.Value,
	})
	if err != nil {
		return nil, errors.Join(err, o.Driver.Close())
	}
	b.Advance(s.Last())
	e.store = s
	e.Directories = directory.New(s, o.Now, b.Publish)
	e.Source = events.New(s, b, o.IDs, e.poll, o.Log)
	e.Sessions, e.Histories, e.Requests = record.NewSessions(s, e.Directories, o.IDs, o.Now, o.Version), record.Histories{Store: s}, record.NewRequests(s, e.Directories)
	e.Sessions.Away = o.Node.Away
	e.composer = &composer{services: e.services, dirs: e.Directories, away: o.Node.Away}
	e.editor = editor{services: e.services, actors: &e.actors}
	e.recovery = recovery{services: e.services, lifetime: e.lifetime, composer: e.composer, actors: &e.actors, files: &e.files, subagents: &e.subagents, sweeps: o.Node.Sweeps, Registry: e.newBackground()}
	if o.Relay != nil {
		if err := e.Join(o.Relay, o.Driver.Owner()); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	if o.Search.Set && o.Environment != nil {
		e.work.Go(func() { e.keepIndex(e.ctx) })
	}
	e.Member = newMember(e, o.Node)
	e.Member.start()
	return e, nil
}

func newBus(o Options) *bus.Bus {
	if o.Relay == nil {
		return bus.New(bus.IDs(o.IDs))
	}
	return bus.New(bus.IDs(o.IDs), bus.Grown(o.Relay.Grew))
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = lathe.Now
	}
	if o.IDs == nil {
		o.IDs = lathe.NewIDs()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Requests <= 0 {
		o.Requests = maxRequests
	}
	return o
}

// Close ends all streams, writes what was sent, and closes the database. Closing twice
// does nothing.
func (e *Engine) Close() error {
	e.Source.Stop()
	e.stopTurns()
	e.Source.Close()
	err := e.store.Close()
	if e.files.snapshots != nil {
		err = errors.Join(err, e.files.snapshots.Close())
	}
	return err
}

// closeTime is how long turns have to settle when the engine ends.
const closeTime = 3 * time.Second

// stopTurns ends all turns and waits for them; a tool that does not end is left behind.
func (e *Engine) stopTurns() {
	e.actors.close()
	e.cancel(errClosing)
	done := make(chan struct{})
	go func() {
		e.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeTime):
		e.log.Warn("a tool did not stop in time; closing without it")
	}
	e.actors.cache.Close()
}

// poll looks for what other processes wrote, and whether they want a turn of ours to end.
func (e *Engine) poll(ctx context.Context) error {
	if err := e.store.Poll(ctx); err != nil || !e.actors.isAwake() {
		return err
	}
	holdings, err := e.store.Leases(ctx)
	for _, h := range holdings {
		if h.Here && h.Canceled {
			if a := e.actors.find(h.Session); a != nil {
				a.stop(errCanceled)
			}
		}
	}
	return err
}

// receive hands committed events to the sessions they are about. It is called by the store's
// writer and must not block.
func (e *Engine) receive(events []lathe.Event) {
	for _, ev := range events {
		if f, ok := ev.Fact.(*lathe.SessionDeleted); ok && e.files.deleted != nil {
			e.work.Go(func() { e.files.deleted(f.Info.ID) })
		}
	}
	e.actors.receive(events, e.subagents.Receive)
}

// Remove deletes a session and all below it, children first.
func (e *Engine) Remove(ctx context.Context, id lathe.SessionID) error {
	err := e.store.Remove(ctx, id)
	if err == nil {
		e.actors.cache.Forget(id)
	}
	return err
}

// Measure writes what was counted since the engine was opened, and the running work.
func (e *Engine) Measure(p *metric.Page) {
	e.telemetry.Measure(p, e.requests)
	e.Source.Measure(p)
	e.store.Measure(p)
	e.Member.Measure(p)
}

// Store gives the command line what only it needs: statistics, checks, vacuum.
func (e *Engine) Store() *store.Store { return e.store }

// Snapshots is where earlier contents of files are; nil if the engine was opened without.
func (e *Engine) Snapshots() *snapshot.Store { return e.files.snapshots }
