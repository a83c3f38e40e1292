package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// Checks that speak in the result of a call.

const (
	// notesBegin is what stands before the lines of checks in a result.
	notesBegin = "\n\nNote: "
	// cycleTimes is how often a few calls must follow each other to be a cycle.
	cycleTimes, longestCycle = 3, 4
	// failingEdits of one file without success are worth a word.
	failingEdits = 4
	// cycleLevel tells the line about a cycle from others of the same check.
	cycleLevel = 2
	// idleCalls in a row that bring nothing are no progress.
	idleCalls = 15
	// staleCalls since the list of todos was written, some of which changed files, make it stale.
	staleCalls = 12
)

// watcher looks at the results of a step's calls.
type watcher struct {
	checks Checks
	before []*deed // of the turn's earlier steps
	shares []share // of what is bounded
}

// share is how much of something bounded is used.
type share struct {
	used float64 // 1 is all
	left string  // in words: 4 of 20 steps
}

// look returns what checks say about a call that has ended, given those of its own step that
// ended before it.
func (w *watcher) look(now *deed, step []*deed) (found []finding) {
	all := slices.Concat(w.before, step)
	for _, find := range []func([]*deed, *deed) (finding, bool){repeats, cycles, failsAgain, idles, editsTests, staleTodos, w.spends} {
		f, ok := find(all, now)
		if ok && w.checks[f.check] == CheckAct {
			found = append(found, f)
		}
	}
	return found
}

// same reports whether two calls were the same and gave the same.
func (d *deed) same(o *deed) bool {
	return d.tool == o.tool && d.failed == o.failed && d.output == o.output && bytes.Equal(d.input, o.input)
}

// mayChange reports whether what was seen before it may be no longer so.
func (d *deed) mayChange() bool {
	return len(d.wrote) > 0 || d.command != "" && !d.looks || d.tool == "task"
}

// repeats finds a call made before with the same result, when nothing has happened between
// them that could have changed it. The second time says so; the third is the loop guard's.
func repeats(before []*deed, now *deed) (finding, bool) {
	if now.mayChange() && now.command == "" || slices.Contains([]string{"todowrite", "question", "skill"}, now.tool) || waits(now.command) {
		return finding{}, false
	}
	seen := 0
	for _, d := range slices.Backward(before) {
		if d.same(now) {
			if d.old {
				break // it is no longer in view
			}
			seen++
		} else if d.mayChange() {
			break
		}
	}
	if seen != 1 {
		return finding{}, false
	}
	return finding{CheckLoop, 0, fmt.Sprintf("this is the same call of %s as before, with the same result, and nothing was changed between them.", now.tool), "Use what it says, or do something else."}, true
}

// cycles finds a few calls that follow each other over and over, with the same results.
func cycles(before []*deed, now *deed) (finding, bool) {
	said := func(d *deed) bool { return d.levels[CheckLoop] == cycleLevel }
	length := cycleAt(append(slices.Clip(before), now))
	if length == 0 || slices.ContainsFunc(before, said) {
		return finding{}, false
	}
	return finding{CheckLoop, cycleLevel, fmt.Sprintf("the same %d calls were made %s in a row, with the same results.", length, times(cycleTimes)), "They lead nowhere: say what you expected, and try another way."}, true
}

// cycleAt is how many calls make up the cycle that the last ones are in; 0 if there is none.
func cycleAt(all []*deed) int {
	for length := 2; length <= longestCycle; length++ {
		n := len(all) - cycleTimes*length
		if n < 0 {
			break
		}
		run := all[n:]
		repeated := !slices.ContainsFunc(run, func(d *deed) bool { return d.allowed || waits(d.command) })
		for i := length; i < len(run) && repeated; i++ {
			repeated = run[i].same(run[i-length])
		}
		if repeated && slices.ContainsFunc(run, func(d *deed) bool { return !d.same(run[0]) }) {
			return length
		}
	}
	return 0
}

// goesOn reports whether a call would go on with a cycle that has been pointed out.
func (w *watcher) goesOn(step []*deed, tool string, input []byte) bool {
	if w == nil || w.checks[CheckLoop] != CheckAct {
		return false
	}
	all := slices.Concat(w.before, step)
	length := cycleAt(all)
	if length == 0 {
		return false
	}
	next := all[len(all)-length]
	return next.tool == tool && bytes.Equal(next.input, canonical(input))
}

