package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/cli/turn"
	trees "github.com/lathe-agent/lathe/cli/worktree"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/replay"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// maxTries is how many tries may run at once.
const maxTries = 32

// triesFlags are the flags of --tries.
type triesFlags struct {
	count       int
	check       string
	merge, json bool
	diff        bool       // print the changes of each try
	from        *forkPoint // where the tries start; nil starts new sessions
}

// try is one run of the prompt, and its result.
type try struct {
	Name    string          `json:"name"`
	Model   string          `json:"model,omitempty"`
	Session lathe.SessionID `json:"session"`
	Branch  string          `json:"branch,omitempty"`
	Passed  bool            `json:"passed"`
	Exit    *int            `json:"exit"`            // of the check; absent if it did not run
	Score   *float64        `json:"score,omitempty"` // the last number that the check printed
	tryChanges
	tryUsage
	Error string `json:"error,omitempty"`

	tree *openedTree
	fork *forkPoint // where it starts; nil starts a new session

	prompts []lathe.MessageID // that the turn answered
}

// tryChanges is the size of the changes of a try since its start.
type tryChanges struct {
	Files     int              `json:"files"`
	Additions int              `json:"additions"`
	Deletions int              `json:"deletions"`
	Diffs     []lathe.FileDiff `json:"diffs,omitempty"` // only if they are to be printed
}

// tryUsage is what a try used.
type tryUsage struct {
	Steps   int     `json:"steps"`
	Tokens  int64   `json:"tokens"`
	Cost    float64 `json:"cost"`
	Seconds float64 `json:"seconds"`
}

// triesResult is the output of --tries --json.
type triesResult struct {
	Tries   []*try           `json:"tries"`
	Winner  string           `json:"winner,omitempty"`
	Cost    float64          `json:"cost"`
	Session lathe.SessionID  `json:"session"`
	Merge   *worktree.Report `json:"merge,omitempty"`
}

