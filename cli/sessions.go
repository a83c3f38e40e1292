package cli

import (
	"context"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/engine"
)

// WithSessions runs f on the sessions of this machine, or of the server that --attach names.
func (a *App) WithSessions(ctx context.Context, f func(api.Engine) error) error {
	if a.Attach != "" {
		c, err := a.Dial()
		if err != nil {
			return err
		}
		return CloseAfter(c, f(c))
	}
	return a.WithEngine(ctx, func(e *engine.Engine) error { return f(e) })
}

// EngineDir is the directory of the command, as an engine is asked about it: a client was made for it.
func EngineDir(a *App) string {
	if a.Attach != "" {
		return ""
	}
	return a.Dir
}

// Location tells where the directory of the command belongs.
func (a *App) Location(ctx context.Context, e api.Engine) (lathe.Location, error) {
	at, err := e.Location(ctx, EngineDir(a))
	if a.Attach != "" && lathe.CodeOf(err) == lathe.Invalid {
		err = lathe.Errorf(lathe.Invalid, "%w; -C names a directory of the server", err)
	}
	return at, err
}

// MaxAttachment is how large a file may be that is sent along with a prompt, in bytes.
const MaxAttachment = 16 << 20

// WasInterrupted reports whether the session's turn was cut off by the end of a process.
func WasInterrupted(ctx context.Context, e api.Engine, id lathe.SessionID) (bool, error) {
	all, err := e.Interrupted(ctx)
	return slices.Contains(all, id), err
}

// CancelTimeout is how long a server has to settle a turn that the user wants no more of.
const CancelTimeout = 5 * time.Second

// CancelTurn ends a turn that nobody looks at any more. An engine of this process settles it when it closes.
func CancelTurn(ctx context.Context, e api.Engine, id lathe.SessionID) error {
	if _, ok := e.(api.Local); ok {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), CancelTimeout)
	defer stop()
	return e.Cancel(ctx, id)
}

// RecoverTurns looks after what a dead process left: closed, and by setting gone on with.
func (a *App) RecoverTurns(ctx context.Context, e *engine.Engine) error {
	resume := false
	if l, err := a.Config(); err == nil { // a broken file is told by whoever needs it
		resume = l.Config.Resume == "auto"
	}
	n, err := e.Recover(ctx, resume)
	if n > 0 {
		a.Log.Info("turns were cut off", "count", n, "resumed", resume)
	}
	if lathe.CodeOf(err) == lathe.Conflict { // another process looks after them
		return nil
	}
	return err
}
