package eval

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path/filepath"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/run"
	"github.com/lathe-agent/lathe/cli/turn"
	"github.com/lathe-agent/lathe/engine/until"
	cases "github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/harness/trial"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// trialRun is one run at work.
type trialRun struct {
	*evaluation
	cases.Run
	result  cases.Result
	tree    *worktree.Tree // the scratch copy
	session lathe.Session  // has no ID before it is created
	prompt  lathe.Prompt
	record  turn.Record // of the turn, after its end
}

// work makes the copy, lets the model work in it, and checks the result. An error says nothing about the model.
func (t *trialRun) work(ctx context.Context) (err error) {
	release, err := t.makeCopy(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if failed := t.drop(ctx, release); failed != nil {
			err = cmp.Or(err, failed)
		}
	}()
	overlay, err := trial.ReadOverlay(t.tree.Directory, t.Case.Check)
	if err != nil {
		return err
	}
	if err := t.openSession(ctx); err != nil {
		return err
	}
	if err := t.tree.Update(ctx, func(r *worktree.Record) { r.Session, r.Parent = t.session.ID, t.parent.ID }); err != nil {
		return err
	}
	if err := t.setup.Engine.Trees().SetUp(ctx, t.tree, ""); err != nil {
		return err
	}
	// The files are those of the pristine copy: the setup command may have made some of them.
	locked := t.repeats.Lock(t.Case.Check.Command, t.tree.Directory)
	defer locked.Release()
	if err := t.turn(ctx); err != nil || !t.result.Counts() {
		return err
	}
	if err := t.diff(ctx); err != nil {
		return err
	}
	replaced := overlay.Paths(t.tree.Directory)
	for _, path := range locked.Changed(t.repeats, replaced) {
		if rel, err := filepath.Rel(t.tree.Directory, path); err == nil {
			path = rel
		}
		t.result.Changed = append(t.result.Changed, path)
	}
	locked.Release() // the check may write them
	if err := overlay.Write(ctx, t.tree.Directory, t.reader); err != nil {
		return err
	}
	return t.check(ctx)
}

// makeCopy makes the scratch copy of the project.
func (t *trialRun) makeCopy(ctx context.Context) (release func(), err error) {
	e := t.setup.Engine
	dir := t.forks[t.Case.Name].session.Directory
	if dir == "" {
		if dir, err = t.bases.Make(ctx, t.Case.Source, t.reader); err != nil {
			return nil, err
		}
	}
	at, err := e.Locate(ctx, dir)
	if err != nil {
		return nil, err
	}
	t.tree, release, err = e.Trees().Create(ctx, at, worktree.Options{Parent: t.parent.ID, Scratch: true})
	return release, err
}

// drop removes the copy with all that still runs in it.
func (t *trialRun) drop(ctx context.Context, release func()) error {
	ctx = context.WithoutCancel(ctx)
	if t.session.ID != "" {
		_ = t.setup.Engine.Cancel(ctx, t.session.ID) // it has ended in most cases
		t.setup.Runner.EndSession(string(t.session.ID))
		confine.RemoveSessionTemp(t.setup.Folders, t.session.ID)
	}
	release()
	const wait, most = 20 * time.Millisecond, 10 * time.Second
	for waited := time.Duration(0); ; waited += wait {
		_, err := t.tree.Drop(ctx, true)
		if err == nil {
			return nil
		}
		if lathe.CodeOf(err) != lathe.Conflict || waited >= most { // else the turn still lets go of it
			return lathe.Errorf(lathe.Unavailable, "remove the copy of a run: %w; run `lathe worktree drop --force %s`", err, t.tree.Name)
		}
		time.Sleep(wait)
	}
}

// openSession creates the session, or copies that of the case up to its step, and sets the limits.
func (t *trialRun) openSession(ctx context.Context) (err error) {
	e := t.setup.Engine
	t.prompt = lathe.Prompt{Agent: t.Case.Agent, Parts: []lathe.Part{{Body: &lathe.Text{Text: t.Case.Prompt}}}}
	if f, ok := t.forks[t.Case.Name]; ok {
		if t.session, _, err = e.Trees().ForkStep(ctx, t.tree, f.session.ID, f.start.Answers(), t.parent); err != nil {
			return err
		}
		if t.Case.Prompt == "" {
			t.prompt = f.start.Prompt()
		}
	} else {
		inst, err := e.Instance(ctx, t.tree.Directory)
		if err != nil {
			return err
		}
		if t.session, err = e.CreateNext(ctx, inst, lathe.NewSession{Parent: t.parent.ID, Title: termtext.Clip(t.Case.Name, 60), Rules: t.parent.Rules}); err != nil {
			return err
		}
	}
	if t.Model != "" {
		vendor, name, err := catalog.Split(t.Model)
		if err != nil {
			return err
		}
		t.prompt.Model = &lathe.ModelRef{Provider: vendor, Model: name}
	}
	t.result.Session = t.session.ID
	l := t.Case.Limits
	limits := lathe.Spending{Cost: lathe.Dollars(cmp.Or(l.Budget, t.budget)), Tokens: l.Tokens, Steps: l.Steps, Time: l.Timeout}
	if err := e.SetLimits(ctx, t.session.ID, limits); err != nil {
		return err
	}
	began := cases.Result{Key: t.Key, Case: t.Case.Name, Model: cases.ModelName(t.Model), Run: t.Number, Session: t.session.ID, Began: true}
	return t.store.add(began)
}

