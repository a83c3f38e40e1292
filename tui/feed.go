package tui

import (
	"errors"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// frameTime is the minimum time between two batches of events.
const frameTime = 16 * time.Millisecond

// feed collects events between frames. One goroutine fills it, Update empties it.
type feed struct {
	ready chan struct{} // capacity one: signals new events

	mu     sync.Mutex // guards the fields below
	events []lathe.Event
	err    error
	lost   error // why the connection is lost
}

// batch holds the events since the last one.
type batch struct {
	events []lathe.Event
	err    error // the event stream ended
	lost   error // why the connection is lost
}

func newFeed() *feed { return &feed{ready: make(chan struct{}, 1)} }

// put adds an event or an error. It reports whether more events can follow: after a lost connection they do.
func (f *feed) put(e lathe.Event, err error) (more bool) {
	f.mu.Lock()
	broken, more := errors.AsType[*api.ConnectionChanged](err)
	switch {
	case more:
		f.lost = broken.Err
	case err != nil:
		f.err = err
	default:
		f.events = append(f.events, e)
	}
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default:
	}
	return more
}
