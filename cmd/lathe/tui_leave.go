package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// leaveTime is how long leaving may take. It is more than all that is waited for in order.
const leaveTime = 30 * time.Second

// mostStacks is how much is written down of what everyone was doing, in bytes.
const mostStacks = 1 << 20

// leaveLimit ends the program when leaving it takes too long, whatever keeps it: what was said is on disk, and the
// warden puts the terminal in order.
type leaveLimit struct {
	expired func()
	unhook  func() bool

	mu    sync.Mutex // guards what follows
	timer *time.Timer
	ended bool
}

// limitLeaving makes it count from the end of the context, or from begin.
func (a *app) limitLeaving(ctx context.Context, exit func(code int)) *leaveLimit {
	l := &leaveLimit{expired: func() {
		stacks := make([]byte, mostStacks)
		a.Log.Error("leaving took too long", "time", leaveTime, "stacks", string(stacks[:runtime.Stack(stacks, true)]))
		code := exitFailed
		if i, ok := interrupted(ctx); ok {
			code = i.exitCode()
		}
		exit(code)
	}}
	l.unhook = context.AfterFunc(ctx, l.begin)
	return l
}

// begin lets the time run, once.
func (l *leaveLimit) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer == nil && !l.ended {
		l.timer = time.AfterFunc(leaveTime, l.expired)
	}
}

// end says that everything is done.
func (l *leaveLimit) end() {
	l.unhook()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// toNobody is an error that is not told, since the terminal takes nothing: who writes to it would wait for ever.
func (a *app) toNobody(err error) error {
	a.deaf = true
	var i interrupt
	switch {
	case err == nil:
		return nil
	case errors.As(err, &i):
		return failed{i.exitCode()}
	}
	a.Log.Error("the terminal takes nothing, and this is not told", "error", err)
	return failed{exitFailed}
}
