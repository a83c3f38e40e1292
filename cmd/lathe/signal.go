package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
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
// an error instead of a signal, so that the database is closed before the program goes.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-caught:
			signal.Stop(caught)
			cancel(interrupt{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// interrupted returns the signal that ended the context.
func interrupted(ctx context.Context) (interrupt, bool) {
	var i interrupt
	ok := errors.As(context.Cause(ctx), &i)
	return i, ok
}