// failsAgain finds the edits of a file that fail one after the other.
func failsAgain(before []*deed, now *deed) (finding, bool) {
	if !now.failed || now.target == "" || now.tool == "read" {
		return finding{}, false
	}
	n := 1
	for _, d := range slices.Backward(before) {
		if d.target != now.target || d.tool == "read" {
			continue
		}
		if !d.failed {
			break
		}
		n++
	}
	if n != failingEdits {
		return finding{}, false
	}
	return finding{CheckLoop, 0, fmt.Sprintf("%d changes of %s have failed in a row.", n, names([]string{now.target})), "Read the lines in question again, then make one smaller change, or write the file as a whole."}, true
}

// idles finds many calls that read no new file, change nothing and say nothing new.
func idles(before []*deed, now *deed) (finding, bool) {
	said := func(d *deed) bool { return slices.Contains(d.checks, CheckNoProgress) }
	heard := func(d *deed) bool { return d.output == now.output }
	if len(before) < idleCalls || !slices.ContainsFunc(before, heard) || slices.ContainsFunc(before, said) {
		return finding{}, false // nearly always, so the rest may take its time
	}
	seen := map[string]bool{}
	idle := 0
	for _, d := range append(slices.Clip(before), now) {
		idle++
		if len(d.wrote) > 0 || !seen[d.output] || waits(d.command) {
			idle = 0
		}
		seen[d.output] = true
	}
	if idle < idleCalls {
		return finding{}, false
	}
	return finding{CheckNoProgress, 0, fmt.Sprintf("the last %d calls read nothing new, changed nothing and printed nothing new.", idle), "Say in one sentence what blocks you, then try something else or conclude."}, true
}

// editsTests finds a change of tests that failed, where nothing else was changed.
func editsTests(before []*deed, now *deed) (finding, bool) {
	if !slices.ContainsFunc(now.wrote, isTestFile) || now.command != "" {
		return finding{}, false
	}
	var failed *deed
	for _, d := range append(slices.Clip(before), now) {
		if slices.Contains(d.checks, CheckTestsEdited) {
			return finding{}, false
		}
		for _, f := range d.wrote {
			if !isTestFile(f) && isCode(f) {
				return finding{}, false
			}
		}
		if d.tests >= 0 && d.test {
			if failed = d; d.tests == 0 {
				failed = nil
			}
		}
	}
	if failed == nil {
		return finding{}, false
	}
	return finding{
		CheckTestsEdited, 0, fmt.Sprintf("%s failed with exit %d, and in this turn only tests were changed (%s), no source.", clipped(failed.command, 60), failed.tests, names(now.wrote)),
		"Make sure that the test was wrong and not the code.",
	}, true
}

// staleTodos finds that much was done since the list was written, and files were changed.
func staleTodos(before []*deed, now *deed) (finding, bool) {
	var files []string
	calls, all := 0, append(slices.Clip(before), now)
	for _, d := range slices.Backward(all) {
		if slices.Contains(d.checks, CheckStaleTodos) {
			return finding{}, false
		}
		if d.tool != "todowrite" || d.failed {
			calls++
			files = append(files, d.wrote...)
			continue
		}
		slices.Sort(files)
		if files = slices.Compact(files); calls < staleCalls || len(files) == 0 || len(d.open) == 0 {
			return finding{}, false
		}
		return finding{
			CheckStaleTodos, 0, fmt.Sprintf("since the list was written there were %s and %s; open on it: %s.", count(calls, "call"), count(len(files), "changed file"), listed(d.open, 3)),
			"Bring it up to date.",
		}, true
	}
	return finding{}, false
}

// budgetMarks are the parts of a budget, in percent, at which what remains is told.
var budgetMarks = [...]int{95, 80, 50}

// spends finds that half, four fifths or nearly all of something bounded is used; each once.
func (w *watcher) spends(before []*deed, _ *deed) (finding, bool) {
	told := 0
	for _, d := range before {
		told = max(told, d.levels[CheckBudget])
	}
	var most share
	for _, s := range w.shares {
		if s.used > most.used {
			most = s
		}
	}
	percent := int(most.used*100 + 1e-9)
	for _, mark := range budgetMarks {
		if percent >= mark {
			return finding{CheckBudget, mark, fmt.Sprintf("%d %% of the budget is used, %s.", min(percent, 100), most.left), ""}, mark > told
		}
	}
	return finding{}, false
}

