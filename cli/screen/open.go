package screen

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/install"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/tui"
)

// tuiEngine is the engine of the terminal UI, with its close function.
type tuiEngine struct {
	tui.Engine
	close func() error
}

// opener opens the engine after the first frame and closes it, also if the user quits while it opens.
type opener struct {
	open func(ctx context.Context) (*tuiEngine, error)

	running sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	left   bool
	engine *tuiEngine
}

// enter opens the engine.
func (o *opener) enter(ctx context.Context) (tui.Engine, error) {
	o.mu.Lock()
	if o.left {
		o.mu.Unlock()
		return nil, context.Canceled
	}
	o.running.Add(1)
	o.mu.Unlock()
	defer o.running.Done()
	e, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.engine = e
	return e.Engine, nil
}

// Close waits for enter and closes the engine.
func (o *opener) Close() error {
	o.mu.Lock()
	o.left = true
	o.mu.Unlock()
	o.running.Wait()
	if o.engine == nil {
		return nil
	}
	return o.engine.close()
}

// openTUI opens a local engine, as serve does but without a port.
func openTUI(ctx context.Context, a *cli.App) (*tuiEngine, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	first := !at.Exists() && !hasOwnRules(a)
	setup, err := harness.Open(ctx, &a.Host, harness.Options{})
	if err != nil {
		return nil, err
	}
	if err := a.RecoverTurns(ctx, setup.Engine); err != nil {
		return nil, cli.CloseAfter(setup, err)
	}
	e, err := openWithin(ctx, a, setup, func(e *ownEngine) {
		e.choose.Store(first)
		e.confined = func() bool { return setup.Runner.Kernel().Available(false) == nil }
	})
	if err != nil {
		return nil, err
	}
	stop, closeEngine := install.StartAutoUpdate(context.WithoutCancel(ctx), a, setup.Engine.Publish), e.close
	e.close = func() error { stop(); return closeEngine() } // ctx is that of opening
	return e, nil
}

// hasOwnRules reports whether the user's config has permission rules. The engine reports config that cannot be read.
func hasOwnRules(a *cli.App) bool {
	l, err := a.Config()
	return err != nil || l.HasUserRules()
}

// openWithin gives the terminal UI a local engine, which it closes, also on failure. change may replace the engine's
// adapter.
func openWithin(ctx context.Context, a *cli.App, setup *harness.Harness, change func(*ownEngine)) (*tuiEngine, error) {
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return nil, cli.CloseAfter(setup, err)
	}
	around, err := setup.Local(ctx, dir, a.Version)
	if err != nil {
		return nil, cli.CloseAfter(setup, err)
	}
	h := &ownEngine{Engine: setup.Engine, Untils: harness.Repeats(setup), Host: around}
	h.trusted = func() (ok bool, broken string) {
		l, err := a.Config()
		if err != nil {
			return true, "" // the caller reports it
		}
		if len(l.Broken) > 0 {
			broken = "I" + cli.BrokenMessage(l.Broken[0])[1:]
		}
		return l.Untrusted == nil, broken
	}
	change(h)
	return &tuiEngine{Engine: h, close: func() error {
		return cli.CloseAfter(setup, around.Close()) // all turns are settled
	}}, nil
}

// Show runs the terminal UI on an engine that open opens, and closes it at the end. It continues the latest session
// with a prompt. host may replace the engine's adapter. deaf reports that the terminal accepts no output.
func Show(ctx context.Context, a *cli.App, prompt string, open func(ctx context.Context, own *cli.App) (*harness.Harness, error), host func(api.Host) api.Host) (deaf bool, err error) {
	in, _, err := openScreen(ctx, a, Flags{})
	if err != nil {
		return false, err
	}
	defer in.close()
	own, show := offScreen(a)
	defer show()
	ended, err := performTUI(ctx, own, in.file, stage{app: own, flags: Flags{next: true, prompt: prompt}, open: func(ctx context.Context) (*tuiEngine, error) {
		h, err := open(ctx, own)
		if err != nil {
			return nil, err
		}
		return openWithin(ctx, own, h, func(e *ownEngine) { e.Host = host(e.Host) })
	}})
	return ended.TTYBlocked, err
}
