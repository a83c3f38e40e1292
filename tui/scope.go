package tui

import (
	"context"
	"errors"
	"sync"

	"github.com/lathe-agent/lathe"
)

// scope says whose events are wanted: those of our directory, and of others once a session of theirs is looked at. A
// server with many directories is asked for all of them only then.
type scope struct {
	mu      sync.Mutex // guards what follows
	own     string     // known when events are read
	others  map[string]bool
	onWiden func() // called once there is a first other directory
}

// add wants the events of a directory, too.
func (s *scope) add(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir == "" || dir == s.own || s.others[dir] {
		return
	}
	if s.others == nil {
		s.others = map[string]bool{}
	}
	if s.others[dir] = true; s.own == "" { // nobody reads yet, and who does looks
		return
	}
	s.onWiden()
}

// start says which directory is ours, and reports whether there are others. Once there are, widened is called.
func (s *scope) start(own string, widened func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own, s.onWiden = own, widened
	delete(s.others, own)
	return len(s.others) > 0
}

// includes reports whether events of a directory are wanted; "" are those of all.
func (s *scope) includes(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return dir == "" || dir == s.own || s.others[dir]
}

// follow reads events until the context ends or nothing more can come.
func (f *feed) follow(ctx context.Context, e Engine, dir string, in *scope) {
	at, err := e.Location(ctx, dir)
	if err != nil {
		f.put(lathe.Event{}, err)
		return
	}
	narrow, widen := context.WithCancelCause(ctx)
	defer widen(nil)
	r := eventReader{feed: f, engine: e, scope: in}
	if !in.start(at.Directory, func() { widen(errWidened) }) {
		r.read(narrow, lathe.Scope{Directory: at.Directory})
		if !errors.Is(context.Cause(narrow), errWidened) || ctx.Err() != nil {
			return
		}
		if !r.cursor.Set { // nobody knows what came between the two
			f.put(lathe.Event{Fact: &lathe.ServerResync{}}, nil)
		}
	}
	r.read(ctx, lathe.Scope{})
}

var errWidened = errors.New("scope widened to all directories")

// eventReader is one reading of events, which may change its scope once.
type eventReader struct {
	feed      *feed
	engine    Engine
	scope     *scope
	cursor    lathe.Opt[lathe.Cursor] // behind which it goes on
	connected bool                    // server.connected was told
}

// isNew leaves out that the engine lives, and that another reading has begun.
func (r *eventReader) isNew(f lathe.Fact) bool {
	switch f.(type) {
	case *lathe.ServerHeartbeat:
		return false
	case *lathe.ServerConnected:
		began := r.connected
		r.connected = true
		return !began
	default:
		return true
	}
}

// read takes in what happens in a scope until that is widened, or the end.
func (r *eventReader) read(ctx context.Context, in lathe.Scope) {
	for ev, err := range r.engine.Events(ctx, in, r.cursor) {
		if errors.Is(context.Cause(ctx), errWidened) {
			return // what came meanwhile comes again
		}
		if err != nil {
			if !r.feed.put(lathe.Event{}, err) {
				return
			}
			continue
		}
		if ev.Last {
			r.cursor = lathe.Some(lathe.Cursor{Seq: ev.Seq, Feed: r.engine.Feed()})
		}
		if r.isNew(ev.Fact) && r.scope.includes(ev.Directory) {
			r.feed.put(ev, nil)
		}
	}
}
