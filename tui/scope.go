package tui

import (
	"context"
	"errors"
	"sync"

	"github.com/lathe-agent/lathe"
)

// scope selects events by directory: ours, and others once one of their sessions is opened. Only then
// is a server with many directories asked for all events.
type scope struct {
	mu      sync.Mutex // guards the fields below
	own     string     // set when reading starts
	others  map[string]bool
	onWiden func() // called for the first other directory
}

// add includes the events of a directory.
func (s *scope) add(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir == "" || dir == s.own || s.others[dir] {
		return
	}
	if s.others == nil {
		s.others = map[string]bool{}
	}
	if s.others[dir] = true; s.own == "" { // start checks others
		return
	}
	s.onWiden()
}

// start sets our directory and reports whether there are others. widened is called when one is added later.
func (s *scope) start(own string, widened func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own, s.onWiden = own, widened
	delete(s.others, own)
	return len(s.others) > 0
}

// includes reports whether events of a directory are in scope; "" marks global events.
func (s *scope) includes(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return dir == "" || dir == s.own || s.others[dir]
}

// follow reads events until the context or the stream ends.
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
		if !r.cursor.Set { // events between the two readings are unknown
			f.put(lathe.Event{Fact: &lathe.ServerResync{}}, nil)
		}
	}
	r.read(ctx, lathe.Scope{})
}

var errWidened = errors.New("scope widened to all directories")

// eventReader reads events and can widen its scope once.
type eventReader struct {
	feed      *feed
	engine    Engine
	scope     *scope
	cursor    lathe.Opt[lathe.Cursor] // where to resume
	connected bool                    // server.connected was seen
}

// isNew filters heartbeats and repeated server.connected events.
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

// read reads the events of a scope until it is widened or ends.
func (r *eventReader) read(ctx context.Context, in lathe.Scope) {
	for ev, err := range r.engine.Events(ctx, in, r.cursor) {
		if errors.Is(context.Cause(ctx), errWidened) {
			return // the wider reading repeats them
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
