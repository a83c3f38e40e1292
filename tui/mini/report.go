package mini

import (
	"context"
	"fmt"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/report"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/style"
)

// usageLine is tokens and cost in one line.
func usageLine(tokens int64, dollars float64) string {
	out := style.Count(tokens) + " tokens"
	if dollars > 0 {
		out += " · " + style.Money(dollars)
	}
	return out
}

// age is how long ago a session was changed.
func age(at lathe.Time, now time.Time) string {
	d := now.Sub(time.UnixMilli(int64(at)))
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
}

// ofSession prints a report about the session.
func ofSession[T any](p slash, what string, load func(Engine, context.Context, lathe.SessionID) (T, error), render func(T, int) []report.Row) {
	id := p.state.Current
	p.call("show the "+what, func(ctx context.Context, e Engine) (func(), error) {
		got, err := load(e, ctx, id)
		if err != nil {
			return nil, err
		}
		return func() { p.face.report(func(width int) []report.Row { return render(got, width) }) }, nil
	})
}

// showContext prints the contents of the context.
func (p slash) showContext(string) { ofSession(p, "context", Engine.ContextUse, report.Context) }

// showCost prints the tokens and the cost of the session.
func (p slash) showCost(string) { ofSession(p, "cost", Engine.SessionCost, report.Cost) }

// showUsage prints where the time and the money of the session went.
func showUsage(p slash, _ string) { ofSession(p, "usage", Engine.SessionUsage, report.Usage) }

// doctor runs the health checks one after the other and prints all of them, so that nothing is drawn twice.
func (p slash) doctor(string) {
	width, height := p.o.Size()
	variable := func(name string) string { return envValue(p.o.Env, name) }
	p.face.note("Running the health checks")
	p.call("run the health checks", func(ctx context.Context, e Engine) (func(), error) {
		names, err := e.Checks(ctx, p.dir())
		if err != nil {
			return nil, err
		}
		all := report.Terminal(variable, width, height)
		for _, name := range names {
			got, err := e.Check(ctx, p.dir(), name)
			if err != nil {
				got = api.Check{Name: name, Status: api.CheckFail, Detail: errorText(err)}
			}
			all = append(all, got)
		}
		return func() { p.face.report(func(width int) []report.Row { return report.Checks(all, width) }) }, nil
	})
}

// showMemory prints the instruction files that apply.
func (p slash) showMemory(string) {
	p.call("list the instruction files", func(ctx context.Context, e Engine) (func(), error) {
		files, err := e.MemoryFiles(ctx, p.dir())
		if err != nil {
			return nil, err
		}
		return func() {
			p.face.report(func(width int) []report.Row { return report.Memory(files, p.state.Info.Home, width) })
		}, nil
	})
}

// remember adds a line to the instruction file of the project.
func (p sender) remember(r editor.Remember) {
	p.addHistory(r.Draft)
	p.call("write to the instruction file", func(ctx context.Context, e Engine) (func(), error) {
		f, err := e.EditMemory(ctx, p.dir(), api.MemoryEdit{Line: r.Line})
		if err != nil {
			return p.restore(r.Draft), err
		}
		return func() { p.face.note("Added to " + report.Tilde(f.Path, p.state.Info.Home)) }, nil
	})
}

// status prints the place, the session and the model.
func (p slash) status(string) {
	p.face.note("Directory: " + p.state.Tilde(p.state.Info.Directory))
	if p.state.Info.Branch != "" {
		p.face.note("Branch: " + p.state.Info.Branch)
	}
	if p.state.Current != "" {
		p.face.note("Session: " + string(p.state.Current))
	}
	if m, ok := p.choice.model(); ok {
		p.face.note("Model: " + state.ModelKey(m.Ref))
	}
	p.face.note("Agent: " + p.choice.agent)
	if p.state.Info.Mode != "" {
		p.face.note("Permission mode: " + dialog.ModeTitle(p.state.Info.Mode))
	}
}

// statusLine is the line below the prompt: agent, model, usage and permission mode.
func (p slash) statusLine() []string {
	if p.hint != "" { // the user has just pressed a key, and looks here
		return []string{p.hint}
	}
	if !p.state.Loaded {
		return []string{"starting"}
	}
	out := []string{p.choice.agent}
	if m, ok := p.choice.model(); ok {
		name := p.state.ModelName(m.Ref)
		if v := p.choice.variant(); v != "" {
			name += " " + v
		}
		out = append(out, name)
	}
	if o := p.state.Shown(); o != nil {
		tokens, window, cost := p.state.Usage(o.Transcript)
		if window > 0 && tokens > 0 {
			out = append(out, fmt.Sprintf("%d%% context", tokens*100/window))
		}
		if cost > 0 {
			out = append(out, style.Money(cost))
		}
	}
	// The mode decides what runs without a question, so it is always in sight.
	switch p.state.Info.Mode {
	case lathe.AskMode:
		out = append(out, "asks")
	case lathe.SandboxMode:
		out = append(out, "sandbox")
	case lathe.ReadOnlyMode:
		out = append(out, "read only")
	}
	if p.o.Start.Auto {
		out = append(out, "approves everything")
	}
	if p.isBusy() {
		return append(out, "Ctrl-C interrupts")
	}
	return append(out, "/help")
}
