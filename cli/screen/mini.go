package screen

import (
	"context"
	"os"
	"os/signal"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/tui"
	"github.com/lathe-agent/lathe/tui/mini"
)

// runMini returns the inline front end with the options of the terminal UI.
func runMini(a *cli.App, f Flags) func(ctx context.Context, o tui.Options) (tui.Result, error) {
	return func(ctx context.Context, o tui.Options) (tui.Result, error) {
		ended, err := mini.Run(ctx, mini.Options{
			Open: func(ctx context.Context) (mini.Engine, error) { return o.Open(ctx) }, Dir: o.Dir, Remote: o.Remote, Start: mini.Start(o.Start),
			Accessible: f.accessible, Still: o.Look.Access.Still, State: o.State, Keys: o.Keys, Interrupts: func() (<-chan os.Signal, func()) { return typedInterrupts(a) },
			Log: o.Log, In: o.In, Out: o.Out, Size: a.ScreenSize, Env: o.Env, Now: o.Now,
		})
		if o.OnQuit != nil {
			o.OnQuit()
		}
		return tui.Result{Session: ended.Session, Title: ended.Title, TurnInterrupted: ended.TurnInterrupted}, err
	}
}

// typedInterrupts returns the interrupts that the user types, which no longer end the program.
func typedInterrupts(a *cli.App) (<-chan os.Signal, func()) {
	back := a.LendTTY()
	typed := make(chan os.Signal, 1)
	signal.Notify(typed, os.Interrupt)
	return typed, func() {
		signal.Stop(typed)
		back()
	}
}

// useFace selects the front end by flags, environment and config. The command that continues the session selects the
// same.
func (s *stage) useFace(l *config.Loaded) {
	switch f := &s.flags; {
	case s.again == "":
	case f.accessible:
		s.again += " --accessible"
	case f.mini:
		s.again += " --mini"
	}
	s.flags.accessible = s.flags.accessible || l.TUI.Accessible
	s.flags.mini = s.flags.mini || s.flags.accessible
}
