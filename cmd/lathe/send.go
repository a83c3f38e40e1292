package main

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// send gives the prompt, or lets an interrupted turn go on.
func (r *runner) send(ctx context.Context, p lathe.Prompt, stop context.CancelCauseFunc) error {
	if r.flags.resume {
		cut, err := cli.WasCut(ctx, r.engine, r.session.ID)
		if err != nil {
			return err
		}
		tasks, err := r.backgrounds(ctx)
		if err == nil && !cut && len(tasks) == 0 {
			err = lathe.Errorf(lathe.NotFound, "session %s was not interrupted; `lathe run -s %s WORDS` goes on with it", r.session.ID, r.session.ID)
		}
		if err != nil {
			return err
		}
		r.given.Store(true)
		r.note("> resuming · %s · %s", termtext.Plain(r.session.Title), r.session.ID)
		if err := r.collect(ctx, true); err != nil || !cut {
			return err
		}
		return r.engine.Resume(ctx, r.session.ID)
	}
	if err := r.interruption(ctx); err != nil {
		return err
	}
	if !r.fresh { // what worked for it in a process that has died
		if err := r.collect(ctx, r.resumeMode() == "auto"); err != nil {
			return err
		}
	}
	if r.flags.command != "" {
		r.note("> /%s · %s", termtext.Plain(r.commandName()), r.session.ID)
		go r.submitCommand(ctx, p, stop) // it may ask something, which is answered here
		return nil
	}
	m, err := r.engine.Submit(ctx, r.session.ID, p)
	if err == nil {
		r.given.Store(true)
		r.begin(m)
		return nil
	}
	r.unmake(ctx)
	return err
}

// unmake removes a session that was made for a prompt which could not be sent.
func (r *runner) unmake(ctx context.Context) {
	if r.fresh { // nothing was said in it
		r.tell(r.engine.Remove(ctx, r.session.ID))
	}
}

func (r *runner) commandName() string { return strings.TrimPrefix(r.flags.command, "/") }

// submitCommand sends what a slash command makes of its arguments; if it makes nothing, nobody
// need listen.
func (r *runner) submitCommand(ctx context.Context, p lathe.Prompt, stop context.CancelCauseFunc) {
	_, err := r.engine.SubmitCommand(ctx, r.session.ID, lathe.CommandCall{
		Command: r.commandName(), Arguments: r.arguments, Agent: p.Agent, Model: p.Model, Variant: p.Variant, Parts: p.Parts,
	})
	if err != nil {
		r.unmake(ctx)
		stop(notSent{err})
		return
	}
	r.given.Store(true)
}

// interruption looks whether the session's last turn was cut off: by setting it goes on
// first, or the user is told that it could.
func (r *runner) interruption(ctx context.Context) error {
	if r.fresh {
		return nil
	}
	mode := r.resumeMode()
	cut, err := cli.WasCut(ctx, r.engine, r.session.ID)
	if err != nil || !cut || mode == "off" {
		return err
	}
	if mode == "auto" {
		r.note("> the last turn was cut off and goes on")
		return r.engine.Resume(ctx, r.session.ID)
	}
	r.note("> the last turn was cut off; `lathe run --resume -s %s` would have gone on with it", r.session.ID)
	return nil
}

// resumeMode is what the settings say of turns that were cut off.
func (r *runner) resumeMode() string {
	if r.Attach != "" {
		return "ask" // the server goes on by itself, if its settings say so
	}
	if l, err := r.In(r.session.Directory).Config(); err == nil && l.Config.Resume != "" {
		return l.Config.Resume
	}
	return "ask"
}
