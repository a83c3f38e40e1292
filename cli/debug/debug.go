// Package debug implements `lathe debug` and `lathe doctor`: the program's state, health checks, single model requests and a scripted model.
package debug

import (
	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
)

// New returns `lathe debug`.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "debug",
		Short: "Inspect and debug lathe",
		Example: `  lathe debug info
  lathe debug paths
  lathe debug ask -m anthropic/claude-haiku-4-5-20251001 "Are you there?"`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newAsk(a), newScript(a), newDebugSandbox(a), newDebugFile(a), newDebugSnapshot(a))
	cmd.AddCommand(debugStarts(a)...)
	cmd.AddCommand(debugLooks(a)...)
	return cmd
}
