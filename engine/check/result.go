package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// Checks that add a line to the result of a call.

const (
	// notesBegin precedes the lines of checks in a result.
	notesBegin = "\n\nNote: "
	// cycleTimes is how often a few calls must follow each other to be a cycle.
	cycleTimes, longestCycle = 3, 4
	// failingEdits of one file without success are worth a word.
	failingEdits = 4
	// cycleLevel distinguishes the issue about a cycle from others of the same check.
	cycleLevel = 2
	// idleCalls in a row that bring nothing are no progress.
	idleCalls = 15
	// staleCalls since the list of todos was written, some of which changed files, make it stale.
	staleCalls = 12
)

// ResultChecker looks at the results of a step's calls.
type ResultChecker struct {
	checks Checks
	before []*Action      // of the turn's earlier steps
	Used   []UsedFraction // of what is bounded
}

// UsedFraction is how much of something bounded is used.
type UsedFraction struct {
	Used float64 // 1 is all
	Left string  // in words: 4 of 20 steps
}

// NewResultChecker knows what the turn has done so far.
func NewResultChecker(in Input) *ResultChecker {
	return &ResultChecker{checks: in.Checks, before: in.turn().actions}
}

// Check returns the issues of a finished call, given the calls of its step that ended before
// it.
func (w *ResultChecker) Check(now *Action, step []*Action) (found []Issue) {
	all := slices.Concat(w.before, step)
	for _, find := range []func([]*Action, *Action) (Issue, bool){repeats, cycles, failsAgain, idles, editsTests, staleTodos, w.nearsBudget} {
		f, ok := find(all, now)
		if ok && w.checks[f.Check] == Act {
			found = append(found, f)
		}
	}
	return found
}

// same reports whether two calls were the same and gave the same.
func (d *Action) same(o *Action) bool {
	return d.Tool == o.Tool && d.failed == o.failed && d.output == o.output && bytes.Equal(d.input, o.input)
}

// mayChange reports whether what was seen before it may be no longer so.
func (d *Action) mayChange() bool {
	return len(d.wrote) > 0 || d.Command != "" && !d.readOnly || d.Tool == "task"
}

// repeats finds a call made before with the same result, when nothing has happened between
// them that could have changed it. The second time says so; the third is the loop guard's.
func repeats(before []*Action, now *Action) (Issue, bool) {
	if now.mayChange() && now.Command == "" || slices.Contains([]string{"todowrite", "question", "skill"}, now.Tool) || isPolling(now.Command) {
		return Issue{}, false
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
		return Issue{}, false
	}
	return Issue{Loop, 0, fmt.Sprintf("this is the same call of %s as before, with the same result, and nothing was changed between them.", now.Tool), "Use what it says, or do something else."}, true
}

// cycles finds a few calls that follow each other over and over, with the same results.
func cycles(before []*Action, now *Action) (Issue, bool) {
	said := func(d *Action) bool { return d.levels[Loop] == cycleLevel }
	length := cycleAt(append(slices.Clip(before), now))
	if length == 0 || slices.ContainsFunc(before, said) {
		return Issue{}, false
	}
	return Issue{Loop, cycleLevel, fmt.Sprintf("the same %d calls were made %s in a row, with the same results.", length, times(cycleTimes)), "They lead nowhere: say what you expected, and try another way."}, true
}

// cycleAt is how many calls make up the cycle that the last ones are in; 0 if there is none.
func cycleAt(all []*Action) int {
	for length := 2; length <= longestCycle; length++ {
		n := len(all) - cycleTimes*length
		if n < 0 {
			break
		}
		run := all[n:]
		repeated := !slices.ContainsFunc(run, func(d *Action) bool { return d.allowed || isPolling(d.Command) })
		for i := length; i < len(run) && repeated; i++ {
			repeated = run[i].same(run[i-length])
		}
		if repeated && slices.ContainsFunc(run, func(d *Action) bool { return !d.same(run[0]) }) {
			return length
		}
	}
	return 0
}

// ContinuesCycle reports whether a call would continue a cycle that has been pointed out.
func (w *ResultChecker) ContinuesCycle(step []*Action, tool string, input []byte) bool {
	if w == nil || w.checks[Loop] != Act {
		return false
	}
	all := slices.Concat(w.before, step)
	length := cycleAt(all)
	if length == 0 {
		return false
	}
	next := all[len(all)-length]
	return next.Tool == tool && bytes.Equal(next.input, history.Canonical(input))
}

// failsAgain finds the edits of a file that fail one after the other.
func failsAgain(before []*Action, now *Action) (Issue, bool) {
	if !now.failed || now.target == "" || now.Tool == "read" {
		return Issue{}, false
	}
	n := 1
	for _, d := range slices.Backward(before) {
		if d.target != now.target || d.Tool == "read" {
			continue
		}
		if !d.failed {
			break
		}
		n++
	}
	if n != failingEdits {
		return Issue{}, false
	}
	return Issue{Loop, 0, fmt.Sprintf("%d changes of %s have failed in a row.", n, shortNames([]string{now.target})), "Read the lines in question again, then make one smaller change, or write the file as a whole."}, true
}

