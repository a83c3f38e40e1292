package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// Interrupt is why a context ended: a signal.
type Interrupt struct{ Signal os.Signal }

func (i Interrupt) Error() string { return i.Signal.String() }

// ExitCode is what shells expect of a program that a signal ended.
func (i Interrupt) ExitCode() int {
	if n, ok := i.Signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 130
}

// SignalContext gives a context that ends at the first interrupt, so that what was begun is ended
// in order. A second one ends the program at once. Writing to a pipe that nobody reads becomes
// an error instead of a signal, so that the database is closed before the program goes. While the terminal is lent
// to another program, an interrupt that is typed there is meant for that one.
func SignalContext(parent context.Context, lent *atomic.Int32) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case s := <-caught:
				if s == os.Interrupt && lent.Load() > 0 {
					continue
				}
				signal.Stop(caught)
				cancel(Interrupt{s})
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// lentAfter is for how long an interrupt still counts as one of who had the terminal: he may have ended by it before
// we have heard of it.
const lentAfter = time.Second

// LendTTY notes that another program has the terminal, until back is called.
func (a *App) LendTTY() (back func()) {
	a.TTYChildren.Add(1)
	return func() { time.AfterFunc(lentAfter, func() { a.TTYChildren.Add(-1) }) }
}

// Interrupted returns the signal that ended the context.
func Interrupted(ctx context.Context) (Interrupt, bool) {
	return errors.AsType[Interrupt](context.Cause(ctx))
}
