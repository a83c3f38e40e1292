package session

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/server/webpage"
	"github.com/lathe-agent/lathe/tui/report"
	"github.com/lathe-agent/lathe/usage/explain"
)

// newExplain shows what the terminal UI's /usage shows.
func newExplain(a *cli.App) *cobra.Command {
	var page bool
	cmd := &cobra.Command{
		Use:   "explain [ID]",
		Short: "Show where the time and the money of a session went",
		Long: `Show where the time and the money of a session went: models, tools, waiting for you, retries,
compaction, and the time between prompts; then calls that failed the same way several times, requests that missed the
cache, the largest tool results, and each prompt with its time and cost. No model is asked. Without an
ID, explain the latest session of the project.

--html prints a page with charts that needs no other file and no network.`,
		Example: `  lathe session explain
  lathe session explain last --json
  lathe session explain 4mKq --html > session.html`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if page && a.JSON {
				return cli.Usagef("--html and --json exclude each other")
			}
			return onSession(c.Context(), a, args, func(e api.Engine, s lathe.Session) error {
				return explainSession(c.Context(), a, e, s, page)
			})
		},
	}
	cmd.Flags().BoolVar(&page, "html", false, "print a web page with charts")
	return a.JSONFlag(cmd)
}

func explainSession(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, page bool) error {
	got, err := explain.Load(ctx, e, s)
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintJSON(got)
	case page:
		return webpage.WriteUsage(a.Out, s, got, a.Now().Location())
	}
	a.Printf("%s", report.Text(report.Usage(got, min(cmp.Or(a.Width(), 80), 100))))
	return nil
}
