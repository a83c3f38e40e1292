// Package stats implements `lathe stats`: token usage, cost and tools by model, day and project.
package stats

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/usage"
)

type statsFlags struct {
	days     int
	tools    int
	models   int
	project  string
	all      bool
	by       string
	harness  bool
	limited  bool // --days is given
	byModels bool // --models is
}

// noLimit is the value of --models without a number.
const noLimit = "0"

// New returns `lathe stats`.
func New(a *cli.App) *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show token usage and cost",
		Long: `Show the messages, tokens, cost and tool calls of this project, including subagent and archived
sessions. Outside a repository, count the sessions in and below the directory.

--by shows one complete table. --harness shows how the work went: tool failures and their causes,
repeated calls, cache savings, and whether changes were tested. A ! marks a value worth a look. The
statistics come from your local sessions; nothing is sent anywhere.

Days are in your time zone. The cost is computed from the catalog's prices, without session titles.`,
		Example: `  lathe stats --days 7
  lathe stats --all --by project
  lathe stats --models 5 --tools 10
  lathe stats --harness --days 30
  lathe stats --json | jq .usage.cost`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			set := c.Flags().Changed
			f.limited, f.byModels = set("days"), set("models")
			if err := f.check(args); err != nil {
				return err
			}
			return printStats(c.Context(), a, f)
		},
	}
	s := cmd.Flags()
	s.IntVar(&f.days, "days", 0, "count only the last `N` days, including today")
	s.IntVar(&f.tools, "tools", 0, "show at most `N` tools; 0 means all")
	s.IntVar(&f.models, "models", 0, "show at most `N` models too")
	s.Lookup("models").NoOptDefVal = noLimit
	s.StringVar(&f.project, "project", "", "count the project `P`: directory, name or ID")
	s.BoolVar(&f.all, "all", false, "count all projects")
	s.StringVar(&f.by, "by", "", "show only the table by `WHAT`: model, tool, day or project")
	s.BoolVar(&f.harness, "harness", false, "show statistics about tools, cache and tests instead")
	a.JSONFlag(cmd)
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"model", "tool", "day", "project"}, cobra.ShellCompDirectiveNoFileComp)) // it was defined just now
	return cmd
}

// check validates the flags. The number of --models may be a separate argument.
func (f *statsFlags) check(args []string) error {
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil || !f.byModels || f.models != 0 {
			return cli.Usagef("`lathe stats` got an unexpected argument %s; see `lathe stats --help`", termtext.Quote(args[0]))
		}
		f.models = n
	}
	switch {
	case f.days < 0 || f.tools < 0 || f.models < 0:
		return cli.Usagef("--days, --tools and --models must be 0 or more")
	case f.all && f.project != "":
		return cli.Usagef("--all and --project cannot be combined")
	case f.harness && f.by != "":
		return cli.Usagef("--harness and --by cannot be combined")
	case f.by != "" && !slices.Contains([]string{"model", "tool", "day", "project"}, f.by):
		return cli.Usagef("--by %s: want model, tool, day or project", termtext.Quote(f.by))
	}
	return nil
}

// since returns the midnight at which counting starts, or 0 for all time.
func (f statsFlags) since(now time.Time) lathe.Time {
	if !f.limited {
		return 0
	}
	y, m, d := now.Date()
	return lathe.TimeOf(time.Date(y, m, d-max(f.days-1, 0), 0, 0, 0, 0, now.Location()))
}

// statsScopeJSON describes the counted sessions.
type statsScopeJSON struct {
	Project string     `json:"projectID,omitempty"` // all projects if absent
	Path    string     `json:"path,omitempty"`
	Since   lathe.Time `json:"since,omitempty"`
}

// statsOutJSON is the output of `lathe stats --json`.
type statsOutJSON struct {
	Scope statsScopeJSON `json:"scope"`
	usage.Stats
	CostPerDay       float64 `json:"costPerDay"`
	TokensPerSession int64   `json:"tokensPerSession"`
}

// printStats computes the statistics from the local database only.
func printStats(ctx context.Context, a *cli.App, f statsFlags) error {
	var q lathe.Query
	since := f.since(a.Now())
	count := usage.NewCounter(a.Now().Location(), f.harness)
	var projects []lathe.Project
	err := a.WithEngine(ctx, func(e *engine.Engine) (err error) {
		if q, err = statsQuery(ctx, a, e, f); err != nil {
			return err
		}
		if projects, err = e.Projects(ctx); err != nil {
			return err
		}
		return e.Store().Walk(ctx, q, since, func(s lathe.Session, m lathe.Message) error {
			count.Add(s, m)
			return nil
		})
	})
	if err != nil && !errors.As(err, new(cli.NoDatabase)) {
		return err
	}
	got := count.Stats()
	for i, p := range got.ByProject {
		if j := slices.IndexFunc(projects, func(one lathe.Project) bool { return one.ID == p.ID }); j >= 0 && p.ID != lathe.GlobalProject {
			got.ByProject[i].Worktree = projects[j].Worktree
		}
	}
	if a.JSON {
		return a.PrintJSON(statsOutJSON{
			statsScopeJSON{q.Project, q.Path, since}, got, (got.Usage.Cost / lathe.Money(max(got.Days, 1))).Dollars(), got.TokensPerSession(),
		})
	}
	if got.Messages == 0 {
		a.Notify("%s", f.nothing())
		return nil
	}
	newStatsView(a, f, got).print()
	return nil
}

// nothing is the notice for empty statistics.
func (f statsFlags) nothing() string {
	what := "No messages"
	if !f.all {
		what += " in this project"
	}
	if f.limited {
		return what + " in these days. Leave out --days to count all."
	}
	if f.all {
		return what + " yet. Start with `lathe run` or `lathe demo`, or import a session with `lathe import`."
	}
	return what + " yet. Use --all to count all projects."
}

// statsQuery selects the sessions to count.
func statsQuery(ctx context.Context, a *cli.App, e *engine.Engine, f statsFlags) (q lathe.Query, err error) {
	switch {
	case f.all:
	case f.project != "":
		q, err = cli.FindProject(ctx, a, e, f.project)
	default:
		q, err = a.ProjectQuery(ctx, e)
	}
	q.Roots, q.Archived = false, lathe.WithArchived
	return q, err
}
