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

// settle waits for what belongs to a turn that has ended.
func (t *Turn) settle(ctx context.Context, a *cli.App) {
	t.checkServerDied(ctx, a.Attach)
	t.waitForTitle(ctx)
}

// checkServerDied looks whether a turn of a server that is idle now has come to its end: the server may
// have died, and another begun in its place.
func (t *Turn) checkServerDied(ctx context.Context, attach string) {
	if attach == "" || t.Record.Failed != nil {
		return
	}
	if cut, err := cli.WasCut(ctx, t.Engine, t.Session.ID); err == nil && cut {
		t.Record.Failed = lathe.Errorf(lathe.Unavailable, "the server ended before the turn did; `lathe run --attach %s --resume -s %s` goes on", termtext.Plain(attach), t.Session.ID)
	}
}

// waitForTitle waits briefly so that the session gets its title.
func (t *Turn) waitForTitle(ctx context.Context) {
	own, ok := t.Engine.(api.Local)
	if !ok { // the server lives on
		return
	}
	ctx, stop := context.WithTimeout(ctx, titleTime)
	defer stop()
	_ = own.Drain(ctx) // without one the session has the title of its day
}

// outcome is the error of a turn that came to its end.
func (t *Turn) outcome() error {
	if t.Record.Failed == nil && t.Record.Refused {
		return cli.Failed{Code: cli.ExitRefused}
	}
	return t.Record.Failed
}
