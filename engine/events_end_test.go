package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
)

// A stream ends with its context, whose cause it tells, with the engine, and when the
// reader wants no more; wherever it is at that moment.
func TestEvents_End(t *testing.T) {
	t.Parallel()
	cause := errors.New("the reader went home")
	begin := map[string]func(w *fixture) lathe.Opt[lathe.Cursor]{
		"live":     func(*fixture) lathe.Opt[lathe.Cursor] { return lathe.Opt[lathe.Cursor]{} },
		"resuming": func(*fixture) lathe.Opt[lathe.Cursor] { return lathe.Some(lathe.Cursor{}) },
	}
	for name, from := range begin {
		for _, reads := range []int{0, 1, 2} {
			t.Run(fmt.Sprintf("%s, after %d events", name, reads), func(t *testing.T) {
				t.Parallel()
				w := newFixture(t)
				stream := func(ctx context.Context) (next func() (lathe.Event, error, bool), stop func()) {
					next, stop = iter.Pull2(w.Events(ctx, lathe.Scope{}, from(w)))
					t.Cleanup(stop)
					for i := range reads {
						if i == 1 && name == "live" {
							must(w.Instance(t.Context(), w.dir))(w)
							w.Dispose(w.dir)
						}
						if _, err, ok := next(); err != nil || !ok {
							t.Fatalf("event %d: %v, %v", i, err, ok)
						}
					}
					return next, stop
				}
				w.user(w.session().ID, "something to tell")
				ctx, cancel := context.WithCancelCause(t.Context())
				canceled, _ := stream(ctx)
				_, stop := stream(t.Context())
				closed, _ := stream(t.Context())

				cancel(cause)
				var err error
				for ok := true; ok && err == nil; {
					_, err, ok = canceled()
				}
				if !errors.Is(err, cause) {
					t.Errorf("cancelled: %v", err)
				}
				if _, _, more := canceled(); more {
					t.Error("it goes on after it was cancelled")
				}
				stop()
				w.ok(w.Close())
				for ok := true; ok; {
					if _, err, ok = closed(); err != nil {
						t.Errorf("closed: %v", err)
					}
				}
			})
		}
	}
}

// A reader that cancels and leaves at the same time is not called again, also in the
// middle of a resume.
func TestEvents_StopAndCancelInAResume(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.user(w.session().ID, "words")
	for stopAt := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		for _, err := range w.Events(ctx, lathe.Scope{}, lathe.Some(lathe.Cursor{})) {
			w.ok(err)
			if n++; n > stopAt {
				cancel()
				break // the loop would panic if it were called again
			}
		}
		cancel()
	}
}

func TestEvents_OfAClosedEngine(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.session()
	w.ok(w.Close())
	w.ok(w.Close())
	for _, from := range []lathe.Opt[lathe.Cursor]{{}, lathe.Some(lathe.Cursor{})} {
		for e, err := range w.Events(t.Context(), lathe.Scope{}, from) {
			t.Errorf("%v, %v", e, err)
		}
	}
	_, err := w.Get(t.Context(), "ses_1")
	w.is(err, lathe.Unavailable)
	_, err = w.Create(t.Context(), w.dir, lathe.NewSession{})
	w.is(err, lathe.Unavailable)
}

// Readers that receive a change and ask the engine about it, all at once, do not wait for each
// other for ever; nor does Close wait for one that has stopped reading.
func TestEvents_AskWhileResuming(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	w.user(s.ID, "words")
	const readers = 12 // more than the store has connections
	var all sync.WaitGroup
	var inside sync.WaitGroup
	inside.Add(readers)
	for range readers {
		all.Go(func() {
			for e, err := range w.Events(t.Context(), lathe.Scope{}, lathe.Some(lathe.Cursor{})) {
				if err != nil {
					t.Error(err)
				}
				if _, hello := e.Fact.(*lathe.ServerConnected); hello {
					inside.Done() // and all are in the middle of it
					inside.Wait()
				}
				if _, err := w.Get(t.Context(), s.ID); err != nil {
					t.Error(err)
				}
				if e.Last {
					return
				}
			}
		})
	}
	all.Wait()
	stuck := w.listen(lathe.Scope{}, lathe.Cursor{}) // and reads no further
	w.ok(w.Remove(t.Context(), s.ID))
	w.ok(w.Close())
	_ = stuck
}

// Nothing is left running when streams have ended and the engine is closed.
func TestEvents_LeaveNothingRunning(t *testing.T) { // not parallel: it looks at all goroutines
	leavesNothing(t)
	w := newFixture(t)
	if engine.Watching(w.Engine) {
		t.Error("it watches although nobody listens")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	ready := make(chan struct{}, 20)
	for range 20 {
		all.Go(func() {
			for range w.Events(ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
				select {
				case ready <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 20 {
		<-ready
	}
	if !engine.Watching(w.Engine) || engine.Subscribers(w.Engine) != 20 {
		t.Errorf("watching %v, %d listen", engine.Watching(w.Engine), engine.Subscribers(w.Engine))
	}
	cancel()
	all.Wait()
	if engine.Watching(w.Engine) || engine.Subscribers(w.Engine) != 0 {
		t.Errorf("watching %v, %d listen", engine.Watching(w.Engine), engine.Subscribers(w.Engine))
	}
	l := w.listen(lathe.Scope{}) // one that is open when the engine is closed
	if !engine.Watching(w.Engine) {
		t.Error("it does not watch although someone listens again")
	}
	w.session()
	l.received()
}
