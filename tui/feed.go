package tui

import (
	"errors"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// frameTime is the least time between two batches of events: no screen shows more.
const frameTime = 16 * time.Millisecond

// feed collects events between frames. One goroutine fills it, Update empties it.
type feed struct {
	ready chan struct{} // holds one: something is there

	mu     sync.Mutex // guards what follows
	events []lathe.Event
	err    error
	lost   error // why there is no connection at present
}

// batch is what was told since the last one.
type batch struct {
	events []lathe.Event
	err    error // the end of all events
	lost   error // why no more come at present
}

func newFeed() *feed { return &feed{ready: make(chan struct{}, 1)} }

// put takes in an event, or an error. It reports whether events go on behind that: the connection is lost, or found again.
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
