package events

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// pollEvery is how often a process that has listeners looks for events of other processes.
	pollEvery = 200 * time.Millisecond
	// hintEvery is the shortest time between two looks that other nodes ask for.
	hintEvery = 10 * time.Millisecond
)

// watch looks for what other processes wrote, while anyone here wants to know.
type watch struct {
	poll func(context.Context) error
	log  *slog.Logger
	hint chan struct{} // holds one after a hint that there is something to see

	mu     sync.Mutex // guards the fields below
	users  int
	seen   time.Time          // when a look last reached the end
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
		w.seen = time.Now()
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
	for failing := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-w.hint:
			failing = w.look(ctx, failing)
			pause := time.NewTimer(hintEvery)
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
			}
		case <-tick.C:
			failing = w.look(ctx, failing)
		}
	}
}

// look polls once, and logs the first of several failures.
func (w *watch) look(ctx context.Context, failing bool) bool {
	began := time.Now()
	err := w.poll(ctx)
	if err == nil {
		w.mu.Lock()
		w.seen = began
		w.mu.Unlock()
	} else if ctx.Err() == nil && !failing {
		w.log.Warn("cannot see what other processes write", "error", err)
	}
	return err != nil
}

// lag is the time since a look last reached the end, 0 without watchers.
func (w *watch) lag() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users == 0 {
		return 0
	}
	return time.Since(w.seen)
}

// close ends watching for good and waits for all who ever began.
func (w *watch) close() {
	w.mu.Lock()
	w.closed = true
	w.stopPolling()
	w.mu.Unlock()
	w.running.Wait()
}
