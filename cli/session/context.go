package session

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/tui/report"
)

// newContext shows what the terminal UI's /context shows.
func newContext(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:   "context [ID]",
		Short: "Show what fills the context window of a session",
		Long: `Show the contents of a session's context window in tokens: system prompt, tools, MCP tools,
instructions, files, messages, and the reserve for the answer. The largest contents are listed.
Without an ID, show the latest session of the project.`,
		Example: `  lathe session context
  lathe session context last --json`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error { return showContext(c.Context(), a, args) },
	})
}

// showContext asks the server, or an engine with the config of the session's directory.
func showContext(ctx context.Context, a *cli.App, args []string) error {
	var found lathe.Session
	var use *api.ContextUse
	err := onSession(ctx, a, args, func(e api.Engine, s lathe.Session) error {
		found = s
		if r, ok := e.(api.Reports); ok {
			got, err := r.ContextUse(ctx, s.ID)
			use = &got
			return err
		}
		return nil
	})
	if err == nil && use == nil {
		use, err = localContext(ctx, a, found)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(use)
	}
	a.Printf("%s", report.Text(report.Context(*use, min(cmp.Or(a.Width(), 80), 100))))
	return nil
}

// localContext opens the config and the tools of a directory, which other commands of sessions do without.
func localContext(ctx context.Context, a *cli.App, s lathe.Session) (_ *api.ContextUse, err error) {
	setup, err := harness.Open(ctx, &a.Host, harness.Options{Headless: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = cli.CloseAfter(setup, err) }()
	local, err := setup.Local(ctx, s.Directory, a.Version)
	if err != nil {
		return nil, err
	}
	defer func() { err = cli.CloseAfter(local, err) }()
	use, err := local.ContextUse(ctx, s.ID)
	return &use, err
}
