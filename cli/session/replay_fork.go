package session

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
)

// ForkFlags are the flags of a replay that other models continue.
type ForkFlags struct {
	From             string // step
	Models           []string
	Check            string
	Budget           float64 // in dollars; 0 is no limit
	Yes, Merge, Diff bool
}

// Forker lets models continue a session. Package cli/run has the one that runs tries.
type Forker func(ctx context.Context, a *cli.App, s lathe.Session, f ForkFlags) error

func (f *ForkFlags) define(cmd *cobra.Command) {
	s := cmd.Flags()
	s.StringArrayVarP(&f.Models, "model", "m", nil, "`MODEL` that continues from the state before --from (repeatable)")
	s.StringVar(&f.Check, "check", "", "`COMMAND` that decides which model of -m wins")
	s.Float64Var(&f.Budget, "budget", 0, "cost limit of all models of -m together, in `DOLLARS`")
	s.BoolVar(&f.Yes, "yes", false, "approve every permission request of the models")
	s.BoolVar(&f.Merge, "merge", false, "merge the worktree of the winner into the checkout")
	s.BoolVar(&f.Diff, "diff", false, "print the changes of each model")
}

func (f *ForkFlags) isUsed() bool {
	return len(f.Models) > 0 || f.Check != "" || f.Budget != 0 || f.Yes || f.Merge || f.Diff
}

// runForks finds the session, and lets the models continue it.
func runForks(ctx context.Context, a *cli.App, args []string, f ForkFlags, forks Forker) error {
	const most = 32
	switch {
	case a.Attach != "":
		return cli.Usagef("replay runs on this machine and cannot be combined with --attach")
	case len(f.Models) == 0 || len(f.Models) > most:
		return cli.Usagef("--check, --budget, --yes, --merge and --diff need 1 to %d models: add -m MODEL", most)
	case f.Check == "":
		return cli.Usagef("-m needs --check COMMAND, whose exit code 0 means that the work is done")
	}
	var found lathe.Session
	if err := onSession(ctx, a, args, func(_ api.Engine, s lathe.Session) error { found = s; return checkPlace(s) }); err != nil {
		return err
	}
	return forks(ctx, a, found, f)
}
