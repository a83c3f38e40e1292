package run

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/replay"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// forkPoint is the state before a step of a session, where tries of other models start.
type forkPoint struct {
	from    lathe.Session
	answers int // before the step, as the store counts steps
	steps   int // before the step, as a replay counts them
	agent   string
	parts   []lathe.Part // of the prompt
}

// Forks lets other models continue a session before a step, each in its own worktree.
func Forks(ctx context.Context, a *cli.App, s lathe.Session, in session.ForkFlags) (err error) {
	own := *a // worktrees are copies of the checkout of the session
	own.Dir = s.Directory
	f := runFlags{format: "default", auto: in.Yes, maxCost: in.Budget}
	f.tries = triesFlags{count: len(in.Models), check: in.Check, merge: in.Merge, json: a.JSON, diff: in.Diff}
	f.models, f.worktree = in.Models, "fork"
	setup, err := harness.Open(ctx, &own.Host, harness.Options{Headless: isHeadless(&own, f), Tracer: own.Tracer})
	if err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(setup, err) }()
	point, err := findFork(ctx, setup.Engine, s, in.From)
	if err != nil {
		return err
	}
	for i, name := range f.models { // all of them, before a worktree exists
		g := f
		g.model = name
		if err := haveModel(ctx, &own, setup, &g); err != nil {
			return err
		}
		f.models[i] = g.model
	}
	f.tries.from, f.title, f.environment = &point, "Fork onto other models: "+termtext.Clip(termtext.OneLine(s.Title), 60), setup
	return runTries(ctx, &own, setup, f, "")
}

// findFork finds the state before a step, and the prompt that leads to it: that of the user if the step is the first
// answer to it, else a request to continue.
func findFork(ctx context.Context, e *engine.Engine, s lathe.Session, from string) (forkPoint, error) {
	page, err := e.Messages(ctx, s.ID, lathe.Position{}, 0)
	if err != nil {
		return forkPoint{}, err
	}
	steps, err := replay.Range(replay.Steps(page.Messages), from, "")
	if err != nil {
		return forkPoint{}, err
	}
	p := forkPoint{from: s, steps: steps[0].Number - 1, agent: steps[0].Agent}
	for _, m := range page.Messages[:steps[0].Index] {
		if _, ok := m.Data.(*lathe.Assistant); ok {
			p.answers, p.parts = p.answers+1, nil
			continue
		}
		for _, part := range m.Parts {
			switch b := part.Body.(type) {
			case *lathe.Text:
				if !b.Synthetic.On() && !b.Ignored.On() {
					p.parts = append(p.parts, lathe.Part{Body: &lathe.Text{Text: b.Text}})
				}
			case *lathe.File:
				p.parts = append(p.parts, lathe.Part{Body: b})
			default: // the engine adds the others again
			}
		}
	}
	if len(p.parts) == 0 {
		p.parts = []lathe.Part{{Body: &lathe.Text{Text: "Continue with the task."}}}
	}
	return p, e.Trees().CheckFork(ctx, s.ID, p.answers) // before a worktree exists
}

// open copies the session into the worktree of a try, with the files before the step.
func (p *forkPoint) open(ctx context.Context, a *cli.App, e *engine.Engine, t *try, parent lathe.Session) (lathe.Session, error) {
	s, left, err := e.Trees().ForkStep(ctx, t.tree.tree, p.from.ID, p.answers, parent)
	if err != nil {
		return s, err
	}
	for _, f := range left {
		a.Notify("%s: left as it is now: %s (%s)", t.Name, termtext.Plain(f.File), termtext.Plain(f.Conflict))
	}
	return s, nil
}

// forkDiffs are the changes since the fork: the worktree itself differs from the checkout by later steps, too.
func (t *try) forkDiffs(ctx context.Context, e *engine.Engine) ([]lathe.FileDiff, error) {
	if len(t.prompts) == 0 {
		return nil, nil
	}
	return e.Trees().DiffSince(ctx, t.Session, t.prompts[0])
}
