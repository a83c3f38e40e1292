package screen

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/cli"
)

// leaveTime is how long leaving may take. It is more than all that is waited for in order.
const leaveTime = 30 * time.Second

// mostStacks is how much is written down of what everyone was doing, in bytes.
const mostStacks = 1 << 20

// leaveLimit ends the program when leaving it takes too long, whatever keeps it: what was said is on disk, and the
// restorer puts the terminal in order.
type leaveLimit struct {
	expired func()
	unhook  func() bool

	mu    sync.Mutex // guards what follows
	timer *time.Timer
	ended bool
}

// limitLeaving makes it count from the end of the context, or from begin.
func limitLeaving(ctx context.Context, a *cli.App, exit func(code int)) *leaveLimit {
	l := &leaveLimit{expired: func() {
		stacks := make([]byte, mostStacks)
		a.Log.Error("leaving took too long", "time", leaveTime, "stacks", string(stacks[:runtime.Stack(stacks, true)]))
		code := cli.ExitFailed
		if i, ok := cli.Interrupted(ctx); ok {
			code = i.ExitCode()
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
func toNobody(a *cli.App, err error) error {
	a.TTYStuck = true
	var i cli.Interrupt
	switch {
	case err == nil:
		return nil
	case errors.As(err, &i):
		return cli.Reported{Code: i.ExitCode()}
	}
	a.Log.Error("the terminal takes nothing, and this is not told", "error", err)
	return cli.Reported{Code: cli.ExitFailed}
}
