package main

import (
	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/extension"
	"github.com/lathe-agent/lathe/cli/mcpserver"
)

func newMCP(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Manage MCP servers, or run lathe as one",
		Long: `Manage the MCP servers in the config. Their tools are named SERVER_TOOL, and their prompts become
slash commands. lathe mcp serve runs lathe itself as an MCP server, which accepts prompts and
lists and reads sessions.`,
		Example: `  lathe mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  lathe mcp list
  lathe mcp auth github
  lathe mcp serve -C ~/src/app`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(extension.NewMCPList(a), extension.NewMCPAdd(a), extension.NewMCPAuth(a), extension.NewMCPLogout(a), extension.NewMCPDebug(a), mcpserver.New(a))
	return cmd
}