// idles finds many calls that read no new file, change nothing and say nothing new.
func idles(before []*Action, now *Action) (Issue, bool) {
	said := func(d *Action) bool { return slices.Contains(d.Checks, NoProgress) }
	sameOutput := func(d *Action) bool { return d.output == now.output }
	if len(before) < idleCalls || !slices.ContainsFunc(before, sameOutput) || slices.ContainsFunc(before, said) {
		return Issue{}, false // nearly always, so the rest may take its time
	}
	seen := map[string]bool{}
	idle := 0
	for _, d := range append(slices.Clip(before), now) {
		idle++
		if len(d.wrote) > 0 || !seen[d.output] || isPolling(d.Command) {
			idle = 0
		}
		seen[d.output] = true
	}
	if idle < idleCalls {
		return Issue{}, false
	}
	return Issue{NoProgress, 0, fmt.Sprintf("the last %d calls read nothing new, changed nothing and printed nothing new.", idle), "Say in one sentence what blocks you, then try something else or conclude."}, true
}

// editsTests finds a change of tests that failed, where nothing else was changed.
func editsTests(before []*Action, now *Action) (Issue, bool) {
	if !slices.ContainsFunc(now.wrote, isTestFile) || now.Command != "" {
		return Issue{}, false
	}
	var failed *Action
	for _, d := range append(slices.Clip(before), now) {
		if slices.Contains(d.Checks, TestsEdited) {
			return Issue{}, false
		}
		for _, f := range d.wrote {
			if !isTestFile(f) && IsCode(f) {
				return Issue{}, false
			}
		}
		if d.Tests >= 0 && d.test {
			if failed = d; d.Tests == 0 {
				failed = nil
			}
		}
	}
	if failed == nil {
		return Issue{}, false
	}
	return Issue{
		TestsEdited, 0, fmt.Sprintf("%s failed with exit %d, and in this turn only tests were changed (%s), no source.", clip(failed.Command, 60), failed.Tests, shortNames(now.wrote)),
		"Make sure that the test was wrong and not the code.",
	}, true
}

// staleTodos finds that much was done since the list was written, and files were changed.
func staleTodos(before []*Action, now *Action) (Issue, bool) {
	var files []string
	calls, all := 0, append(slices.Clip(before), now)
	for _, d := range slices.Backward(all) {
		if slices.Contains(d.Checks, StaleTodos) {
			return Issue{}, false
		}
		if d.Tool != "todowrite" || d.failed {
			calls++
			files = append(files, d.wrote...)
			continue
		}
		slices.Sort(files)
		if files = slices.Compact(files); calls < staleCalls || len(files) == 0 || len(d.open) == 0 {
			return Issue{}, false
		}
		return Issue{
			StaleTodos, 0, fmt.Sprintf("since the list was written there were %s and %s; open on it: %s.", phrase.Count(calls, "call"), phrase.Count(len(files), "changed file"), joinFirst(d.open, 3)),
			"Bring it up to date.",
		}, true
	}
	return Issue{}, false
}

// budgetMarks are the percentages of a budget at which the model sees the rest.
var budgetMarks = [...]int{95, 80, 50}

// nearsBudget finds that half, four fifths or nearly all of something bounded is used; each once.
func (w *ResultChecker) nearsBudget(before []*Action, _ *Action) (Issue, bool) {
	reported := 0
	for _, d := range before {
		reported = max(reported, d.levels[Budget])
	}
	var most UsedFraction
	for _, s := range w.Used {
		if s.Used > most.Used {
			most = s
		}
	}
	percent := int(most.Used*100 + 1e-9)
	for _, mark := range budgetMarks {
		if percent >= mark {
			return Issue{Budget, mark, fmt.Sprintf("%d %% of the budget is used, %s.", min(percent, 100), most.Left), ""}, mark > reported
		}
	}
	return Issue{}, false
}

// UsedFractions is how much of an account is used.
func UsedFractions(a lathe.Account) (out []UsedFraction) {
	add := func(spent, limit float64, left string) {
		if limit > 0 {
			out = append(out, UsedFraction{spent / limit, left})
		}
	}
	l, s := a.Limit, a.Spent
	add(float64(s.Cost), float64(l.Cost), fmt.Sprintf("%s of %s remain", l.Cost-min(s.Cost, l.Cost), l.Cost))
	add(float64(s.Tokens), float64(l.Tokens), fmt.Sprintf("%d of %d tokens remain", max(l.Tokens-s.Tokens, 0), l.Tokens))
	add(float64(s.Steps), float64(l.Steps), fmt.Sprintf("%d of %d steps remain", max(l.Steps-s.Steps, 0), l.Steps))
	add(float64(s.Time), float64(l.Time), fmt.Sprintf("%s of %s remain", max(l.Time-s.Time, 0).Round(time.Second), l.Time))
	return out
}

// WithNotes is a text with the lines of checks after it, and metadata that names them.
func WithNotes(text string, meta json.RawMessage, found []Issue) (string, json.RawMessage) {
	if len(found) == 0 {
		return text, meta
	}
	var lines []string
	for _, f := range found {
		lines = append(lines, f.Text())
	}
	return strings.TrimRight(text, "\n") + notesBegin + strings.Join(lines, "\nNote: "), WithMeta(meta, found...)
}
