// Package engine runs sessions. It is the only package that knows what one may do.
//
// It opens and closes the store and the bus, knows which project a directory belongs to,
// offers the operations on sessions, messages and parts, serves the feed of events, and
// runs turns. A session that has something to do is awake (actor.go): one goroutine holds
// its lease, asks plan what comes next and does it (turn.go) until there is nothing. What
// to do next (plan.go) and what a stream means (package fold) are pure. Whatever writes below a
// session does so under its lease (runner.go); single columns of a session record are
// edited by anyone.
//
// It imports the store and the bus themselves rather than hiding them behind interfaces
// of its own: what differs between one machine and many lies below them, in the store's
// driver and in what feeds the bus.
//
// An Engine is safe for use by many goroutines. Those it starts itself end with Close.
//
// Start reading at turn.go, then plan.go, step.go and package fold; send.go is the way in,
// events.go the way out.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// pollEvery is how often a process that has listeners looks for what others wrote.
const pollEvery = 200 * time.Millisecond

// Options are the surroundings of an engine.
type Options struct {
	Driver  store.Driver
	Blobs   string // folder for large values
	Version string // of the program, noted in new sessions
	Now     func() lathe.Time
	IDs     *lathe.IDs
	Log     *slog.Logger
	// Setup and what follows are for engines that run turns.
	Setup   Setup
	Outputs string // folder for long outputs of tools; "" keeps none
	// Deleted is called after a session was deleted, and Tidy at most once an hour with the time
	// before which what nobody has used since can go. Either may be nil.
	Deleted func(lathe.SessionID)
	Tidy    func(before time.Time)
	// Snapshots keep what files were, for an undo; nil keeps nothing. Close closes them.
	Snapshots *snapshot.Store
	Requests  int            // to models at the same time; 0 is the default
	Random    func() float64 // in [0, 1)
	Tracer    *otlp.Tracer   // is told what took how long; nil is nobody
}

var (
	_ api.Engine = (*Engine)(nil)
	_ api.Local  = (*Engine)(nil)
)

// Engine is the core of the program.
type Engine struct {
	store     *store.Store
	bus       *bus.Bus
	live      *live
	instances *instances
	watch     *watch
	ids       *lathe.IDs
	now       func() lathe.Time
	version   string
	log       *slog.Logger

	setup     Setup
	outputs   string
	deleted   func(lathe.SessionID)
	tidyMore  func(before time.Time)
	snapshots *snapshot.Store
	random    func() float64
	places    *queue // of requests under way
	meters    meters
	tracer    *otlp.Tracer
	actors    actors
	company   subagent.Registry
	memories  *history.Cache
	versions  atomic.Int64
	// prefixBreaks counts how often what goes before a conversation became another.
	prefixBreaks atomic.Int64
	tidied       atomic.Int64 // when old outputs were last looked for, ms

	unreleased unreleased
	work       sync.WaitGroup // runners, their tools and jobs
	ctx        context.Context
	stop       context.CancelCauseFunc

	closing sync.Once
	closed  chan struct{} // closed by Close
}

// Open returns an engine on an open database, which it closes in the end.
func Open(ctx context.Context, o Options) (*Engine, error) {
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
	b := bus.New(bus.IDs(o.IDs))
	e := &Engine{
		bus: b, ids: o.IDs, now: o.Now, version: o.Version, closed: make(chan struct{}), log: o.Log,
		setup: o.Setup, outputs: o.Outputs, deleted: o.Deleted, tidyMore: o.Tidy, snapshots: o.Snapshots, random: o.Random, places: newQueue(o.Requests), tracer: o.Tracer,
	}
	e.live = &live{bus: b, told: map[lathe.PartID]lathe.Part{}, tell: e.tell, awake: e.actors.isAwake}
	e.actors.engine, e.actors.awake = e, map[lathe.SessionID]*actor{}
	e.memories = history.NewCache(o.Now, debug.FreeOSMemory) // Go by itself keeps most of what a busy time took
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	s, err := store.Open(ctx, o.Driver, store.Options{
		Publish: e.live.publish, Wanted: e.live.wanted,
		Now: o.Now, IDs: o.IDs, Blobs: o.Blobs, Log: o.Log,
	})
	if err != nil {
		return nil, errors.Join(err, o.Driver.Close())
	}
	b.Advance(s.Last())
	e.store, e.instances = s, newInstances(s, o.Now)
	e.watch = &watch{poll: e.look, log: o.Log}
	return e, nil
}

// Close ends all streams, writes what was sent, and closes the database. Closing twice
// does nothing.
func (e *Engine) Close() error {
	e.closing.Do(func() { close(e.closed) })
	e.halt()
	e.bus.Close()
	e.watch.close()
	err := e.store.Close()
	if e.snapshots != nil {
		err = errors.Join(err, e.snapshots.Close())
	}
	return err
}

// closeTime is how long turns have to settle when the engine ends.
const closeTime = 3 * time.Second

// halt ends all turns and waits for them; a tool that does not end is left behind.
func (e *Engine) halt() {
	e.actors.mu.Lock()
	e.actors.closed = true
	e.actors.mu.Unlock()
	e.stop(errClosing)
	done := make(chan struct{})
	go func() {
		e.work.Wait()
		close(done)
	}()
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		e.log.Warn("a tool did not end; leaving it behind")
	}
	e.memories.Close()
}

// look sees what other processes wrote, and whether they want a turn of ours to end.
func (e *Engine) look(ctx context.Context) error {
	if err := e.store.Poll(ctx); err != nil || !e.actors.isAwake() {
		return err
	}
	holdings, err := e.store.Holdings(ctx)
	for _, h := range holdings {
		if h.Here && h.Canceled {
			if a := e.actors.find(h.Session); a != nil {
				a.stop(errCanceled)
			}
		}
	}
	return err
}

// isClosed reports whether Close was called.
func (e *Engine) isClosed() bool {
	select {
	case <-e.closed:
		return true
	default:
		return false
	}
}

// Store gives the command line what only it needs: statistics, checks, vacuum.
func (e *Engine) Store() *store.Store { return e.store }

// watch looks for what other processes wrote, while anyone here wants to know.
type watch struct {
	poll func(context.Context) error
	log  *slog.Logger

	mu     sync.Mutex // guards the fields below
	users  int
	stop   context.CancelFunc // nil while nobody watches
	closed bool

	running sync.WaitGroup // one that was stopped may still be at its last look
}

// enter begins watching; the function returned ends it. First reports whether nobody
// watched until now.
func (w *watch) enter() (leave func(), first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users++
	first = w.users == 1
	if first && !w.closed {
		ctx, stop := context.WithCancel(context.Background())
		w.stop = stop
		w.running.Go(func() { w.run(ctx) })
	}
	return sync.OnceFunc(w.leave), first
}

func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users--; w.users == 0 {
		w.halt()
	}
}

// halt tells the goroutine to end. The mutex is held.
func (w *watch) halt() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := w.poll(ctx); err != nil && ctx.Err() == nil {
				w.log.Warn("cannot see what other processes write", "error", err)
			}
		}
	}
}

// close ends watching for good and waits for all who ever began.
func (w *watch) close() {
	w.mu.Lock()
	w.closed = true
	w.halt()
	w.mu.Unlock()
	w.running.Wait()
}
