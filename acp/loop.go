package acp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
	"github.com/lathe-agent/lathe/api"
)

// loop owns the sessions of a client and translates events to updates. All fields below the channels belong to its
// goroutine; others run functions there with run and post.
type loop struct {
	server  *server
	backend Backend
	ids     *lathe.IDs
	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup // every goroutine that was started here
	tasks   chan func()
	events  chan delivery

	// The fields below belong to the goroutine of the loop, which needs no lock for them.
	sessions  map[lathe.SessionID]*session
	views     map[lathe.SessionID]*view // of the sessions, and of the subagents below them
	asks      map[lathe.AskID]context.CancelFunc
	canceling map[lathe.SessionID]int // requests to cancel its turns that are on their way

	cancels   cancels
	terminals terminals
}

// delivery is an event, or the reason why some were missed.
type delivery struct {
	event  lathe.Event
	missed error
}

const retryEvents = time.Second

// newLoop makes the loop of a client. It runs from start on.
func newLoop(s *server, b Backend) *loop {
	l := &loop{
		server: s, backend: b, ids: lathe.NewIDs(), tasks: make(chan func()), events: make(chan delivery),
		sessions: map[lathe.SessionID]*session{}, views: map[lathe.SessionID]*view{}, asks: map[lathe.AskID]context.CancelFunc{}, canceling: map[lathe.SessionID]int{},
		cancels: cancels{open: map[lathe.SessionID]*openCancels{}},
	}
	l.ctx, l.stop = context.WithCancel(s.ctx)
	return l
}

// start follows the events of the engine. From its return on, no event is missed.
func (l *loop) start() error {
	ready := make(chan error, 1)
	l.work.Go(func() { l.pump(ready) })
	select {
	case err := <-ready:
		if err != nil {
			l.stop()
			l.work.Wait()
			return err
		}
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
	l.work.Go(l.loop)
	return nil
}

// close ends all goroutines, then the backend, which settles the turns of this process.
func (l *loop) close() error {
	l.stop()
	l.work.Wait()
	l.terminals.close()
	return l.backend.Close()
}

// pump reads the event stream. If it breaks it begins again, and the sessions are read anew.
func (l *loop) pump(ready chan<- error) {
	for started := false; l.ctx.Err() == nil; {
		var broken error
		for ev, err := range l.backend.Events(l.ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) { // subagents may be in any directory
			if err != nil {
				if changed, ok := errors.AsType[*api.ConnectionChanged](err); ok {
					l.server.Log.Warn("acp: connection to the server", "error", changed)
					continue
				}
				broken = err
				break
			}
			if !started { // the stream begins with server.connected
				started = true
				ready <- nil
				continue
			}
			if !l.deliver(delivery{event: ev}) {
				return
			}
		}
		switch {
		case l.ctx.Err() != nil:
			return
		case !started:
			ready <- errors.Join(broken, l.ctx.Err())
			return
		}
		l.server.Log.Warn("acp: event stream ended; reading it again", "error", broken)
		select {
		case <-time.After(retryEvents):
		case <-l.ctx.Done():
			return
		}
		if broken == nil {
			broken = errors.New("the event stream ended")
		}
		if !l.deliver(delivery{missed: broken}) {
			return
		}
	}
}

// deliver passes an event on. A client that does not read its updates stops the loop, and with it the reading of events:
// the engine then drops the queue, and the next read repeats what was missed. So the memory for events is bounded.
func (l *loop) deliver(d delivery) bool {
	select {
	case l.events <- d:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// loop is the goroutine that owns the sessions.
func (l *loop) loop() {
	for {
		select {
		case f := <-l.tasks:
			f()
		case d := <-l.events:
			_, resync := d.event.Fact.(*lathe.ServerResync)
			if d.missed != nil || resync {
				l.resync()
			} else {
				l.take(d.event)
			}
		case <-l.ctx.Done():
			for _, s := range l.sessions {
				s.endTurn()
			}
			return
		}
	}
}

// run runs a function on the loop and waits for it.
func (l *loop) run(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case l.tasks <- func() { defer close(done); f() }:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
	<-done
	return nil
}

// with runs a function on the loop with an open session.
func (l *loop) with(ctx context.Context, id wire.SessionID, f func(*session) error) error {
	var failed error
	err := l.run(ctx, func() {
		s := l.sessions[lathe.SessionID(id)]
		if s == nil {
			failed = lathe.Errorf(lathe.NotFound, "session %q is not open; load or resume it first", oneLine(string(id), 60))
			return
		}
		failed = f(s)
	})
	return errors.Join(err, failed)
}

// take passes an event to the view of its session.
func (l *loop) take(ev lathe.Event) {
	if v := l.views[ev.Session]; v != nil {
		v.take(ev.Fact)
		return
	}
	if ev.Session != "" {
		return
	}
	for _, s := range l.sessions { // events of a directory
		if ev.Directory == "" || ev.Directory == s.dir {
			s.takeAround(ev.Fact)
		}
	}
}

// resync reads all sessions again after events were missed.
func (l *loop) resync() {
	for _, s := range l.sessions {
		if err := s.reload(l.ctx); err != nil {
			l.server.Log.Warn("acp: session not read", "session", s.id, "error", err)
		}
	}
}
