// Package events brings committed events to readers: from the store after a cursor, then live
// from the bus, in one stream that survives readers which fall behind. While it has readers, it
// also polls for events of other processes.
package events

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/internal/metric"
	"github.com/lathe-agent/lathe/store"
)

// Source is where readers get their events. It is safe for use by many goroutines.
type Source struct {
	store *store.Store
	bus   *bus.Bus
	ids   *lathe.IDs
	watch *watch
	relay Relay // nil without other nodes

	stopping sync.Once
	stopped  chan struct{} // closed by Stop
}

// New returns the events of a store and a bus. poll is called while anyone reads; it looks for what other processes
// wrote.
func New(s *store.Store, b *bus.Bus, ids *lathe.IDs, poll func(context.Context) error, log *slog.Logger) *Source {
	return &Source{store: s, bus: b, ids: ids, watch: &watch{poll: poll, log: log, hint: make(chan struct{}, 1)}, stopped: make(chan struct{})}
}

// Join connects the readers with other nodes, before the first of them.
func (e *Source) Join(r Relay, node string) error {
	e.relay = r
	return r.Start(bus.Node{
		Feed: e.store.Feed(), Name: node, Bus: e.bus,
		Look: e.Hint,
		Read: func(ctx context.Context, d bus.Delta) error {
			return e.store.PublishPart(ctx, d.Session, d.Message, d.Part)
		},
	})
}

// Measure writes how far readers here are behind other processes, and figures of the relay, if there is one.
func (e *Source) Measure(p *metric.Page) {
	p.Gauge("lathe_feed_horizon_lag_seconds", "Time since the changes of other processes were last read to their end; 0 without readers.", e.watch.lag().Seconds())
	if e.relay != nil {
		e.relay.Measure(p)
	}
}

// Nudge lets the other nodes look soon, for changes without a number such as a cancel.
func (e *Source) Nudge() {
	if e.relay != nil {
		e.relay.Announce(0)
	}
}

// Hint lets this process look soon for events of other processes, if anyone here reads.
func (e *Source) Hint() {
	select {
	case e.watch.hint <- struct{}{}:
	default: // it will look anyway
	}
}

// Stop makes all streams end without an error from now on.
func (e *Source) Stop() { e.stopping.Do(func() { close(e.stopped) }) }

// Close ends all streams.
func (e *Source) Close() {
	e.Stop()
	if e.relay != nil {
		e.relay.Close()
	}
	e.bus.Close()
	e.watch.close()
}

// Watch looks for events of other processes until leave is called.
func (e *Source) Watch() (leave func()) {
	leave, _ = e.watch.enter()
	return leave
}

func (e *Source) isStopped() bool {
	select {
	case <-e.stopped:
		return true
	default:
		return false
	}
}

// Events streams what happens in scope, beginning with server.connected. With a cursor it first
// sends what changed since; for a cursor that cannot be resumed it sends server.resync, and the
// reader must reload. A reader that falls behind is brought up to date in the same stream. It
// ends when the context does, or the engine.
//
// Note a cursor only at events whose Last is set, as [lathe.Cursor] with Feed.
func (e *Source) Events(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error] {
	return e.Follow(ctx, scope, after, func() {})
}

// Follow is Events for readers that gather what they pass on: idle is called when nothing more is queued, before
// each wait.
func (e *Source) Follow(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor], idle func()) iter.Seq2[lathe.Event, error] {
	return func(yield func(lathe.Event, error) bool) {
		s := stream{Source: e, scope: scope, yield: yield, at: after.Value, idle: idle}
		if err := s.run(ctx, after.Set); !s.done && !e.isStopped() {
			yield(lathe.Event{}, err)
		}
	}
}

// Publish sends ephemeral events to all readers. Numbered events come from the store alone.
func (e *Source) Publish(events ...lathe.Event) { e.bus.Publish(events...) }

// Feed is the short word that names this database in cursors.
func (e *Source) Feed() string { return e.store.Feed() }

// errStopped says that the reader wants no more.
var errStopped = errors.New("stopped")

// stream is one reader of the feed.
type stream struct {
	*Source
	scope lathe.Scope
	yield func(lathe.Event, error) bool
	at    lathe.Cursor // everything up to here was sent
	idle  func()       // the reader may pass on what it has gathered
	done  bool         // the reader wants no more, and must not be called again
}

func (s *stream) send(ev lathe.Event) error {
	if !s.yield(ev, nil) {
		s.done = true
		return errStopped
	}
	if ev.Last {
		s.at.Seq = ev.Seq
	}
	return nil
}

// run streams until an error, which always comes in the end, and polls the writes of other processes meanwhile. The
// first watcher polls once before it starts: a stream starts at the current number, and older writes are
// not new.
func (s *stream) run(ctx context.Context, resume bool) error {
	leave, first := s.watch.enter()
	defer leave()
	if first {
		if err := s.store.Poll(ctx); err != nil {
			return err
		}
	}
	if s.relay != nil && s.scope.Session != "" {
		s.relay.Follow(s.scope.Session)
	}
	for first := true; ; first = false {
		sub := s.bus.Subscribe(s.scope) // before reading the store, or something is missed
		err := s.connect(ctx, sub, first, resume || !first)
		if err == nil {
			err = s.follow(ctx, sub)
		}
		sub.Close()
		if !errors.Is(err, bus.ErrLagged) {
			return err
		}
	}
}

// connect sends where the stream begins and, if it resumes, what changed until then.
func (s *stream) connect(ctx context.Context, sub *bus.Subscription, first, resume bool) error {
	hello := lathe.Event{ID: s.ids.Event(), Fact: &lathe.ServerConnected{}}
	if !resume {
		hello.Seq, hello.Last = sub.Last(), true
		return s.send(hello)
	}
	began := !first
	begin := func() error {
		if began {
			return nil
		}
		began = true
		return s.send(hello)
	}
	res, err := s.store.Since(ctx, s.at, s.scope, func(ev lathe.Event) error {
		if err := begin(); err != nil {
			return err
		}
		ev.ID = s.ids.Event()
		return s.send(ev)
	})
	if err != nil {
		return err
	}
	sub.Skip(res.Last)
	if !began && !res.Resync { // nothing changed
		hello.Seq, hello.Last = res.Last, true
	}
	if err := begin(); err != nil || !res.Resync {
		s.at.Seq = max(s.at.Seq, res.Last)
		return err
	}
	s.at = lathe.Cursor{Seq: res.Last, Feed: s.Feed()}
	return s.send(lathe.Event{ID: s.ids.Event(), Seq: res.Last, Last: true, Fact: &lathe.ServerResync{}})
}

// follow hands on what the bus has.
func (s *stream) follow(ctx context.Context, sub *bus.Subscription) error {
	for {
		if !sub.Ready() {
			s.idle()
		}
		ev, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		if err := s.send(ev); err != nil {
			return err
		}
	}
}
