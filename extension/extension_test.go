package extension_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/extension"
	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/workspace"
)

// TestMain makes this program the extensions of its own tests.
func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "a-plugin":
			os.Exit(bePlugin(os.Args[2], os.Args[3]))
		case "a-server":
			os.Exit(beServer())
		}
	}
	os.Exit(m.Run())
}

// bePlugin answers hooks as a file says, {"hook": output}, and notes their inputs in another.
func bePlugin(answers, received string) int {
	text, err := os.ReadFile(answers)
	var outputs map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &outputs) != nil {
		return 1
	}
	note, err := os.OpenFile(received, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name          string
				Input, Output json.RawMessage
				Args          json.RawMessage
				Events        []struct{ Type string }
			}
		}
		if json.Unmarshal(line, &m) != nil {
			return 2
		}
		result := "null"
		switch m.Method {
		case "initialize":
			names := []string{}
			for name := range outputs {
				names = append(names, name)
			}
			hooks, _ := json.Marshal(names)
			result = fmt.Sprintf(`{"hooks":%s,"tools":[{"id":"own","description":"Does it.","schema":{"type":"object"}},{"id":"read","description":"Another.","schema":{"type":"object"}}]}`, hooks)
		case "hook":
			fmt.Fprintf(note, "%s %s\n", m.Params.Name, m.Params.Input)
			result = fmt.Sprintf(`{"output":%s}`, outputs[m.Params.Name])
		case "tool.execute":
			result = fmt.Sprintf(`{"output":"did %s","title":"it","attachments":[{"mime":"image/png","url":"data:image/png;base64,AA==","filename":"a.png"}]}`, strings.ReplaceAll(string(m.Params.Args), `"`, `'`))
		case "event":
			for _, e := range m.Params.Events {
				fmt.Fprintf(note, "event %s\n", e.Type)
			}
			continue
		}
		if m.ID != nil {
			fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", m.ID, result)
		}
	}
}

// beServer is an MCP server with a tool, a prompt and a resource.
func beServer() int {
	s := sdk.NewServer(&sdk.Implementation{Name: "docs", Version: "1"}, &sdk.ServerOptions{Instructions: "Ask me about documents."})
	type in struct {
		Word string `json:"word"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "find", Description: "Finds."}, func(_ context.Context, _ *sdk.CallToolRequest, i in) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "found " + i.Word}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "directory", Description: "Lists."}, func(context.Context, *sdk.CallToolRequest, in) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "ask", Description: "Asks.", Arguments: []*sdk.PromptArgument{{Name: "what"}, {Name: "how"}}}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		text := "Ask about " + r.Params.Arguments["what"] + ", " + r.Params.Arguments["how"] + "."
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
	})
	s.AddResource(&sdk.Resource{Name: "a", URI: "docs://a", MIMEType: "text/plain"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "A word."}}}, nil
	})
	if s.Run(context.Background(), &sdk.StdioTransport{}) != nil {
		return 1
	}
	return 0
}

// fixture is a directory with extensions.
type fixture struct {
	*testing.T
	dir      string
	received string
	opt      extension.Options
}

// newFixture has a plugin with these answers, none if it is nil.
func newFixture(t *testing.T, answers map[string]string) *fixture {
	t.Helper()
	w := &fixture{T: t, dir: t.TempDir()}
	w.received = filepath.Join(w.dir, "heard")
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Grace: 300 * time.Millisecond})
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	w.opt = extension.Options{
		Place: workspace.Place{Directory: w.dir, Worktree: w.dir}, Runner: runner, Cache: filepath.Join(w.dir, "cache"), Env: os.Environ(),
		Log: slog.New(slog.DiscardHandler), Publish: func(lathe.Fact) {},
		Models: func(r lathe.ModelRef) (model, provider json.RawMessage) {
			return json.RawMessage(`{"id":"` + r.Model + `"}`), json.RawMessage(`{"id":"` + r.Provider + `"}`)
		},
	}
	if answers == nil {
		return w
	}
	all := map[string]json.RawMessage{}
	for name, out := range answers {
		all[name] = json.RawMessage(out)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.dir, "answers")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	w.opt.Plugins = []plugin.Plugin{{Spec: "stub", Command: []string{os.Args[0], "a-plugin", file, w.received}}}
	return w
}

// serve adds an MCP server.
func (w *fixture) serve() *fixture {
	w.opt.Servers = []mcp.Server{{Name: "docs", Command: []string{os.Args[0], "a-server"}}}
	return w
}

func (w *fixture) open() *extension.Set {
	w.Helper()
	g := extension.Open(w.opt)
	w.Cleanup(func() {
		if err := g.Close(); err != nil {
			w.Error(err)
		}
	})
	return g
}

func (w *fixture) join(g *extension.Set) *engine.StepSettings {
	w.Helper()
	base := &engine.StepSettings{
		Tools: tool.NewSet(tooltest.All()...), Headless: true, DefaultModel: lathe.ModelRef{Provider: "p", Model: "big"},
		Instructions: []prompt.Instruction{{Name: "AGENTS.md", Text: "Be kind."}},
	}
	out, err := g.Apply(w.Context(), base)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// was reports what the plugin was asked.
func (w *fixture) was() []string {
	w.Helper()
	text, err := os.ReadFile(w.received)
	if err != nil {
		w.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func (w *fixture) asked(want string) {
	w.Helper()
	if got := w.was(); !slices.Contains(got, want) {
		w.Errorf("the plugin was asked\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
