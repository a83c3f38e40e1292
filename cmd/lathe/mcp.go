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
		Short: "Work with MCP: servers of tools, and lathe as one",
		Long: `MCP is how programs offer tools to models. The settings name the servers that lathe uses: their
tools are called SERVER_TOOL, their prompts are slash commands. lathe can be such a server
itself: others give it prompts, and list and read its sessions (lathe mcp serve).`,
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
