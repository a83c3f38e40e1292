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

// ownEngine is an engine of this process as the terminal UI has it, and what surrounds it.
type ownEngine struct {
	*engine.Engine
	api.Host
	// trusted tells whether the config of the project counts, and of files that were left out.
	trusted func() (ok bool, broken string)
	// confined tells whether a kernel sandbox holds commands; nil is not known. choose says that the user has not
	// used lathe before.
	confined func() bool
	choose   atomic.Bool
}

var _ tui.Engine = (*ownEngine)(nil)

// Info is where we are.
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

// SetMode changes the permission mode.
func (e *ownEngine) SetMode(ctx context.Context, dir string, m lathe.Mode) (lathe.Mode, error) {
	is, err := e.Host.SetMode(ctx, dir, m)
	if err == nil {
		e.choose.Store(false)
	}
	return is, err
}

// Share and Unshare are those of the surroundings: what the engine has of these names is for servers.
func (e *ownEngine) Share(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return e.Host.Share(ctx, id)
}

// Unshare takes back what a server has shared.
func (e *ownEngine) Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return e.Host.Unshare(ctx, id)
}
