package screen

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/tui"
)

// ownEngine adapts a local engine to the terminal UI.
type ownEngine struct {
	*engine.Engine
	api.Untils
	api.Host
	// trusted reports whether the project is trusted, and which config files were ignored.
	trusted func() (ok bool, broken string)
	// confined reports whether a kernel sandbox confines commands; nil is unknown. choose reports that the user has
	// not used lathe before.
	confined func() bool
	choose   atomic.Bool
}

var _ tui.Engine = (*ownEngine)(nil)

// Info returns the project, the config and the sandbox state of a directory.
func (e *ownEngine) Info(ctx context.Context, dir string) (api.Info, error) {
	out, err := e.Host.Info(ctx, dir)
	if err != nil {
		return out, err
	}
	out.Trusted, out.ConfigProblem = e.trusted()
	if e.confined != nil {
		out.Confined, out.ChooseMode = e.confined(), e.choose.Load() && out.Mode == ""
		out.Mode = cmp.Or(out.Mode, lathe.SandboxMode)
	}
	return out, nil
}

// SetMode sets the permission mode.
func (e *ownEngine) SetMode(ctx context.Context, dir string, m lathe.Mode) (lathe.Mode, error) {
	is, err := e.Host.SetMode(ctx, dir, m)
	if err == nil {
		e.choose.Store(false)
	}
	return is, err
}

// Share is not available without a server.
func (e *ownEngine) Share(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return e.Host.Share(ctx, id)
}

// Unshare revokes a share that a server created.
func (e *ownEngine) Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return e.Host.Unshare(ctx, id)
}
