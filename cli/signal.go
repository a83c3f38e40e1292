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

// Interrupt is the cause of a context that a signal ended.
type Interrupt struct{ Signal os.Signal }

func (i Interrupt) Error() string { return i.Signal.String() }

// ExitCode returns 128 plus the signal number, as shells expect.
func (i Interrupt) ExitCode() int {
	if n, ok := i.Signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 130
}

// SignalContext returns a context that the first interrupt cancels, for a clean shutdown. A second one kills the
// program. A write to a closed pipe returns an error instead of raising SIGPIPE, so that the database gets closed.
// While a child program uses the terminal, an interrupt typed there is for the child.
func SignalContext(parent context.Context, lent *atomic.Int32) (context.Context, context.CancelFunc) {
	checkPidfd()
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

// ttyGrace is how long after a child's end an interrupt still belongs to it: the child may have exited because of it.
const ttyGrace = time.Second

// LendTTY notes that a child program uses the terminal, until back is called.
func (a *App) LendTTY() (back func()) {
	a.TTYChildren.Add(1)
	return func() { time.AfterFunc(ttyGrace, func() { a.TTYChildren.Add(-1) }) }
}

// Interrupted returns the signal that ended the context.
func Interrupted(ctx context.Context) (Interrupt, bool) {
	return errors.AsType[Interrupt](context.Cause(ctx))
}
