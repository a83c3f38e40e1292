package debug

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/tui/report"
)

// NewDoctor returns `lathe doctor`.
func NewDoctor(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:   "doctor",
		Short: "Check providers, sandbox, terminal and disk; exit 1 on a failure",
		Long: `Check the config, the providers, the MCP servers, the sandbox, git, the disk, the database and, if the
output is one, the terminal, all at once. Each check takes 15 seconds at most. A check of a provider sends no API key.

A failed check exits with 1, a warning with 0.`,
		Example: `  lathe doctor
  lathe doctor --json | jq '.[] | select(.status != "ok")'`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDoctor(c.Context(), a) },
	})
}

// runDoctor runs the checks of the terminal UI's /doctor.
func runDoctor(ctx context.Context, a *cli.App) error {
	var all []api.Check
	if a.Width() > 0 { // a pipe has no terminal to check
		all = report.Terminal(a.Env, 0, 0)
	}
	err := withReports(ctx, a, func(dir string, r api.Reports) error {
		names, err := r.Checks(ctx, dir)
		if err != nil {
			return err
		}
		all = append(all, runChecks(ctx, r, dir, names)...)
		return nil
	})
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(all)
	} else {
		a.Printf("%s", report.Text(report.Checks(all, min(cmp.Or(a.Width(), 100), 100))))
	}
	if err == nil && slices.ContainsFunc(all, func(c api.Check) bool { return c.Status == api.CheckFail }) {
		return cli.Reported{Code: cli.ExitFailed}
	}
	return err
}

// runChecks runs checks at the same time. One that cannot run has failed.
func runChecks(ctx context.Context, r api.Reports, dir string, names []string) []api.Check {
	out := make([]api.Check, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			got, err := r.Check(ctx, dir, name)
			if err != nil {
				got = api.Check{Name: name, Status: api.CheckFail, Detail: err.Error()}
			}
			out[i] = got
		})
	}
	wg.Wait()
	return out
}

// withReports opens an engine of this directory for its reports.
func withReports(ctx context.Context, a *cli.App, f func(dir string, r api.Reports) error) (err error) {
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return err
	}
	setup, err := harness.Open(ctx, &a.Host, harness.Options{})
	if err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(setup, err) }()
	local, err := setup.Local(ctx, dir, a.Version)
	if err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(local, err) }()
	return f(dir, local)
}
