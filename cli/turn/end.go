package turn

import (
	"context"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// titleTime is how long a finished run waits for the session title.
const titleTime = 2 * time.Second

// settle waits for the title of a finished turn. An idle server may be a new one started after a crash: then the turn
// was interrupted.
func (t *Turn) settle(ctx context.Context, a *cli.App) {
	if a.Attach != "" && t.Record.Failed == nil {
		if cut, err := cli.WasInterrupted(ctx, t.Engine, t.Session.ID); err == nil && cut {
			t.Record.Failed = lathe.Errorf(lathe.Unavailable, "the server stopped before the turn ended; resume it with `lathe run --attach %s --resume -s %s`", termtext.Plain(a.Attach), t.Session.ID)
		}
	}
	if own, ok := t.Engine.(api.Local); ok { // a server keeps running
		ctx, stop := context.WithTimeout(ctx, titleTime)
		defer stop()
		_ = own.Drain(ctx) // without one, the title is the date
	}
}

// outcome returns the error of a finished turn.
func (t *Turn) outcome() error {
	if t.Record.Failed == nil && t.Record.Refused {
		return cli.Reported{Code: cli.ExitRefused}
	}
	return t.Record.Failed
}
