package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Run shows the program until the user leaves it or the context ends. The terminal is as it was afterwards,
// also when something went badly wrong.
func Run(ctx context.Context, o Options) (Ended, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newProgram(ctx, o)
	out := &outlet{file: o.Out, pace: &p.pace}
	t := tea.NewProgram(p, o.programOptions(out)...)
	p.pace.drive(t)
	// Told by its own context the library would close its reader while that reads.
	forget := context.AfterFunc(ctx, t.Quit)
	last, err := t.Run()
	forget()
	p.pace.end()
	if o.Out != nil { // the library does not know of it
		_, _ = out.Write([]byte(ansi.ResetModeLightDark))
	}
	cancel()
	p.calls.wait(5 * time.Second)
	if err := p.saveLast(); err != nil {
		p.log("what is remembered could not be written: %v", err)
	}
	p.deaf = !out.end(time.Second)
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return p.ended(), fmt.Errorf("the terminal program failed: %w; the session goes on where it was", err)
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, tea.ErrProgramKilled):
		return p.ended(), context.Cause(ctx)
	case err != nil:
		return p.ended(), err
	}
	if q, ok := last.(*program); ok {
		return q.ended(), q.fatalError
	}
	return p.ended(), nil
}

func (o *Options) programOptions(screen *outlet) []tea.ProgramOption {
	// Signals end the context. The library's own handler of them would wait for ever for a loop that has ended so.
	out := []tea.ProgramOption{tea.WithFPS(paceRate), tea.WithoutSignalHandler()}
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

func (p *program) ended() Ended {
	out := Ended{Session: p.state.Current, Offer: p.offer, Deaf: p.deaf, Cut: p.state.Current != "" && !p.o.Remote && p.state.Busy(p.state.Current)}
	if s, ok := p.state.Session(p.state.Current); ok {
		out.Title = s.Title
	}
	return out
}

func (p *program) log(format string, args ...any) {
	if p.o.Log != nil {
		p.o.Log(format, args...)
	}
}
