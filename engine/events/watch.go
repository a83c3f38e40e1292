package events

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// pollEvery is how often a process that has listeners looks for events of other processes.
const pollEvery = 200 * time.Millisecond

// watch looks for what other processes wrote, while anyone here wants to know.
type watch struct {
	poll func(context.Context) error
	log  *slog.Logger

	mu     sync.Mutex // guards the fields below
	users  int
	stop   context.CancelFunc // nil without watchers
	closed bool

	running sync.WaitGroup // one that was stopped may still be at its last look
}

// enter starts watching; the returned function ends it. First reports whether this is the
// only watcher.
func (w *watch) enter() (leave func(), first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users++
	first = w.users == 1
	if first && !w.closed {
		ctx, stop := context.WithCancel(context.Background())
		w.stop = stop
		w.running.Go(func() { w.run(ctx) })
	}
	return sync.OnceFunc(w.leave), first
}

func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users--; w.users == 0 {
		w.stopPolling()
	}
}

// stopPolling ends the goroutine. The mutex is held.
func (w *watch) stopPolling() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := w.poll(ctx); err != nil && ctx.Err() == nil {
				w.log.Warn("cannot see what other processes write", "error", err)
			}
		}
	}
}

// close ends watching for good and waits for all who ever began.
func (w *watch) close() {
	w.mu.Lock()
	w.closed = true
	w.stopPolling()
	w.mu.Unlock()
	w.running.Wait()
}
