package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/tool"
)

// Checks of package check, as turns need them.

// endCheck writes what checks have found before the turn ends.
type endCheck struct{ check.Result }

func (endCheck) next() {}

// loadChecks takes what checks need of the settings and the project.
func (r *runner) loadChecks(ctx context.Context, s *state) {
	in := &s.checked
	in.Checks = r.settings.Checks
	if len(in.Checks) == 0 {
		return
	}
	in.Read = &r.read
	in.IsDeleted = func(file string) bool {
		_, err := os.Lstat(file)
		return errors.Is(err, fs.ErrNotExist)
	}
	if r.agent != nil {
		// One that may write its plan and nothing else changes nothing.
		in.Edits = !tool.Hidden(r.agent.Rules, s.session.Rules)(tool.Spec{Name: "edit"}) && r.agent.permissions().Evaluate("edit", "*").Action != lathe.Deny
	}
	if in.Checks[check.TestMemory] == check.Off {
		return
	}
	var err error
	if in.Tests, err = r.engine.store.LastTestRun(ctx, testCommandKey(s.session)); err != nil && ctx.Err() == nil {
		r.engine.log.Warn("test command not loaded", "session", s.session.ID, "error", err)
	}
}

// check writes the issues that checks have found as a synthetic prompt to the model. The prompt
// does not start a new turn, so the step count continues.
func (r *runner) check(ctx context.Context, s state, c check.Result) error {
	var facts []lathe.Fact
	at := r.engine.now()
	asked := history.LastAnswer(s.messages).Data.(*lathe.Assistant).Parent
	fired := func(f check.Issue, recipient string) {
		r.engine.log.Info("check reported an issue", "session", s.session.ID, "check", f.Check, "recipient", recipient)
	}
	for _, f := range c.ToUser {
		fired(f, "people")
		// On the prompt: programs take the last text after it for the answer.
		facts = append(facts, &lathe.PartChanged{Time: at, Part: r.log.newPart(asked, &lathe.Text{
			Text: f.Fact, Synthetic: lathe.Yes, Ignored: lathe.Yes, Metadata: check.WithMeta(nil, f),
		})})
	}
	if len(c.ToModel) > 0 {
		var words []string
		for _, f := range c.ToModel {
			fired(f, "the model")
			words = append(words, f.Text())
		}
		facts = append(append(facts, r.log.busyFact()), r.log.message(r.engine.now(), samePrompt(r.user.Data.(*lathe.User)), &lathe.Text{
			Text: strings.Join(words, "\n\n"), Synthetic: lathe.Yes, Metadata: check.WithMeta(nil, c.ToModel...),
		})...)
	}
	return r.log.write(ctx, facts...)
}

// watch makes ready to look at the results of a step.
func (r *runner) watch(ctx context.Context, s state) *check.ResultChecker {
	if len(s.checked.Checks) == 0 {
		return nil
	}
	in := s.checkInput()
	w := check.NewResultChecker(in)
	if in.Checks[check.Budget] == check.Act {
		w.Used = r.usedFractions(ctx, s)
	}
	return w
}

// usedFractions are the used parts of the turn's steps, money and time.
func (r *runner) usedFractions(ctx context.Context, s state) (out []check.UsedFraction) {
	if s.steps > 0 {
		done := s.stepsDone() + 1 // with this one
		out = append(out, check.UsedFraction{Used: float64(done) / float64(s.steps), Left: fmt.Sprintf("%d of %d steps remain", s.steps-done, s.steps)})
	}
	accounts, err := r.engine.Accounts(ctx, s.session.ID, r.settings.Budget)
	if err != nil {
		if ctx.Err() == nil {
			r.engine.log.Warn("remaining budget not loaded", "session", s.session.ID, "error", err)
		}
		return out
	}
	for _, a := range accounts {
		out = append(out, check.UsedFractions(a)...)
	}
	return out
}

// noteResult records the outcome of a call: its issues, and how tests are run.
func (s *stepRun) noteResult(c *fold.Call) {
	if s.fold.Checker == nil || !c.Body().Settled() {
		return
	}
	d := check.ReadAction(c.Body())
	for _, name := range d.Checks {
		s.engine.log.Info("check reported an issue", "session", s.session.ID, "check", name, "recipient", "the model", "tool", d.Tool)
	}
	if command := check.TestCommand(d.Command); s.settings.Checks[check.TestMemory] != check.Off && d.Tests >= 0 && command != "" {
		s.batch.add(&lathe.TestsRan{Session: s.session.ID, Project: testCommandKey(s.session), Run: lathe.TestRun{Command: command, Exit: d.Tests, At: s.engine.now()}})
	}
}

// testCommandKey is the key of a stored test command: the project, or the directory of a session
// without one, because such sessions share the global project.
func testCommandKey(s lathe.Session) string {
	if s.Project == lathe.GlobalProject {
		return s.Directory
	}
	return s.Project
}