// runTries runs the prompt in several worktrees at once. Their sessions are children of one session in the checkout,
// whose limits therefore hold for all of them together.
func runTries(ctx context.Context, a *cli.App, h *harness.Harness, f runFlags, text string) error {
	e := h.Engine
	parent, err := e.Create(ctx, a.Dir, lathe.NewSession{Title: cmp.Or(f.title, fmt.Sprintf("Best of %d: %s", f.tries.count, termtext.Clip(termtext.OneLine(text), 60))), Rules: append(turn.UnattendedRules(), sessionRules(f.rules)...)})
	if err != nil {
		return err
	}
	if f.limits.Cost = lathe.Dollars(f.maxCost); !f.limits.IsZero() {
		if err := e.SetLimits(ctx, parent.ID, f.limits); err != nil {
			return err
		}
	}
	all, err := prepareTries(ctx, a, h, f, parent)
	defer func() {
		for _, t := range all {
			t.tree.release()
		}
	}()
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for _, t := range all {
		wg.Go(func() { t.run(ctx, a, h, f, parent, text) })
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	res := triesResult{Tries: all, Session: parent.ID}
	for _, t := range all {
		res.Cost += t.Cost
	}
	winner := chooseWinner(all)
	if winner != nil {
		res.Winner = winner.Name
	}
	return finishTries(ctx, a, e, f, res, winner)
}

// prepareTries makes the worktrees. After an error those that exist are removed.
func prepareTries(ctx context.Context, a *cli.App, h *harness.Harness, f runFlags, parent lathe.Session) (all []*try, err error) {
	base := cmp.Or(f.treeName(), "try")
	for n := 1; len(all) < f.tries.count; n++ {
		t := &try{Name: fmt.Sprintf("%s-%d", base, n), fork: f.tries.from}
		if len(f.models) > 0 {
			t.Model = f.models[len(all)%len(f.models)]
		}
		t.tree, err = newTree(ctx, a, h.Engine, worktree.Options{Name: t.Name, Parent: parent.ID})
		if lathe.CodeOf(err) == lathe.Conflict && n < 1000 { // an earlier run has the name
			continue
		}
		if err != nil {
			for _, t := range all {
				t.tree.release()
				_, _ = t.tree.tree.Drop(context.WithoutCancel(ctx), false) // the first error counts
			}
			return nil, err
		}
		t.Branch = t.tree.tree.Branch
		all = append(all, t)
	}
	return all, nil
}

// run answers the prompt in the worktree and checks the result. A failure is part of the result.
func (t *try) run(ctx context.Context, a *cli.App, h *harness.Harness, f runFlags, parent lathe.Session, text string) {
	began := time.Now()
	if err := t.work(ctx, a, h, f, parent, text); err != nil && ctx.Err() == nil {
		t.Error = strings.TrimSpace(err.Error())
	}
	if ctx.Err() != nil {
		return
	}
	if t.Session != "" {
		if code, output, err := runShell(ctx, h.Engine, t.Session, f, f.tries.check); err != nil {
			t.Error = cmp.Or(t.Error, err.Error())
		} else {
			t.Exit, t.Passed, t.Score = &code, code == 0, lastNumber(output)
			record := worktree.TestRecord{Command: f.tries.check, Exit: code, Score: t.Score, At: time.Now().UTC()}
			_ = t.tree.tree.Update(ctx, func(r *worktree.Record) { r.Test = &record }) // it is only for people
		}
	}
	t.Seconds = time.Since(began).Round(10 * time.Millisecond).Seconds()
	diffs, err := t.diff(ctx, h.Engine)
	if err != nil {
		t.Error = cmp.Or(t.Error, err.Error())
	}
	if f.tries.diff {
		t.Diffs = diffs
	}
	for _, d := range diffs {
		t.Files, t.Additions, t.Deletions = t.Files+1, t.Additions+d.Additions, t.Deletions+d.Deletions
	}
	if !a.JSON {
		a.Notify("%s: %s", t.Name, t.summary())
	}
}

// summary is the result in a few words.
func (t *try) summary() string {
	switch {
	case t.Error != "":
		return "failed: " + termtext.Clip(termtext.OneLine(termtext.Plain(t.Error)), 200)
	case t.Passed:
		return "the check passed"
	default:
		return "the check failed"
	}
}

// work runs one turn in the worktree.
func (t *try) work(ctx context.Context, a *cli.App, h *harness.Harness, f runFlags, parent lathe.Session, text string) error {
	e := h.Engine
	s, err := t.open(ctx, a, e, parent)
	if err != nil {
		return err
	}
	t.Session = s.ID
	if f.model = t.Model; f.model != "" {
		if err := haveModel(ctx, a, h, &f); err != nil {
			return err
		}
		t.Model = f.model
	}
	if err := t.tree.begin(ctx, s); err != nil {
		return err
	}
	own := *a
	own.Dir = t.tree.tree.Directory
	prompt, err := runPrompt(a, f, text) // files are those of the checkout
	if err != nil {
		return err
	}
	if t.fork != nil {
		prompt.Agent, prompt.Parts = t.fork.agent, t.fork.parts
	}
	r := &runner{App: &own, flags: f, turn: &turn.Turn{Engine: e, Session: s, Fresh: true, Log: a.Log, Now: a.Now}}
	out := quiet{note: func(text string) {
		if !a.JSON {
			a.Notify("%s: %s", t.Name, text)
		}
	}}
	r.out, r.turn.Sink, r.turn.Permit = out, out, r.permit
	r.turn.Send = func(ctx context.Context, fail func(error)) error { return r.send(ctx, prompt, fail) }
	err = r.turn.Run(ctx)
	t.count(context.WithoutCancel(ctx), e, s, r.turn.Record)
	return cmp.Or(err, r.turn.Record.Failed)
}

// open makes the session of a try: a new one, or a copy of another up to a step.
func (t *try) open(ctx context.Context, a *cli.App, e *engine.Engine, parent lathe.Session) (lathe.Session, error) {
	if t.fork != nil {
		return t.fork.open(ctx, a, e, t, parent)
	}
	inst, err := e.Instance(ctx, t.tree.tree.Directory)
	if err != nil {
		return lathe.Session{}, err
	}
	return e.CreateNext(ctx, inst, lathe.NewSession{Parent: parent.ID, Title: t.Name, Rules: parent.Rules})
}

// count adds up what the turn used. A copied history was paid by another session.
func (t *try) count(ctx context.Context, e *engine.Engine, began lathe.Session, r turn.Record) {
	t.Cost, t.prompts = r.Cost.Dollars(), r.Prompts
	if used, err := e.Get(ctx, began.ID); err == nil {
		t.Cost = max(t.Cost, used.Cost.Dollars()-began.Cost.Dollars())
	}
	u := r.Tokens
	t.Tokens = int64(u.Input + u.Output + u.Reasoning + u.Cache.Read + u.Cache.Write)
	if page, err := e.Messages(ctx, began.ID, lathe.Position{}, 0); err == nil {
		t.Steps = len(replay.Steps(page.Messages))
		if t.fork != nil {
			t.Steps -= t.fork.steps
		}
	}
}

// diff compares the worktree with its start.
func (t *try) diff(ctx context.Context, e *engine.Engine) ([]lathe.FileDiff, error) {
	if t.fork != nil && t.Session != "" {
		return t.forkDiffs(ctx, e)
	}
	return t.tree.tree.Diff(ctx)
}

// quiet prints only notices, because several turns run at once.
type quiet struct{ note func(string) }

func (quiet) Show(context.Context, lathe.Event)      {}
func (q quiet) Note(text string)                     { q.note(text) }
func (quiet) End(_ context.Context, err error) error { return err }

// runShell runs a command in the sandbox of a session's directory and returns its exit code and output.
func runShell(ctx context.Context, e *engine.Engine, id lathe.SessionID, f runFlags, command string) (int, string, error) {
	in := lathe.ShellCommand{Agent: f.agent, Command: command}
	if p, err := runPrompt(nil, runFlags{model: f.model}, ""); err == nil {
		in.Model = p.Model
	}
	m, err := e.Shell(ctx, id, in)
	if err != nil {
		return 0, "", err
	}
	for _, p := range m.Parts {
		c, ok := p.Body.(*lathe.ToolCall)
		if !ok {
			continue
		}
		switch s := c.State.(type) {
		case *lathe.Completed:
			var meta struct{ Exit *int }
			if json.Unmarshal(history.MetadataOf(s), &meta) == nil && meta.Exit != nil {
				return *meta.Exit, s.Output, nil
			}
			return -1, s.Output, nil
		case *lathe.Failed:
			return -1, "", errors.New(s.Error)
		default: // it has not ended
		}
	}
	return -1, "", errors.New("the command has no result")
}

// numberPattern finds numbers as programs print them.
var numberPattern = regexp.MustCompile(`[-+]?\d+(\.\d+)?([eE][-+]?\d+)?`)

// lastNumber is the last number of an output; nil if it has none.
func lastNumber(output string) *float64 {
	for _, line := range slices.Backward(strings.Split(output, "\n")) {
		if all := numberPattern.FindAllString(line, -1); len(all) > 0 {
			if n, err := strconv.ParseFloat(all[len(all)-1], 64); err == nil {
				return &n
			}
		}
	}
	return nil
}

// chooseWinner is the best try whose check passed: the largest number, then the smaller change, then the lower cost.
func chooseWinner(all []*try) *try {
	var best *try
	for _, t := range all {
		if t.Passed && t.Error == "" && (best == nil || isBetter(t, best)) {
			best = t
		}
	}
	return best
}

// isBetter compares two tries that passed.
func isBetter(a, b *try) bool {
	score := func(t *try) float64 {
		if t.Score == nil {
			return 0
		}
		return *t.Score
	}
	return cmp.Or(
		cmp.Compare(score(b), score(a)),
		cmp.Compare(a.Additions+a.Deletions, b.Additions+b.Deletions),
		cmp.Compare(a.Cost, b.Cost),
	) < 0
}

// finishTries prints the table and merges the winner if that is wanted.
func finishTries(ctx context.Context, a *cli.App, e *engine.Engine, f runFlags, res triesResult, winner *try) error {
	if !a.JSON {
		if err := triesTable(res).Write(a.Out, a.Width()); err != nil {
			return err
		}
		if f.tries.diff {
			printDiffs(a, res.Tries)
		}
		a.Flush()
	}
	if winner != nil && (f.tries.merge || mayMerge(ctx, a, winner.Name)) {
		winner.tree.release()
		r, err := trees.Merge(ctx, e, winner.tree.tree, res.Session)
		if err != nil {
			return err
		}
		if res.Merge = &r; !a.JSON {
			a.Printf("%s", termtext.PlainText(r.Text()))
		}
	}
	if a.JSON {
		if err := a.PrintJSON(res); err != nil {
			return err
		}
	}
	switch {
	case winner == nil && !a.JSON:
		return lathe.Errorf(lathe.Unavailable, "no try passed the check %s; `lathe worktree list` shows the worktrees", termtext.Quote(f.tries.check))
	case winner == nil || res.Merge != nil && res.Merge.Conflicts > 0:
		return cli.Reported{Code: cli.ExitFailed}
	case res.Merge == nil && !a.JSON:
		a.Notify("Winner: %s. Merge it with `lathe worktree merge %s`.", winner.Name, winner.Name)
	}
	return nil
}

// mayMerge asks on a terminal whether to merge the winner.
func mayMerge(ctx context.Context, a *cli.App, name string) bool {
	if a.JSON || !cli.IsTerminal(a.Stdin) || !cli.IsTerminal(a.Stderr) {
		return false
	}
	choice, err := a.Choose(ctx, "Merge "+name+" into this checkout", []cli.Choice{{ID: "yes", Name: "Yes, merge it"}, {ID: "no", Name: "No, keep all worktrees"}})
	return err == nil && choice.ID == "yes"
}

// triesTable lists the tries in the order of their names.
func triesTable(res triesResult) layout.Table {
	t := layout.Table{Head: []string{"TRY", "MODEL", "PASSED", "SCORE", "STEPS", "TOKENS", "FILES", "DIFF", "COST", "TIME"}, Flexible: []int{1}, Paths: -1}
	for _, r := range res.Tries {
		passed, score := "no", "-"
		if r.Passed && r.Error == "" {
			passed = "yes"
		}
		if r.Name == res.Winner {
			passed += " (winner)"
		}
		if r.Score != nil {
			score = strconv.FormatFloat(*r.Score, 'g', -1, 64)
		}
		t.Rows = append(t.Rows, []string{
			r.Name, termtext.Plain(cmp.Or(r.Model, "default")), passed, score, strconv.Itoa(r.Steps), termtext.Count(int(r.Tokens)), strconv.Itoa(r.Files), fmt.Sprintf("+%d -%d", r.Additions, r.Deletions),
			lathe.Dollars(r.Cost).String(), fmt.Sprintf("%.1fs", r.Seconds),
		})
	}
	return t
}
