package cli

import (
	"context"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/engine"
)

// WithSessions runs f on the local engine, or on the server of --attach.
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

// EngineDir returns the directory to pass to an engine. A client already has its directory, so there it is "".
func EngineDir(a *App) string {
	if a.Attach != "" {
		return ""
	}
	return a.Dir
}

// Location returns the project and directory of the command.
func (a *App) Location(ctx context.Context, e api.Engine) (lathe.Location, error) {
	at, err := e.Location(ctx, EngineDir(a))
	if a.Attach != "" && lathe.CodeOf(err) == lathe.Invalid {
		err = lathe.Errorf(lathe.Invalid, "%w; -C must be a directory on the server", err)
	}
	return at, err
}

// MaxAttachment is the largest file that can be attached to a prompt, in bytes.
const MaxAttachment = 16 << 20

// WasInterrupted reports whether the end of a process interrupted the session's turn.
func WasInterrupted(ctx context.Context, e api.Engine, id lathe.SessionID) (bool, error) {
	all, err := e.Interrupted(ctx)
	return slices.Contains(all, id), err
}

// CancelTimeout is how long a server has to settle a turn that the user canceled.
const CancelTimeout = 5 * time.Second

// CancelTurn cancels a turn on a server. A local engine settles its turns when it closes.
func CancelTurn(ctx context.Context, e api.Engine, id lathe.SessionID) error {
	if _, ok := e.(api.Local); ok {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), CancelTimeout)
	defer stop()
	return e.Cancel(ctx, id)
}

// RecoverTurns settles the turns that a dead process left, and resumes them if configured.
func (a *App) RecoverTurns(ctx context.Context, e *engine.Engine) error {
	resume := false
	if l, err := a.Config(); err == nil { // the command that needs the config reports it
		resume = l.Config.Resume == "auto"
	}
	n, err := e.Recover(ctx, resume)
	if n > 0 {
		a.Log.Info("recovered interrupted turns", "count", n, "resumed", resume)
	}
	if lathe.CodeOf(err) == lathe.Conflict { // another process recovers them
		return nil
	}
	return err
}