// watch makes ready to look at the results of a step.
func (r *runner) watch(ctx context.Context, s state) *watcher {
	if len(s.checks) == 0 {
		return nil
	}
	w := &watcher{checks: s.checks, before: s.turn().deeds}
	if s.checks[CheckBudget] == CheckAct {
		w.shares = r.shares(ctx, s)
	}
	return w
}

// shares is how much of its steps, money and time the turn has used.
func (r *runner) shares(ctx context.Context, s state) (out []share) {
	if s.steps > 0 {
		done := s.stepsDone() + 1 // with this one
		out = append(out, share{float64(done) / float64(s.steps), fmt.Sprintf("%d of %d steps remain", s.steps-done, s.steps)})
	}
	accounts, err := r.engine.Accounts(ctx, s.session.ID, r.settings.Budget)
	if err != nil {
		if ctx.Err() == nil {
			r.engine.log.Warn("what is left of the budget is not known", "session", s.session.ID, "error", err)
		}
		return out
	}
	for _, a := range accounts {
		out = append(out, sharesOf(a)...)
	}
	return out
}

// sharesOf is how much of an account is used.
func sharesOf(a lathe.Account) (out []share) {
	add := func(spent, limit float64, left string) {
		if limit > 0 {
			out = append(out, share{spent / limit, left})
		}
	}
	l, s := a.Limit, a.Spent
	add(float64(s.Cost), float64(l.Cost), fmt.Sprintf("%s of %s remain", l.Cost-min(s.Cost, l.Cost), l.Cost))
	add(float64(s.Tokens), float64(l.Tokens), fmt.Sprintf("%d of %d tokens remain", max(l.Tokens-s.Tokens, 0), l.Tokens))
	add(float64(s.Steps), float64(l.Steps), fmt.Sprintf("%d of %d steps remain", max(l.Steps-s.Steps, 0), l.Steps))
	add(float64(s.Time), float64(l.Time), fmt.Sprintf("%s of %s remain", max(l.Time-s.Time, 0).Round(time.Second), l.Time))
	return out
}

// noted is what checks say about a call that is about to settle. Refusals and cancels stay as
// they are.
func (f *fold) noted(c *call, settled *lathe.ToolCall) []finding {
	if f.watch == nil || c.tool == nil {
		return nil
	}
	now := readDeed(settled)
	if now.stopped || hasMark(metadataOf(settled.State), interruptedMark) {
		return nil
	}
	return f.watch.look(now, f.settled())
}

// settled are the calls of the step that have ended.
func (f *fold) settled() (step []*deed) {
	if f.watch == nil {
		return nil
	}
	for _, c := range f.order {
		if c.body().Settled() {
			step = append(step, readDeed(c.body()))
		}
	}
	return step
}

// withNotes is a text with the lines of checks behind it, and metadata that names them.
func withNotes(text string, meta json.RawMessage, found []finding) (string, json.RawMessage) {
	if len(found) == 0 {
		return text, meta
	}
	var lines []string
	for _, f := range found {
		lines = append(lines, f.words())
	}
	return strings.TrimRight(text, "\n") + notesBegin + strings.Join(lines, "\nNote: "), withSpoken(meta, found...)
}

// ended takes note of what a call has shown: what checks said of it, and how tests are run.
func (s *stepping) ended(c *call) {
	if s.fold.watch == nil || !c.body().Settled() {
		return
	}
	d := readDeed(c.body())
	for _, name := range d.checks {
		s.engine.log.Info("a check fired", "session", s.session.ID, "check", name, "told", "the model", "tool", d.tool)
	}
	if command := testCommand(d.command); s.settings.Checks[CheckTestMemory] != CheckOff && d.tests >= 0 && command != "" {
		s.facts = append(s.facts, &lathe.TestsRan{Session: s.session.ID, Project: testedIn(s.session), Run: lathe.TestRun{Command: command, Exit: d.tests, At: s.engine.now()}})
	}
}
