package eval

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/run"
	"github.com/lathe-agent/lathe/cli/turn"
	cases "github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/harness/repeat"
	"github.com/lathe-agent/lathe/harness/trial"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tool/bash"
)

// evaluation is an eval at work.
type evaluation struct {
	*cli.App
	setup   *harness.Harness
	flags   evalFlags
	file    *cases.File     // with the flags applied and absolute paths
	plan    []cases.Run     // all runs, also those that are done
	store   *store          // open as long as the eval
	bases   *trial.Bases    // projects that copies are made of
	reader  trial.Reader    // limits what they may have
	repeats repeat.Runs     // runs the checks
	parent  lathe.Session   // of the sessions of all runs; it has the budget
	budget  float64         // of the whole eval, in dollars; 0 is no limit
	forks   map[string]fork // by name of the case
	before  cases.Results   // in the result file
	tally
}

// tally is what the runs have brought so far.
type tally struct {
	mu      sync.Mutex              // guards the fields below
	latest  map[string]cases.Result // by key
	done    int                     // runs that need no repetition, and errors
	cost    float64                 // of all runs, also of those that were stopped
	isSpent bool                    // the budget of the eval ended it
}

// fork is where the runs of a case continue a session.
type fork struct {
	session lathe.Session
	start   run.ForkStart
}

// open prepares everything that can fail before money is spent.
func (v *evaluation) open(ctx context.Context, name string) (err error) {
	e, at := v.setup.Engine, v.setup.Folders
	results := v.flags.results
	if results == "" {
		results = strings.TrimSuffix(name, filepath.Ext(name)) + ".results.jsonl"
	}
	v.reader = readerOf(v)
	for _, p := range []string{name, results, v.flags.report, v.flags.baseline} {
		if p != "" {
			v.reader.Skip = append(v.reader.Skip, bash.FollowLinks(pathOf(v.App, p)))
		}
	}
	if v.bases, err = trial.OpenBases(ctx, e, filepath.Join(at.Data, "eval")); err != nil {
		return err
	}
	if err := v.findForks(ctx); err != nil {
		return err
	}
	if err := v.makePlan(ctx); err != nil {
		return err
	}
	if v.store, v.before, err = openStore(pathOf(v.App, results)); err != nil {
		return err
	}
	if v.flags.fresh && len(v.before.All) > 0 {
		if err := v.store.add(cases.Result{Key: "fresh", Fresh: true}); err != nil {
			return err
		}
		v.before.All = nil
	}
	if err := v.settleCut(ctx); err != nil {
		return err
	}
	v.hide()
	v.latest = v.before.Kept(v.plan)
	v.cost = v.before.Cost(v.plan)
	v.budget = cmp.Or(v.flags.budget, v.file.Budget)
	return nil
}

// findForks finds the sessions of cases that continue one.
func (v *evaluation) findForks(ctx context.Context) error {
	v.forks = map[string]fork{}
	for _, c := range v.file.Cases {
		if c.Source.Session == "" {
			continue
		}
		s, err := v.Find(ctx, v.setup.Engine, c.Source.Session)
		if err != nil {
			return lathe.Errorf(lathe.CodeOf(err), "case %s: %w", c.Name, err)
		}
		start, err := run.FindFork(ctx, v.setup.Engine, s, c.Source.Step)
		if err != nil {
			return lathe.Errorf(lathe.CodeOf(err), "case %s: %w", c.Name, err)
		}
		v.forks[c.Name] = fork{s, start}
	}
	return nil
}

// settleCut records what runs of a killed process have cost, and removes their sessions, which nothing can resume: their
// projects are gone.
func (v *evaluation) settleCut(ctx context.Context) error {
	e := v.setup.Engine
	for _, r := range v.before.Cut() {
		all, err := e.Accounts(ctx, r.Session, lathe.Budget{})
		if err == nil && len(all) > 0 {
			r.Cost = all[0].Spent.Cost.Dollars()
		}
		if v.isOwn(ctx, r.Session) {
			if err := e.Remove(ctx, r.Session); err != nil {
				return err
			}
			confine.RemoveSessionTemp(v.setup.Folders, r.Session)
		}
		r.Began, r.End, r.Error, r.At = false, cases.Interrupted, "the process was killed", v.Now().UTC()
		if err := v.store.add(r); err != nil {
			return err
		}
		v.before.All = append(v.before.All, r)
	}
	return nil
}

