package screen

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/cli"
)

// leaveTime limits the shutdown. It is longer than the sum of all its waits.
const leaveTime = 30 * time.Second

// maxStacks is the size of the logged goroutine stacks, in bytes.
const maxStacks = 1 << 20

// leaveLimit exits the program if the shutdown hangs. The session is on disk, and the restorer resets the terminal.
type leaveLimit struct {
	expired func()
	unhook  func() bool

	mu    sync.Mutex // guards the fields below
	timer *time.Timer
	ended bool
}

// limitLeaving starts the timer at the end of the context, or at begin.
func limitLeaving(ctx context.Context, a *cli.App, exit func(code int)) *leaveLimit {
	l := &leaveLimit{expired: func() {
		stacks := make([]byte, maxStacks)
		a.Log.Error("shutdown took too long", "time", leaveTime, "stacks", string(stacks[:runtime.Stack(stacks, true)]))
		code := cli.ExitFailed
		if i, ok := cli.Interrupted(ctx); ok {
			code = i.ExitCode()
		}
		exit(code)
	}}
	l.unhook = context.AfterFunc(ctx, l.begin)
	return l
}

// begin starts the timer once.
func (l *leaveLimit) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer == nil && !l.ended {
		l.timer = time.AfterFunc(leaveTime, l.expired)
	}
}

// end stops the timer.
func (l *leaveLimit) end() {
	l.unhook()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// logOnly logs an error instead of printing it, since a write to a stuck terminal would block forever.
func logOnly(a *cli.App, err error) error {
	a.TTYStuck = true
	var i cli.Interrupt
	switch {
	case err == nil:
		return nil
	case errors.As(err, &i):
		return cli.Reported{Code: i.ExitCode()}
	}
	a.Log.Error("the terminal accepts no output; error not shown", "error", err)
	return cli.Reported{Code: cli.ExitFailed}
}
