package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// interrupt is why a context ended: a signal.
type interrupt struct{ signal os.Signal }

func (i interrupt) Error() string { return i.signal.String() }

// exitCode is what shells expect of a program that a signal ended.
func (i interrupt) exitCode() int {
	if n, ok := i.signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 130
}

// untilSignal gives a context that ends at the first interrupt, so that what was begun is ended
// in order. A second one ends the program at once. Writing to a pipe that nobody reads becomes
// an error instead of a signal, so that the database is closed before the program goes. While the terminal is lent
// to another program, an interrupt that is typed there is meant for that one.
func untilSignal(parent context.Context, lent *atomic.Int32) (context.Context, context.CancelFunc) {
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
				cancel(interrupt{s})
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

// lend notes that another program has the terminal, until back is called.
func (a *app) lend() (back func()) {
	a.lent.Add(1)
	return func() { time.AfterFunc(lentAfter, func() { a.lent.Add(-1) }) }
}

// interrupted returns the signal that ended the context.
func interrupted(ctx context.Context) (interrupt, bool) {
	var i interrupt
	ok := errors.As(context.Cause(ctx), &i)
	return i, ok
}
