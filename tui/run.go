package tui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
)

// Run shows the TUI until the user exits or the context ends. It restores the terminal,
// even after a panic.
func Run(ctx context.Context, o Options) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newProgram(ctx, o)
	out := &ttyWriter{file: o.Out, frameRate: &p.frameRate}
	t := tea.NewProgram(p, o.programOptions(out)...)
	p.frameRate.attach(t)
	// Canceled by its own context the library would close its reader during a read.
	forget := context.AfterFunc(ctx, t.Quit)
	last, err := t.Run()
	forget()
	p.frameRate.stop()
	if o.Out != nil { // the library does not reset this mode
		_, _ = out.Write([]byte(ansi.ResetModeLightDark))
	}
	cancel()
	p.calls.wait(5 * time.Second)
	if err := p.saveDrafts(); err != nil {
		p.log("save TUI state: %v", err)
	}
	p.ttyBlocked = !out.flush(time.Second)
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return p.result(), fmt.Errorf("the terminal UI crashed: %w; lathe -c resumes the session", err)
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, tea.ErrProgramKilled):
		return p.result(), context.Cause(ctx)
	case err != nil:
		return p.result(), err
	}
	if q, ok := last.(*program); ok {
		return q.result(), q.fatalError
	}
	return p.result(), nil
}

// programOptions configures the terminal library.
func (o *Options) programOptions(screen *ttyWriter) []tea.ProgramOption {
	// Signals end the context. The library's own signal handler would then wait forever for its loop.
	out := []tea.ProgramOption{tea.WithFPS(maxRate), tea.WithoutSignalHandler()}
	if o.In != nil {
		out = append(out, tea.WithInput(o.In))
	}
	if o.Out != nil {
		out = append(out, tea.WithOutput(screen))
	}
	if o.Env != nil {
		out = append(out, tea.WithEnvironment(o.Env))
	}
	return out
}

func (p *program) result() Result {
	out := Result{Session: p.state.Current, SetupOption: p.setup.chosenOption, TTYBlocked: p.ttyBlocked, TurnInterrupted: p.state.Current != "" && !p.o.Remote && p.state.Busy(p.state.Current)}
	if s, ok := p.state.Session(p.state.Current); ok {
		out.Title = s.Title
	}
	return out
}

// loadPrefs loads the saved state after the first frame.
func (p *program) loadPrefs() tea.Cmd {
	return p.inBackground(func() tea.Msg {
		settings, err0 := p.memory.Settings()
		models, err1 := p.memory.Models()
		pinned, err2 := p.memory.Pinned()
		history, err3 := p.memory.History()
		mentions, err4 := p.memory.Mentions()
		for _, err := range []error{err0, err1, err2, err3, err4} {
			if err != nil {
				p.log("load TUI state: %v", err)
			}
		}
		return answered{then: func() tea.Cmd {
			p.choice.used, p.sessions.pins, p.drafts.mentions, p.look.prefs = models, pinned, mentions, settings
			p.drafts.history = append(history, p.drafts.history...) // prompts sent before this was loaded
			p.drafts.edit.SetHistory(p.drafts.history)
			p.look.apply()
			return p.look.reportWarnings()
		}}
	})
}

// saveDrafts saves the unsent drafts of all sessions at exit.
func (p *program) saveDrafts() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	p.drafts.storeCurrent()
	at := lathe.Time(p.now().UnixMilli())
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(p.drafts.saved)) {
		if id != p.state.Current {
			errs = append(errs, p.drafts.saveUnsent(ctx, p.drafts.saved[id], at))
		}
	}
	if a := p.asks.current; a != nil && !a.sent {
		errs = append(errs, p.drafts.saveUnsent(ctx, editor.Draft{Input: a.Unsent()}, at))
	}
	errs = append(errs, p.drafts.saveUnsent(ctx, p.drafts.saved[p.state.Current], at)) // the last one is recalled first
	return errors.Join(errs...)
}
