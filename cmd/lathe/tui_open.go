package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/tui"
)

// tuiEngine is what the terminal program speaks with, and how it is ended.
type tuiEngine struct {
	tui.Engine
	close func() error
}

// opener opens the engine once the screen is there, and closes what was opened, also when the user
// leaves while that is still under way.
type opener struct {
	open func(ctx context.Context) (*tuiEngine, error)

	running sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	left   bool
	engine *tuiEngine
}

// enter opens.
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

// Close waits for what is being opened, and closes it.
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

// openTUI opens the engine as serve does, and speaks with it without a port.
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
	if err := recoverTurns(ctx, a, setup.Engine); err != nil {
		return nil, cli.Closing(setup, err)
	}
	return openWithin(a, setup, nil, func(e *ownEngine) {
		e.choose.Store(first)
		e.confined = func() bool { return setup.Runner.Kernel().Available(false) == nil }
	})
}

// hasOwnRules reports whether the user has said what is allowed. Settings that cannot be read are told by
// whoever needs them.
func hasOwnRules(a *cli.App) bool {
	l, err := a.Config()
	return err != nil || l.HasOwnRules()
}

// openWithin serves an engine to this process alone. It closes both, also when it fails. change may put
// something else below the server.
func openWithin(a *cli.App, setup *harness.Harness, change func(*server.Backend), ready func(*ownEngine)) (*tuiEngine, error) {
	b, done := setup.Backend()
	if change != nil {
		change(&b)
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return nil, cli.Closing(setup, cli.Closing(done, err))
	}
	// There is no password: nobody else reaches it.
	s := server.New(b, server.Options{Directory: dir, Version: a.Version, Private: true, Log: quietLog(a)})
	c, err := client.New("", client.Options{Handler: s, Directory: dir})
	if err != nil {
		return nil, cli.Closing(setup, cli.Closing(done, err))
	}
	h := &ownEngine{Engine: setup.Engine, Host: c}
	h.trusted = func() (ok bool, broken string) {
		l, err := a.Config()
		if err != nil {
			return true, "" // the caller reports it
		}
		if len(l.Broken) > 0 {
			broken = "A" + cli.BrokenWords(l.Broken[0])[1:]
		}
		return l.Distrust == nil, broken
	}
	if ready != nil {
		ready(h)
	}
	unwatch := s.Watch() // the events of the engine do not pass through it
	return &tuiEngine{Engine: h, close: func() error {
		unwatch()
		s.Close()                                         // streams and waits
		err := cli.Closing(setup, cli.Closing(done, nil)) // turns are settled, and with them what waits for their end
		return cli.Closing(c, err)
	}}, nil
}

// quietLog leaves out that each request was answered, unless someone wants to know everything.
func quietLog(a *cli.App) *slog.Logger {
	if a.Log.Enabled(context.Background(), slog.LevelDebug) {
		return a.Log
	}
	return slog.New(quietHandler{a.Log.Handler()})
}

type quietHandler struct{ slog.Handler }

// Enabled takes warnings and errors only.
func (h quietHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// WithAttrs keeps the rule.
func (h quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the rule.
func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.Handler.WithGroup(name)}
}
