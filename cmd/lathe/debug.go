package main

import (
	"github.com/spf13/cobra"
)

func newDebug(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "debug",
		Short: "Tools for finding out what goes wrong",
		Example: `  lathe debug info
  lathe debug paths
  lathe debug ask -m anthropic/claude-haiku-4-5-20251001 "Are you there?"`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	cmd.AddCommand(newAsk(a), newScript(a), newDebugSandbox(a), newDebugFile(a), newDebugSnapshot(a))
	cmd.AddCommand(debugStarts(a)...)
	cmd.AddCommand(debugLooks(a)...)
	return cmd
}
