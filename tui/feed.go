package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

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

// next waits for a batch, and then until a frame has passed since the last: what comes meanwhile is in it.
func (p *program) next() tea.Cmd {
	ctx, f, last := p.ctx, p.feed, p.lastBatch
	return func() tea.Msg {
		if !p.calls.enter() {
			return nil
		}
		defer p.calls.wg.Done()
		select {
		case <-ctx.Done():
			return nil
		case <-f.ready:
		}
		if rest := frameTime - time.Since(last); rest > 0 {
			t := time.NewTimer(rest)
			defer t.Stop()
			select {
			case <-ctx.Done():
				return nil
			case <-t.C:
			}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		b := batch{f.events, f.err, f.lost}
		f.events = nil
		return b
	}
}
