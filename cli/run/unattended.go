package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/turn"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
)

// Unattended runs a prompt in a session to the end of its turn, without a person to answer. With yes, permission requests
// are approved as by --yes; others are refused. A failure of the turn is in the record.
func Unattended(ctx context.Context, a *cli.App, h *harness.Harness, s lathe.Session, p lathe.Prompt, yes bool, note func(string)) (turn.Record, error) {
	r := &runner{App: a, flags: runFlags{format: "default", auto: yes, environment: h}}
	r.turn = &turn.Turn{Engine: h.Engine, Session: s, Fresh: true, Log: a.Log, Now: a.Now}
	out := quiet{note: note}
	r.out, r.turn.Sink, r.turn.Permit = out, out, r.permit
	r.turn.Send = func(ctx context.Context, fail func(error)) error { return r.send(ctx, p, fail) }
	err := r.turn.Run(ctx)
	return r.turn.Record, err
}

// CheckModel returns the whole name of a model, and for "" that of the default model; "" then means that the agent has
// its own. A model or agent that does not exist is an error.
func CheckModel(ctx context.Context, a *cli.App, h *harness.Harness, model, agent string) (string, error) {
	f := runFlags{format: "default", model: model, agent: agent}
	if err := haveModel(ctx, a, h, &f); err != nil || f.model != "" {
		return f.model, err
	}
	at, err := h.Engine.Locate(ctx, a.Dir)
	if err != nil {
		return "", err
	}
	settings, err := h.Settings(ctx, at)
	if err != nil {
		return "", err
	}
	agent = cmp.Or(agent, settings.DefaultAgent)
	m := settings.DefaultModel
	if m.Model == "" || slices.ContainsFunc(settings.Agents, func(x engine.Agent) bool { return x.Model != nil && x.Name == agent }) {
		return "", nil
	}
	return m.Provider + "/" + m.Model, nil
}

// ForkStart is where an eval continues a session: its state before a step.
type ForkStart struct{ point forkPoint }

// FindFork finds the state before a step of a session.
func FindFork(ctx context.Context, e *engine.Engine, s lathe.Session, step string) (ForkStart, error) {
	p, err := findFork(ctx, e, s, step)
	return ForkStart{p}, err
}

// Answers is the number of answers before the step.
func (f ForkStart) Answers() int { return f.point.answers }

// Prompt is the prompt that leads to the step.
func (f ForkStart) Prompt() lathe.Prompt {
	return lathe.Prompt{Agent: f.point.agent, Parts: f.point.parts}
}
