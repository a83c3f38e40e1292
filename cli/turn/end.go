package turn

import (
	"context"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// titleTime is how long a program whose answer is printed waits for the title.
const titleTime = 2 * time.Second

// settle waits for what belongs to a turn that has ended. A server that is idle now may have died, and another begun in
// its place: then the turn has not come to its end.
func (t *Turn) settle(ctx context.Context, a *cli.App) {
	if a.Attach != "" && t.Record.Failed == nil {
		if cut, err := cli.WasInterrupted(ctx, t.Engine, t.Session.ID); err == nil && cut {
			t.Record.Failed = lathe.Errorf(lathe.Unavailable, "the server ended before the turn did; `lathe run --attach %s --resume -s %s` goes on", termtext.Plain(a.Attach), t.Session.ID)
		}
	}
	if own, ok := t.Engine.(api.Local); ok { // else the server lives on
		ctx, stop := context.WithTimeout(ctx, titleTime)
		defer stop()
		_ = own.Drain(ctx) // without a title the session has that of its day
	}
}

// outcome is the error of a turn that came to its end.
func (t *Turn) outcome() error {
	if t.Record.Failed == nil && t.Record.Refused {
		return cli.Reported{Code: cli.ExitRefused}
	}
	return t.Record.Failed
}
