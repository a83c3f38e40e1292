package session

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/replay"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/harness/rerun"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/record"
	"github.com/lathe-agent/lathe/workspace"
)

// newReplay runs recorded calls again.
func newReplay(a *cli.App, forks Forker) *cobra.Command {
	var from, to, file string
	var fork ForkFlags
	var live []string
	cmd := &cobra.Command{
		Use:   "replay [ID] [--from STEP] [--to STEP]",
		Short: "Run recorded tool calls again and compare the results",
		Long: `Run the tool calls of a session again, with the present tools, in a scratch copy of the project as it
was before the first step. No model is asked. Each result is compared with the recorded one: same, alike
(same but for times, paths and the like), or different. The exit code is 1 if a result differs.

Commands run in the sandbox without network. Calls that reach beyond the project, such as webfetch,
subagents, MCP tools and git push, do not run. Their recorded results are used and listed as "from the
record". --live opens one kind of them: network (commands as your config allows), git (remotes, for lines that
run git alone), webfetch (with websearch) or mcp (starts the MCP servers). Plugins never start.

The copy is your checkout with the files that the session changed as they were before the step. Files
that you changed since, and that the session did not, are as they are now. The copy is removed at the
end. The session and your checkout stay as they are, with branches and tags. --record FILE runs the
calls of a file of ` + "`lathe run --record`" + ` instead, on the files as they are now. STEP is a number from 1, or the ID of a message.

With -m, other models continue the session instead: from the conversation and the files before --from,
in parallel, each in its own worktree, under one --budget. The --check command then runs in each
worktree, and a table compares the results.`,
		Example: `  lathe session replay last
  lathe session replay 4mKq --from 3 --to 7
  lathe session replay last --live webfetch --live network
  lathe session replay --record turn.jsonl --json
  lathe session replay last --from 3 -m sonnet -m opus --check 'make test' --budget 2`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.RejectEmpty(c.Flags(), "from", "to", "record", "check"); err != nil {
				return err
			}
			if c.Flags().Changed("budget") && (!(fork.Budget > 0) || math.IsInf(fork.Budget, 0)) { // NaN too
				return cli.Usagef("--budget must be greater than 0, such as --budget 1.50")
			}
			if fork.From = from; fork.isUsed() {
				if file != "" || to != "" || len(live) > 0 {
					return cli.Usagef("-m lets models continue; leave out --to, --live and --record")
				}
				return runForks(c.Context(), a, args, fork, forks)
			}
			open, err := replay.ParseKinds(live)
			if err != nil {
				return cli.Usagef("--live: %v", err)
			}
			if file != "" && len(args) > 0 {
				return cli.Usagef("--record FILE is a source of its own; leave out the session")
			}
			return runReplay(c.Context(), a, args, file, rerun.Options{From: from, To: to, Live: open})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first `STEP` to run (default 1)")
	cmd.Flags().StringVar(&to, "to", "", "last `STEP` to run (default the last)")
	cmd.Flags().StringVar(&file, "record", "", "run the calls of a `FILE` that lathe run --record wrote")
	cmd.Flags().StringArrayVar(&live, "live", nil, "run calls of this `KIND` too: network, git, webfetch or mcp (repeatable)")
	fork.define(cmd)
	return a.JSONFlag(cmd)
}

// runReplay opens the tools of the project and prints the results as they come.
func runReplay(ctx context.Context, a *cli.App, args []string, file string, o rerun.Options) (failed error) {
	if a.Attach != "" {
		return cli.Usagef("replay runs on this machine and cannot be combined with --attach")
	}
	var found lathe.Session
	var rec replay.Recording
	var err error
	if file == "" {
		err = onSession(ctx, a, args, func(_ api.Engine, s lathe.Session) error { found = s; return checkPlace(s) })
	} else {
		rec, err = readRecording(file)
	}
	if err != nil {
		return err
	}
	a.Pure = true // plugins run hooks in this process's name; none belongs to a kind that can be opened
	setup, err := harness.Open(ctx, &a.Host, harness.Options{Headless: true, Keyless: true})
	if err != nil {
		return err
	}
	defer func() { failed = cli.CloseAfter(setup, failed) }()
	setup.Confine.Scratch, setup.Confine.NoNetwork = true, true
	o.Network = func(on bool) { setup.Confine.NoNetwork = !on }
	o.Settings = func(at workspace.Place) (*engine.StepSettings, error) {
		if slices.Contains(o.Live, replay.MCP) {
			return setup.Settings(ctx, at)
		}
		k, err := setup.ConfigFor(at) // without extensions
		if err != nil {
			return nil, err
		}
		return k.Settings, nil
	}
	o.Close = func(id lathe.SessionID) {
		setup.Runner.EndSession(string(id))
		confine.RemoveSessionTemp(setup.Folders, id)
	}
	if !a.JSON {
		o.Show = func(c replay.CallReport) { printReplayed(a, c) }
	}
	var r replay.Report
	if file == "" {
		r, err = rerun.Run(ctx, setup.Engine, found.ID, o)
	} else {
		a.Notify("A recording has no snapshots: the files are as they are now")
		r, err = rerun.RunRecording(ctx, setup.Engine, cli.EngineDir(a), rec, o)
	}
	if err != nil {
		return err
	}
	return reportReplay(a, r)
}

// reportReplay prints the end of a replay. Its error says that a result differs.
func reportReplay(a *cli.App, r replay.Report) (err error) {
	if a.JSON {
		err = a.PrintJSON(r)
	} else {
		for _, path := range r.Unknown {
			a.Notify("Content not stored, so the present one was used: %s", termtext.Plain(path))
		}
		if r.Requests != nil {
			a.Printf("%s\n", r.Requests.Summary())
		}
		a.Printf("%s\n", r.Summary())
	}
	if err == nil && r.Differs > 0 {
		return cli.Reported{Code: cli.ExitFailed}
	}
	return err
}

// readRecording reads the requests of a file of --record.
func readRecording(name string) (replay.Recording, error) {
	file, err := os.Open(name)
	if err != nil {
		return replay.Recording{}, lathe.Errorf(lathe.NotFound, "cannot read the recording: %w", err)
	}
	all, err := record.Read(file)
	if err := cli.CloseAfter(file, err); err != nil {
		return replay.Recording{}, lathe.Errorf(lathe.Invalid, "%s is not a recording: %w", termtext.Plain(name), err)
	}
	var bodies []json.RawMessage
	for _, e := range all {
		bodies = append(bodies, json.RawMessage(e.Request.Body))
	}
	return replay.ReadRecording(bodies), nil
}

// printReplayed prints the result of one call.
func printReplayed(a *cli.App, c replay.CallReport) {
	a.Printf("%d  %-15s  %s %s\n", c.Step, c.Outcome, termtext.Plain(c.Tool), termtext.Plain(c.Subject))
	if c.Why != "" {
		a.Printf("     %s\n", termtext.OneLine(termtext.Plain(c.Why)))
	}
	if d := c.Diff; d != nil {
		a.Printf("     %s\n     recorded: %s\n     now:      %s\n", d.What, termtext.Plain(d.Recorded), termtext.Plain(d.Now))
	}
	a.Flush()
}
