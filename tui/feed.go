package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/host"
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

// follow reads events until the context ends or nothing more can come.
func (f *feed) follow(ctx context.Context, e host.Engine) {
	for ev, err := range e.Events(ctx, lathe.Opt[lathe.Cursor]{}) {
		f.put(ev, err)
		if broken := (*host.Broken)(nil); err != nil && !errors.As(err, &broken) {
			return
		}
	}
}

func (f *feed) put(e lathe.Event, err error) {
	f.mu.Lock()
	var broken *host.Broken
	switch {
	case errors.As(err, &broken):
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
}
