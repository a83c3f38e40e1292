package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/cli/turn"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// runner is one invocation of `lathe run`: flags, turn and output.
type runner struct {
	*cli.App
	flags     runFlags
	arguments string // of the slash command
	turn      *turn.Turn
	out       turn.Output
	until     api.Untils           // decides whether another turn follows; nil without --until
	answered  map[lathe.AskID]bool // with another request of the same call
}

// follow sends the prompt and prints the turn.
func (r *runner) follow(ctx context.Context, p lathe.Prompt) error {
	t := r.turn
	t.Log, t.Now, t.MissedHint = r.Log, r.Now, fmt.Sprintf("`lathe session show --attach %s %s` shows it", termtext.Plain(r.Attach), t.Session.ID)
	t.Send = func(ctx context.Context, fail func(error)) error { return r.send(ctx, p, fail) }
	r.out = r.output()
	t.Permit, t.Sink = r.permit, r.out
	if live, ok := r.out.(*turn.Live); ok {
		defer live.Close()
	}
	if r.flags.share && t.Session.Share != nil {
		r.note("~ %s", termtext.Plain(t.Session.Share.URL))
	}
	err := r.runTurns(ctx, p)
	if context.Cause(ctx) != nil {
		t.Report(cli.CancelTurn(ctx, t.Engine, t.Session.ID))
	}
	return r.out.End(ctx, err)
}

// output selects JSON for programs, the live view for a color terminal without logs, or plain text.
func (r *runner) output() turn.Output {
	p := turn.NewPlain(r.App, r.turn)
	p.Thinking, p.Structured = r.flags.thinking, r.flags.schema != ""
	limits := r.limits()
	r.turn.Retries = limits.Retries
	switch {
	case r.flags.format == streamJSON:
		return &turn.Stream{App: r.App, Turn: r.turn, Began: p.Began, Structured: p.Structured}
	case r.flags.format == "json":
		return &turn.JSON{App: r.App, Turn: r.turn, Thinking: p.Thinking}
	case cli.IsTerminal(r.Stdout.File) && !p.Structured && r.isAccessible():
		return turn.NewLinear(p)
	case r.HasColor(r.Stdout.File) && r.HasColor(r.Stderr) && !p.Structured && !r.PrintLogs:
		return turn.NewLive(p, limits.Silence)
	default:
		return p
	}
}

// isAccessible reports whether a flag, the config or the environment asks for plain lines.
func (r *runner) isAccessible() bool {
	l, err := r.Config() // harness.Open reports an error
	return r.flags.accessible || err == nil && l.TUI.Accessible
}

// limits are the limits of requests in the config of this directory. Those of a server are taken for the defaults.
func (r *runner) limits() api.Limits {
	var raw []byte
	if l, err := r.Config(); err == nil && r.flags.environment != nil {
		raw, _ = json.Marshal(l.Config) // it was read from JSON
	}
	return api.ParseLimits(raw)
}

func (r *runner) note(format string, args ...any) { r.out.Note(fmt.Sprintf(format, args...)) }

// send submits the prompt or the slash command, or resumes the interrupted turn.
func (r *runner) send(ctx context.Context, p lathe.Prompt, fail func(error)) error {
	t := r.turn
	if r.flags.resume {
		cut, err := cli.WasInterrupted(ctx, t.Engine, t.Session.ID)
		if err != nil {
			return err
		}
		tasks, err := t.BackgroundTasks(ctx)
		if err == nil && !cut && len(tasks) == 0 {
			err = lathe.Errorf(lathe.NotFound, "session %s was not interrupted; `lathe run -s %s PROMPT` continues it", t.Session.ID, t.Session.ID)
		}
		if err != nil {
			return err
		}
		t.Accepted.Store(true)
		r.note("> resuming · %s · %s", termtext.Plain(t.Session.Title), t.Session.ID)
		if err := t.CollectTasks(ctx, true); err != nil || !cut {
			return err
		}
		return t.Engine.Resume(ctx, t.Session.ID)
	}
	if err := r.handleInterruption(ctx); err != nil {
		return err
	}
	if !t.Fresh { // background tasks of a process that died
		if err := t.CollectTasks(ctx, r.resumeMode() == "auto"); err != nil {
			return err
		}
	}
	if r.flags.command != "" {
		r.note("> /%s · %s", termtext.Plain(r.commandName()), t.Session.ID)
		go r.submitCommand(ctx, p, fail) // it may ask for permission, which is answered here
		return nil
	}
	m, err := t.Engine.Submit(ctx, t.Session.ID, p)
	if err == nil {
		t.Begin(m)
		r.checkLevel(m)
		return nil
	}
	t.DeleteEmpty(ctx)
	return err
}

// checkLevel warns about an unknown reasoning level. The model answers anyway, as it does for clients of a server.
func (r *runner) checkLevel(m lathe.Message) {
	u, ok := m.Data.(*lathe.User)
	if !ok || r.flags.variant == "" || r.Attach != "" || r.flags.format != "default" {
		return
	}
	p, err := account.QuietProviders(r.App)
	if err != nil {
		return
	}
	info, err := p.Catalog.Model(u.Model.Provider, u.Model.Model)
	if err != nil {
		return // the turn reports it
	}
	if _, ok := info.Variant(r.flags.variant); !ok {
		r.note("! %v", NoVariant(info, r.flags.variant))
	}
}

func (r *runner) commandName() string { return strings.TrimPrefix(r.flags.command, "/") }

// submitCommand runs a slash command. If that fails, there is no turn to wait for.
func (r *runner) submitCommand(ctx context.Context, p lathe.Prompt, fail func(error)) {
	_, err := r.turn.Engine.SubmitCommand(ctx, r.turn.Session.ID, lathe.CommandCall{
		Command: r.commandName(), Arguments: r.arguments, Agent: p.Agent, Model: p.Model, Variant: p.Variant, Parts: p.Parts,
	})
	if err != nil {
		r.turn.DeleteEmpty(ctx)
		fail(err)
		return
	}
	r.turn.Accepted.Store(true)
}

// handleInterruption resumes the session's interrupted turn, or prints how to resume it, as the config says.
func (r *runner) handleInterruption(ctx context.Context) error {
	if r.turn.Fresh {
		return nil
	}
	mode := r.resumeMode()
	cut, err := cli.WasInterrupted(ctx, r.turn.Engine, r.turn.Session.ID)
	if err != nil || !cut || mode == "off" {
		return err
	}
	if mode == "auto" {
		r.note("> resuming the interrupted turn")
		return r.turn.Engine.Resume(ctx, r.turn.Session.ID)
	}
	r.note("> the last turn was interrupted; `lathe run --resume -s %s` resumes it", r.turn.Session.ID)
	return nil
}

// resumeMode returns the resume setting of the session's config.
func (r *runner) resumeMode() string {
	if r.Attach != "" {
		return "ask" // the server resumes by itself if configured
	}
	if l, err := r.WithDir(r.turn.Session.Directory).Config(); err == nil && l.Config.Resume != "" {
		return l.Config.Resume
	}
	return "ask"
}

// share publishes the session on the server.
func (r *runner) share(ctx context.Context) error {
	server, ok := r.turn.Engine.(*client.Client)
	if !ok || !r.flags.share {
		return nil
	}
	s, err := server.ShareFor(ctx, r.turn.Session.ID, r.flags.expires)
	if err != nil {
		r.turn.DeleteEmpty(ctx)
		return err
	}
	r.turn.Session = s
	return nil
}
