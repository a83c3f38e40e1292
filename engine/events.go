package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

// Events streams what happens in scope, beginning with server.connected. With a cursor it
// first tells what changed since; a cursor that cannot be resumed from is answered with
// server.resync, and the reader reads afresh. A reader that falls behind is brought up to
// date in the same stream. It ends when the context does, or the engine.
//
// Note a cursor only at events whose Last is set, as [lathe.Cursor] with Engine.Feed.
func (e *Engine) Events(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error] {
	return e.Follow(ctx, scope, after, func() {})
}

// Follow is Events for those who gather what they pass on: rest is called when nothing more
// is queued, before each wait.
func (e *Engine) Follow(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor], rest func()) iter.Seq2[lathe.Event, error] {
	return func(yield func(lathe.Event, error) bool) {
		s := stream{engine: e, scope: scope, yield: yield, at: after.Value, rest: rest}
		if err := s.watch(ctx, after.Set); !s.stopped && !e.isClosed() {
			yield(lathe.Event{}, err)
		}
	}
}

// Publish tells all who listen some news. What is numbered comes from the store alone.
func (e *Engine) Publish(news ...lathe.Event) { e.bus.Publish(news...) }

// Feed is the short word that names this database in cursors.
func (e *Engine) Feed() string { return e.store.Feed() }

// errStopped says that the reader wants no more.
var errStopped = errors.New("stopped")

// stream is one reader of the feed.
type stream struct {
	engine  *Engine
	scope   lathe.Scope
	yield   func(lathe.Event, error) bool
	at      lathe.Cursor // everything up to here was told
	rest    func()       // the reader may pass on what it has gathered
	stopped bool         // the reader wants no more, and must not be called again
}

func (s *stream) tell(ev lathe.Event) error {
	if !s.yield(ev, nil) {
		s.stopped = true
		return errStopped
	}
	if ev.Last {
		s.at.Seq = ev.Seq
	}
	return nil
}

// watch streams while the engine looks for what other processes write. If nobody has
// looked until now, that comes first: the number a stream begins with is that of the moment,
// and what was written long ago is no news.
func (s *stream) watch(ctx context.Context, resume bool) error {
	leave, first := s.engine.watch.enter()
	defer leave()
	if first {
		if err := s.engine.store.Poll(ctx); err != nil {
			return err
		}
	}
	return s.run(ctx, resume)
}

// run streams until it fails, which it always does in the end.
func (s *stream) run(ctx context.Context, resume bool) error {
	for first := true; ; first = false {
		sub := s.engine.bus.Subscribe(s.scope) // before reading the store, or something is missed
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

// connect tells where the stream begins and, if it resumes, what changed until then.
func (s *stream) connect(ctx context.Context, sub *bus.Subscription, first, resume bool) error {
	hello := lathe.Event{ID: s.engine.ids.Event(), Fact: &lathe.ServerConnected{}}
	if !resume {
		hello.Seq, hello.Last = sub.Last(), true
		return s.tell(hello)
	}
	began := !first
	begin := func() error {
		if began {
			return nil
		}
		began = true
		return s.tell(hello)
	}
	res, err := s.engine.store.Since(ctx, s.at, s.scope, func(ev lathe.Event) error {
		if err := begin(); err != nil {
			return err
		}
		ev.ID = s.engine.ids.Event()
		return s.tell(ev)
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
	s.at = lathe.Cursor{Seq: res.Last, Feed: s.engine.Feed()}
	return s.tell(lathe.Event{ID: s.engine.ids.Event(), Seq: res.Last, Last: true, Fact: &lathe.ServerResync{}})
}

// follow hands on what the bus has.
func (s *stream) follow(ctx context.Context, sub *bus.Subscription) error {
	for {
		if !sub.Ready() {
			s.rest()
		}
		ev, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		if err := s.tell(ev); err != nil {
			return err
		}
	}
}