// timeoutGrace is how long a turn may take to end by itself after its time.
const timeoutGrace = 10 * time.Second

// turn lets the model work, and finds out why it ended.
func (t *trialRun) turn(ctx context.Context) (err error) {
	limited, cancel := context.WithTimeout(ctx, t.Case.Limits.Timeout+timeoutGrace)
	defer cancel()
	var ran error
	t.record, ran = run.Unattended(limited, t.InDir(t.tree.Directory), t.setup, t.session, t.prompt, t.flags.yes, func(text string) {
		t.Log.Info("eval", "case", t.Case.Name, "model", t.Model, "run", t.Number, "note", text)
	})
	if limited.Err() != nil { // the limit of the session did not end it, or the user did
		if err := t.setup.Engine.Cancel(context.WithoutCancel(ctx), t.session.ID); err != nil {
			return err
		}
	}
	t.setup.Runner.EndSession(string(t.session.ID)) // its processes must not reach the check
	if err := t.count(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		t.result.End = cases.ByTimeout
	case ran != nil:
		return ran
	case t.record.Failed == nil:
		t.result.End = cases.Done
	case cli.ExitCodeOf(t.record.Failed) != cli.ExitBudget:
		return t.record.Failed
	case t.result.End == cases.Stopped:
		t.result.Error = "the eval has reached its budget"
	}
	return nil
}

// count reads what the session and its subagents have used, and which of its limits is the closest.
func (t *trialRun) count(ctx context.Context) error {
	e := t.setup.Engine
	at, err := e.Locate(ctx, t.tree.Directory)
	if err != nil {
		return err
	}
	k, err := t.setup.ConfigFor(at)
	if err != nil {
		return err
	}
	all, err := e.Accounts(ctx, t.session.ID, k.Settings.Budget)
	if err != nil {
		return err
	}
	t.result.End = t.limitOf(all)
	return nil
}

// limitOf finds the limit that has the least left, and notes what was used.
func (t *trialRun) limitOf(all []lathe.Account) cases.End {
	end, left, part := cases.Stopped, math.Inf(1), 1.0 // money that is left, and its part of the limit
	var own lathe.Account
	for _, a := range all {
		isOwn := a.Kind == lathe.SessionAccount && a.Key == string(t.session.ID)
		if isOwn {
			own = a
		}
		limit, rest := a.Limit.Cost.Dollars(), a.Limit.Cost.Dollars()-a.Spent.Cost.Dollars()
		if limit <= 0 || rest >= left || isOwn && t.Case.Limits.Budget == 0 { // its limit is then that of the eval
			continue
		}
		if end, left, part = cases.Stopped, rest, rest/limit; isOwn {
			end = cases.ByBudget
		}
	}
	s, l := own.Spent, own.Limit
	t.result.Steps, t.result.Tokens, t.result.Cost = s.Steps, s.Tokens, s.Cost.Dollars()
	switch {
	case l.Steps > 0 && s.Steps >= l.Steps:
		return cases.BySteps
	case l.Time > 0 && s.Time >= l.Time-time.Second/2:
		return cases.ByTimeout
	case l.Tokens > 0 && 1-float64(s.Tokens)/float64(l.Tokens) < part:
		return cases.ByTokens
	}
	return end
}

// diff measures the changes of the agent.
func (t *trialRun) diff(ctx context.Context) error {
	var all []lathe.FileDiff
	if _, ok := t.forks[t.Case.Name]; ok { // the copy itself differs from the checkout by later steps, too
		for _, id := range t.record.Prompts {
			more, err := t.setup.Engine.Diff(ctx, t.session.ID, id)
			if err != nil {
				return err
			}
			all = append(all, more...)
		}
	} else {
		var err error
		if all, err = t.tree.Diff(ctx); err != nil {
			return err
		}
	}
	for _, d := range all {
		t.result.Files, t.result.Additions, t.result.Deletions = t.result.Files+1, t.result.Additions+d.Additions, t.result.Deletions+d.Deletions
	}
	return nil
}

// check runs the command that decides.
func (t *trialRun) check(ctx context.Context) error {
	exit, output, err := t.repeats.RunOnce(ctx, t.session, t.Case.Check.Command, t.Case.Check.Timeout)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return errors.Join(errors.New("the check could not run"), err)
	}
	t.result.Exit = &exit
	t.result.Passed = exit == 0 && len(t.result.Changed) == 0
	if !t.result.Passed {
		t.result.Output = until.Tail(output, 2000)
	}
	return nil
}
