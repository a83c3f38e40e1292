package harness_test

import (
	"context"
	"os"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lathe-agent/lathe/sandbox"
)

// TestMain makes this program the launcher of its own sandbox, and an MCP server.
func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	if len(os.Args) > 1 && os.Args[1] == "a-server" {
		os.Exit(beServer())
	}
	os.Exit(m.Run())
}

// beServer is an MCP server with one tool, which shows a variable.
func beServer() int {
	s := sdk.NewServer(&sdk.Implementation{Name: "db", Version: "1"}, nil)
	type word struct {
		Word string `json:"word"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "query", Description: "Query."}, func(_ context.Context, _ *sdk.CallToolRequest, in word) (*sdk.CallToolResult, any, error) {
		text := "rows of " + in.Word + " with " + os.Getenv("TOKEN") + " and " + os.Getenv("FROM_SETTINGS") + " for " + os.Args[2]
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}
