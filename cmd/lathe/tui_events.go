package main

import (
	"context"
	"iter"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/host"
)

// dirs are directories besides our own.
type dirs struct {
	changed chan struct{} // holds one when there was a first

	mu  sync.Mutex // guards the fields below
	own string     // known when events are read
	all map[string]bool
}

// add wants the events of a directory, too.
func (d *dirs) add(dir string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if dir == "" || dir == d.own || d.all[dir] {
		return
	}
	if d.all == nil {
		d.all = map[string]bool{}
	}
	if d.all[dir] = true; d.own == "" { // nobody reads yet, and who does looks
		return
	}
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// begin says which one is ours, and reports whether there are others.
func (d *dirs) begin(own string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own = own
	delete(d.all, own)
	return len(d.all) > 0
}

// wants reports whether events of a directory are to be told; "" are those of all.
func (d *dirs) wants(dir string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return dir == "" || dir == d.own || d.all[dir]
}

// Events are those of the directory, sub-agents included, and of others once a session of theirs is looked
// at: a server with many directories is asked for all of them only then.
func (h *tuiHost) Events(ctx context.Context, after lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error] {
	return func(yield func(lathe.Event, error) bool) {
		at, err := h.client.Location(ctx, h.dir)
		if err != nil {
			yield(lathe.Event{}, err)
			return
		}
		s := tuiStream{host: h, yield: yield, cursor: after}
		scope := lathe.Scope{Directory: at.Directory}
		if !h.beyond.begin(at.Directory) {
			if !s.follow(ctx, scope, h.beyond.changed) {
				return
			}
			// Without a number nobody knows what came between the two.
			if !s.cursor.Set && !yield(lathe.Event{Fact: &lathe.ServerResync{}}, nil) {
				return
			}
		}
		s.follow(ctx, lathe.Scope{}, nil)
	}
}

// tuiStream is one reading of events, which may change its scope once.
type tuiStream struct {
	host   *tuiHost
	yield  func(lathe.Event, error) bool
	cursor lathe.Opt[lathe.Cursor] // behind which it goes on
	began  bool                    // server.connected was told
	left   bool                    // the reader wants no more
}

// follow tells what happens in a scope. True says that it was widened, and all else that this was the end.
func (s *tuiStream) follow(ctx context.Context, scope lathe.Scope, widened <-chan struct{}) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wide := make(chan struct{})
	over := make(chan struct{})
	defer func() { // the watcher is ours
		stop()
		<-over
	}()
	go func() {
		defer close(over)
		select {
		case <-widened:
			close(wide)
			stop()
		case <-ctx.Done():
		}
	}()
	broken := func(err error) {
		if !s.left && !s.yield(lathe.Event{}, &host.Broken{Err: err}) {
			s.left = true
			stop()
		}
	}
	for ev, err := range s.host.client.Follow(ctx, scope, s.cursor, broken) {
		if s.left {
			return false
		}
		select {
		case <-wide: // what came meanwhile comes again
			return true
		default:
		}
		if err != nil {
			s.yield(lathe.Event{}, err)
			return false
		}
		if ev.Last {
			s.cursor = lathe.Some(lathe.Cursor{Seq: ev.Seq, Feed: s.host.client.Feed()})
		}
		if !s.tell(ev) {
			return false
		}
	}
	return false
}

// tell hands an event on, if it is wanted.
func (s *tuiStream) tell(ev lathe.Event) bool {
	if _, ok := ev.Fact.(*lathe.ServerConnected); ok {
		if s.began {
			return true
		}
		s.began = true
	}
	if s.host.beyond.wants(ev.Directory) {
		s.left = !s.yield(ev, nil)
	}
	return !s.left
}
