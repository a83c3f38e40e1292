package run

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine/until"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// isParallel reports whether --tries means several worktrees at once, and not the runs of --until.
func (f *runFlags) isParallel() bool { return f.tries.count > 0 && f.until == "" }

// checkUntil checks the flags of --until.
func (f *runFlags) checkUntil() error {
	t := f.tries
	switch {
	case t.count < 0 || t.count > until.MaxTries:
		return cli.Usagef("--tries %d: want 1 to %d with --until", t.count, until.MaxTries)
	case t.check != "" || t.merge || t.json:
		return cli.Usagef("--until cannot be combined with --check, --merge or --json: these are for tries in parallel")
	case f.resume:
		return cli.Usagef("--resume continues with the command of the interrupted run; leave out --until")
	case f.schema != "" || f.command != "":
		return cli.Usagef("--until cannot be combined with --output-schema or --command")
	}
	return nil
}

// beginUntil prepares the run of --until, or that of the session that is resumed.
func (r *runner) beginUntil(ctx context.Context, p *lathe.Prompt) (release func(), err error) {
	u, s := r.flags.repeats, r.turn.Session
	switch {
	case r.flags.until != "":
		release, err = u.BeginUntil(ctx, s.Directory, api.UntilSpec{Command: r.flags.until, Tries: r.flags.tries.count}, p)
	case r.flags.resume:
		release, err = u.ResumeUntil(ctx, s.ID)
		if lathe.CodeOf(err) == lathe.NotFound {
			return func() {}, nil
		}
	default:
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	r.until = u
	return release, nil
}

// runTurns runs the turn and, with --until, those that follow. The outcome is in the record of the turn.
func (r *runner) runTurns(ctx context.Context, p lathe.Prompt) error {
	t := r.turn
	if r.until == nil {
		return t.Run(ctx)
	}
	idle := false
	if r.flags.resume { // it may have been killed between two turns
		cut, err := cli.WasInterrupted(ctx, t.Engine, t.Session.ID)
		if err != nil {
			return err
		}
		idle = !cut
	}
	for {
		if !idle {
			if err := t.Run(ctx); err != nil {
				return err
			}
		}
		idle = false
		limit := t.Record.Failed
		if limit != nil && cli.ExitCodeOf(limit) != cli.ExitBudget {
			return nil
		}
		round, err := r.check(ctx)
		if err != nil || r.isDone(round) {
			return err
		}
		next := lathe.Prompt{Agent: p.Agent, Model: p.Model, Variant: p.Variant, Parts: round.Prompt}
		t.Record.Refused = false // the command decides
		t.Send = func(ctx context.Context, _ func(error)) error {
			m, err := t.Engine.Submit(ctx, t.Session.ID, next)
			if err == nil {
				t.Begin(m)
			}
			return err
		}
	}
}

// check runs the command.
func (r *runner) check(ctx context.Context) (api.UntilRound, error) {
	round, err := r.until.CheckUntil(ctx, r.turn.Session.ID)
	if cause := context.Cause(ctx); cause != nil {
		return round, cause
	}
	if err != nil {
		r.turn.Record.Failed = err
		return round, nil
	}
	command := termtext.Clip(termtext.OneLine(termtext.Plain(round.Command)), 80)
	switch {
	case round.Verdict == api.UntilPassed:
		r.note("> check passed (run %d of %d) · %s", round.Run, round.Tries, command)
	case round.Exit == 0:
		r.note("! check passed, but does not count (run %d of %d) · %s", round.Run, round.Tries, command)
	default:
		r.note("! check failed with exit code %d (run %d of %d) · %s", round.Exit, round.Run, round.Tries, command)
	}
	for _, path := range round.Changed {
		r.note("! changed during the run, although it decides the result: %s", termtext.Plain(path))
	}
	for _, path := range round.Scripts {
		r.note("! changed during the run, and the check may run it: %s", termtext.Plain(path))
	}
	return round, nil
}

// isDone reports whether no turn follows a round, and sets the outcome.
func (r *runner) isDone(round api.UntilRound) bool {
	rec := &r.turn.Record
	last := func(code int, why string) {
		if rec.Failed == nil {
			text := "the check did not pass: " + why
			if end := lastLine(round.Output); end != "" {
				text += "; it printed last: " + strings.TrimRight(end, ".")
			}
			rec.Failed = cli.WithExit(lathe.Errorf(lathe.Unavailable, "%s. Continue with `lathe run -s %s --until COMMAND PROMPT`", text, r.turn.Session.ID), code)
		}
	}
	switch round.Verdict {
	case api.UntilPassed:
		rec.Failed, rec.Refused = nil, false
		return true
	case api.UntilNoProgress:
		last(cli.ExitNoProgress, "the same failure came three times")
	case api.UntilNoTries:
		last(cli.ExitNoTries, "--tries is reached")
	default:
	}
	return rec.Failed != nil
}

// lastLine is the last line of an output, short.
func lastLine(output string) string {
	output = strings.TrimSpace(output)
	return termtext.Clip(termtext.Plain(output[strings.LastIndexByte(output, '\n')+1:]), 120)
}
