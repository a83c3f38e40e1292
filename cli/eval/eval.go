// Package eval implements `lathe eval`: it runs the cases of a file (package eval) with one or more models, several times
// and in parallel, keeps the results and reports them. `lathe eval import` makes such files of the tasks of other programs.
//
// A run is a scratch copy of the case's project (package harness/trial), a turn of a model in it (package cli/run), and the
// check (package harness/repeat). Start at New, then evaluation.run.
package eval

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	cases "github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
)

const evalHelp = `Run a set of cases with one or more models, several times each, and report pass rates, cost and time.

FILE is YAML. Each case has the files of a project, a prompt, and a check: a command whose exit code 0
means that the work is done. Keys before "cases" are defaults for all cases:

  models: [sonnet, opus]
  runs: 3
  budget: 20                      # dollars for all runs together
  limits: {budget: 0.50, steps: 40, timeout: 10m}     # for one run
  cases:
    - name: fix-slug
      repo: ../slug               # a git repository
      commit: v1.2.0              # a full hash, a tag or a branch
      prompt: The test of this project fails. Fix the code.
      check: go test ./...

Instead of repo and commit, a case can have a folder, or a session and a step to continue from. Paths
are relative to FILE. check_files are copied into the project, and check_patch is applied, when the
agent has ended, so that it never sees hidden tests.

Each run works in a scratch copy of the project without history. The copy is removed at the end.
Commands and the check run in the sandbox. The agent cannot change the files that the check names.
Permission requests are refused unless --yes is given.

Results are appended to FILE.results.jsonl. After Ctrl-C, a crash or the end of the budget, the same
command continues: finished runs stay, and runs that ended with an error are repeated. A case that was
changed runs again. --fresh runs all of them again.

--baseline compares with the results of another eval: per case and model the difference of the pass
rates with its interval, and the cases that became worse.

Exit codes: 0 all runs passed, 1 some did not pass or the eval failed, 2 usage error, 4 budget
reached, 5 no provider or no valid credentials, 130 interrupted.`

// evalFlags are the flags of `lathe eval`.
type evalFlags struct {
	models   []string // instead of those of the file
	cases    []string // names; none means all
	runs     int      // 0 is that of the file
	jobs     int      // 0 is that of the file
	budget   float64  // in dollars; 0 is that of the file
	yes      bool
	fresh    bool
	results  string // "" is beside the cases
	baseline string // a result file; "" compares with nothing
	report   string // .md or .html; "" writes none
}

// New returns `lathe eval`.
func New(a *cli.App) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval FILE",
		Short: "Run a set of cases with several models and compare them",
		Long:  evalHelp,
		Example: `  lathe eval cases.yaml
  lathe eval cases.yaml -m sonnet -m opus --runs 5 --jobs 4 --budget 20
  lathe eval cases.yaml --case fix-slug --report slug.html
  lathe eval cases.yaml --results new.jsonl --baseline old.jsonl
  lathe eval import swe-bench tasks/ --repos ~/repos -o swe.yaml`,
		Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(a, c); err != nil {
				return err
			}
			return cli.WithExitCode(runEval(c.Context(), a, f, args[0]))
		},
	}
	s := cmd.Flags()
	s.StringArrayVarP(&f.models, "model", "m", nil, "`MODEL` to use instead of those of FILE (repeatable)")
	s.StringArrayVar(&f.cases, "case", nil, "run only the case `NAME` (repeatable)")
	s.IntVar(&f.runs, "runs", 0, "how often each case runs with each model, instead of the `NUMBER` in FILE")
	s.IntVar(&f.jobs, "jobs", 0, "how many runs are at work at once (`NUMBER`, default 1)")
	s.Float64Var(&f.budget, "budget", 0, "cost limit of all runs together, in `DOLLARS`")
	s.BoolVar(&f.yes, "yes", false, "approve every permission request of the runs")
	s.BoolVar(&f.fresh, "fresh", false, "run everything again; earlier results stay in the file and do not count")
	s.StringVar(&f.results, "results", "", "`FILE` that keeps the results (default: beside the cases)")
	s.StringVar(&f.baseline, "baseline", "", "compare with the results in this `FILE`")
	s.StringVar(&f.report, "report", "", "write a report to this `FILE`, which ends in .md or .html")
	cmd.AddCommand(newImport(a))
	return a.JSONFlag(cmd)
}