// isOwn reports whether a session is that of a run. A result file of a stranger must not name others for removal.
func (v *evaluation) isOwn(ctx context.Context, id lathe.SessionID) bool {
	s, err := v.setup.Engine.Get(ctx, id)
	if err != nil || s.Parent == "" {
		return false
	}
	parent, err := v.setup.Engine.Get(ctx, s.Parent)
	return err == nil && strings.HasPrefix(parent.Title, titlePrefix)
}

// titlePrefix begins the titles of the sessions above those of runs.
const titlePrefix = "Eval "

// close removes the copies and gives back the result file.
func (v *evaluation) close(ctx context.Context) error {
	var errs []error
	if v.bases != nil {
		errs = append(errs, v.bases.Close(ctx, v.setup.Engine))
	}
	if v.store != nil {
		errs = append(errs, v.store.close())
	}
	return errors.Join(errs...)
}

// run runs what has no result yet. Its error is that of the eval, not of a run.
func (v *evaluation) run(ctx context.Context) error {
	var todo []cases.Run
	for _, p := range v.plan {
		if _, ok := v.latest[p.Key]; !ok {
			todo = append(todo, p)
		}
	}
	v.done = len(v.plan) - len(todo)
	jobs := min(cmp.Or(v.flags.jobs, v.file.Jobs, 1), max(len(todo), 1))
	v.announce(len(todo), jobs)
	if len(todo) == 0 {
		return nil
	}
	left := v.budget - v.cost
	if v.isSpent = v.budget > 0 && left <= 0; v.isSpent {
		return errBudget
	}
	if err := v.begin(ctx, left); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan cases.Run) // unbuffered, so that no run begins after the eval was stopped
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for p := range next {
				if err := v.one(ctx, p); err != nil {
					stop(err)
				}
			}
		})
	}
feed:
	for _, p := range todo {
		select {
		case next <- p:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// announce says what will run.
func (v *evaluation) announce(todo, jobs int) {
	text := termtext.Plural(len(v.plan), "run")
	if v.done > 0 {
		text += ", " + termtext.Count(v.done) + " already done"
	}
	if todo > 0 && jobs > 1 {
		text += ", " + termtext.Count(jobs) + " at a time"
	}
	v.Notify("%s: %s. Results: %s", termtext.Plain(v.file.Name), text, v.DisplayPath(v.store.name))
}

// begin creates the session above those of all runs. Its limit holds for all of them together.
func (v *evaluation) begin(ctx context.Context, left float64) (err error) {
	e := v.setup.Engine
	v.parent, err = e.Create(ctx, v.Dir, lathe.NewSession{Title: titlePrefix + termtext.Clip(termtext.Plain(v.file.Name), 60), Rules: turn.UnattendedRules()})
	if err != nil || v.budget == 0 {
		return err
	}
	return e.SetLimits(ctx, v.parent.ID, lathe.Spending{Cost: lathe.Dollars(left)})
}

// one runs a run and keeps its result. An error ends the eval.
func (v *evaluation) one(ctx context.Context, p cases.Run) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	t := &trialRun{evaluation: v, Run: p, result: cases.Result{Key: p.Key, Case: p.Case.Name, Model: cases.ModelName(p.Model), Run: p.Number}}
	began := v.Now()
	err := t.work(ctx)
	r := &t.result
	r.At, r.Seconds = v.Now().UTC(), v.Now().Sub(began).Seconds()
	switch cause := context.Cause(ctx); {
	case cause != nil:
		r.End, r.Error = cases.Interrupted, "the eval was stopped"
	case err != nil:
		r.End, r.Error = cases.Failed, termtext.OneLine(err.Error())
	}
	if !r.Counts() {
		r.Passed = false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.latest[p.Key], v.cost = *r, v.cost+r.Cost
	if err := v.store.add(*r); err != nil {
		return err
	}
	if r.Counts() || r.End == cases.Failed {
		v.done++
		v.progress(*r)
	}
	if r.End == cases.Stopped {
		v.isSpent = true
		return errBudget
	}
	return nil
}

// progress prints a line about a run that ended.
func (v *evaluation) progress(r cases.Result) {
	word := "failed"
	switch {
	case r.Passed:
		word = "passed"
	case r.End == cases.Failed:
		word = "error: " + termtext.Clip(r.Error, 200)
	}
	if r.Counts() && r.End != cases.Done {
		word += " (" + string(r.End) + " limit)"
	}
	v.Notify("[%d/%d] %s · %s · run %d: %s · %s · %s", v.done, len(v.plan), termtext.Plain(r.Case), termtext.Plain(r.Model), r.Run, word, cases.Money(r.Cost), cases.Seconds(r.Seconds))
}
