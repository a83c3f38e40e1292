package main

import (
	"context"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/engine"
)

// onSessions runs f on the sessions of this machine, or of the server that --attach names.
func (a *app) onSessions(ctx context.Context, f func(api.Engine) error) error {
	if a.attach != "" {
		c, err := a.dial()
		if err != nil {
			return err
		}
		return closing(c, f(c))
	}
	return a.with(ctx, func(e *engine.Engine) error { return f(e) })
}

// place is the directory of the command, as an engine is asked about it: a client was made for it.
func (a *app) place() string {
	if a.attach != "" {
		return ""
	}
	return a.Dir
}

// location tells where the directory of the command belongs.
func (a *app) location(ctx context.Context, e api.Engine) (lathe.Location, error) {
	at, err := e.Location(ctx, a.place())
	if a.attach != "" && lathe.CodeOf(err) == lathe.Invalid {
		err = lathe.Errorf(lathe.Invalid, "%w; -C names a directory of the server", err)
	}
	return at, err
}

// wasCut reports whether the session's turn was cut off by the end of a process.
func wasCut(ctx context.Context, e api.Engine, id lathe.SessionID) (bool, error) {
	all, err := e.Interrupted(ctx)
	return slices.Contains(all, id), err
}

// quitTime is how long a server has to settle a turn that the user wants no more of.
const quitTime = 5 * time.Second

// quit ends a turn that nobody looks at any more. An engine of this process settles it when it closes.
func quit(ctx context.Context, e api.Engine, id lathe.SessionID) error {
	if _, ok := e.(api.Local); ok {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), quitTime)
	defer stop()
	return e.Cancel(ctx, id)
}