// check checks the flags.
func (f *evalFlags) check(a *cli.App, c *cobra.Command) error {
	if err := cli.RejectEmpty(c.Flags(), "results", "baseline", "report"); err != nil {
		return err
	}
	changed := c.Flags().Changed
	ext := strings.ToLower(filepath.Ext(f.report))
	switch {
	case a.Attach != "":
		return cli.Usagef("eval runs on this machine and cannot be combined with --attach")
	case changed("budget") && (!(f.budget > 0) || math.IsInf(f.budget, 0)): // NaN too
		return cli.Usagef("--budget must be greater than 0, such as --budget 20")
	case changed("runs") && (f.runs < 1 || f.runs > 1000):
		return cli.Usagef("--runs %d: want 1 to 1000", f.runs)
	case changed("jobs") && (f.jobs < 1 || f.jobs > cases.MaxJobs):
		return cli.Usagef("--jobs %d: want 1 to %d", f.jobs, cases.MaxJobs)
	case changed("report") && ext != ".md" && ext != ".html":
		return cli.Usagef("--report %s: want a file name that ends in .md or .html", termtext.Plain(f.report))
	}
	for _, name := range []string{"results", "baseline", "model", "case"} {
		for _, v := range append(f.models, append(f.cases, f.results, f.baseline)...) {
			if changed(name) && strings.ContainsRune(v, 0) {
				return cli.Usagef("--%s has a NUL byte", name)
			}
		}
	}
	return nil
}

// runEval runs the cases of a file and prints the report.
func runEval(ctx context.Context, a *cli.App, f evalFlags, name string) (err error) {
	file, err := readCases(a, f, name)
	if err != nil {
		return err
	}
	var base *cases.Results
	if f.baseline != "" { // a mistake shows before money is spent
		if base, err = readBaseline(a, f.baseline); err != nil {
			return err
		}
	}
	setup, err := harness.Open(ctx, &a.Host, harness.Options{Headless: true, Tracer: a.Tracer})
	if err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(setup, err) }()
	v := &evaluation{App: a, setup: setup, flags: f, file: file, repeats: harness.Repeats(setup)}
	if err := v.open(ctx, name); err != nil { // the slot and the result file may be open by then
		return errors.Join(err, v.close(ctx))
	}
	ran := v.run(ctx)
	if err := v.close(ctx); ran == nil {
		ran = err
	}
	if ran != nil && context.Cause(ctx) == nil && !errors.Is(ran, errBudget) {
		return ran
	}
	report := v.report(base)
	if err := v.show(report); err != nil {
		return err
	}
	return v.outcome(ctx, report)
}

// errBudget ends an eval whose budget is used up.
var errBudget = lathe.Errorf(lathe.Unavailable, "the eval has reached its budget")

// outcome is the exit code.
func (v *evaluation) outcome(ctx context.Context, r *cases.Report) error {
	switch {
	case context.Cause(ctx) != nil:
		v.Notify("Stopped: %d of %d runs are done. The same command continues.", r.Finished, r.Planned)
		return context.Cause(ctx)
	case v.isSpent:
		v.Notify("The eval has reached its budget of %s: %d of %d runs are done. The same command with a larger --budget continues.", cases.Money(v.budget), r.Finished, r.Planned)
		return cli.Reported{Code: cli.ExitBudget}
	}
	for _, m := range r.Models {
		if m.Passed < m.Runs || m.Errors > 0 {
			return cli.Reported{Code: cli.ExitFailed}
		}
	}
	return nil
}
