package acpserver

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lathe-agent/lathe/acp/acptest"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/server"
)

// serverWord makes the test program an MCP server, showWord the program in a terminal of the editor.
const (
	serverWord = "be-an-mcp-server"
	showWord   = "show-output"
)

// beServer is an MCP server with one tool.
func beServer() int {
	s := sdk.NewServer(&sdk.Implementation{Name: "docs", Version: "1"}, nil)
	type in struct {
		Word string `json:"word"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "find", Description: "Finds."}, func(_ context.Context, _ *sdk.CallToolRequest, i in) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: os.Getenv("FOUND") + " " + i.Word}}}, nil, nil
	})
	if s.Run(context.Background(), &sdk.StdioTransport{}) != nil {
		return 1
	}
	return 0
}

// MCP servers of the editor join their session and no other. A project without trust does not matter, since the user of
// the editor gave them.
func TestMCPServers(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t, `
call docs_find {"word":"it"}
finish tool-calls
--
text "ok"
finish stop
--
text "without"
finish stop
`, "")
	e := h.open(`{"session":{"notices":{}}}`)
	e.permit("once")
	var s struct {
		ID string `json:"sessionId"`
	}
	e.Must("session/new", map[string]any{"cwd": h.dir, "mcpServers": []any{
		map[string]any{"name": "docs", "command": self, "args": []string{serverWord}, "env": []any{map[string]string{"name": "FOUND", "value": "FOUND-IT"}}},
		map[string]any{"name": "broken", "command": "/nowhere/at-all", "args": []string{}, "env": []any{}},
	}}, &s)
	e.prompt(s.ID, "go")
	if c := e.one("docs_find"); c.Status != "completed" || !strings.Contains(c.Content[0].Content.Text, "FOUND-IT it") {
		t.Errorf("%+v\n%s", c, e.Script())
	}
	e.prompt(e.session(), "go")
	if strings.Contains(h.lastRequest(), "docs_find") {
		t.Error("another session has the tool too")
	}
}

// A command is shown in a terminal of the editor while it runs in our sandbox.
func TestTerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
call bash {"command":"echo first; sleep 0.3; echo second; exit 3"}
finish tool-calls
--
text "ok"
finish stop
`, "")
	e := h.open(`{"terminal":true}`)
	var mu sync.Mutex
	calls, output := []string{}, ""
	var exit chan int
	note := func(name string) { mu.Lock(); calls = append(calls, name); mu.Unlock() }
	e.Answer("terminal/create", func(raw json.RawMessage) (any, error) {
		note("create")
		var p struct {
			Command string
			Args    []string
		}
		if err := json.Unmarshal(raw, &p); err != nil || len(p.Args) != 3 || p.Args[0] != "acp" || p.Args[1] != "show" {
			t.Errorf("%s %v", raw, err)
		}
		cmd := exec.Command(p.Command, showWord, p.Args[2])
		exit = make(chan int, 1)
		go func() {
			out, _ := cmd.CombinedOutput()
			mu.Lock()
			output = string(out)
			mu.Unlock()
			exit <- cmd.ProcessState.ExitCode()
		}()
		return map[string]string{"terminalId": "term-1"}, nil
	})
	released := make(chan bool, 1)
	e.Answer("terminal/wait_for_exit", func(json.RawMessage) (any, error) {
		note("wait")
		return map[string]int{"exitCode": <-exit}, nil
	})
	e.Answer("terminal/release", func(json.RawMessage) (any, error) {
		note("release")
		released <- true
		return struct{}{}, nil
	})
	e.prompt(e.session(), "go")
	receive(t, released)
	b := e.one("bash")
	if len(b.Content) != 1 || b.Content[0].Type != "terminal" || b.Content[0].TerminalID != "term-1" {
		t.Errorf("%+v", b)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(output, "$ echo first") || !strings.Contains(output, "\nfirst\nsecond\n") || strings.Join(calls, " ") != "create wait release" {
		t.Errorf("%q %v", output, calls)
	}
}

const delegated = `
call task {"description":"look around","prompt":"look around in here and tell what there is","subagent_type":"explore"}
finish tool-calls
--
call glob {"pattern":"*.txt"}
finish tool-calls
--
text "Nothing but a.txt."
finish stop
--
text "done"
finish stop
`

// Calls of a subagent appear below the task, live and when the session is loaded.
func TestSubagents_Nested(t *testing.T) {
	t.Parallel()
	h := newHome(t, delegated, `"subagents":{"brief":1},`)
	h.write("a.txt", "a")
	e := h.open(`{}`)
	e.permit("once")
	id := e.session()
	e.prompt(id, "look around")
	check := func(e *editor) {
		t.Helper()
		ids, all := e.tools()
		if len(ids) != 2 || all[ids[0]].Name != "task" || all[ids[1]].Name != "glob" || all[ids[1]].Status != "completed" || all[ids[1]].Title != "explore › Find *.txt" ||
			!strings.Contains(string(all[ids[1]].Meta), ids[0]) || !strings.Contains(all[ids[0]].Content[0].Content.Text, "Nothing but a.txt.") {
			t.Errorf("%s", e.Script())
		}
		if got := e.Texts("agent_message_chunk"); got != "done" {
			t.Errorf("text %q", got)
		}
	}
	check(e)
	again := h.open(`{}`)
	again.load(id)
	check(again)
}

// A client that knows subagents gets them as sessions of their own.
func TestSubagents_Sessions(t *testing.T) {
	t.Parallel()
	h := newHome(t, delegated, `"subagents":{"brief":1},`)
	e := h.open(`{"subagents":{}}`)
	e.permit("once")
	id := e.session()
	e.prompt(id, "look around")
	announced := e.Updates("subagent_update")
	if len(announced) < 2 || !strings.Contains(string(announced[0].Data), `"running"`) || !strings.Contains(string(announced[len(announced)-1].Data), `"idle"`) {
		t.Fatalf("%s", e.Script())
	}
	var child struct {
		ID string `json:"sessionId"`
	}
	if err := json.Unmarshal(announced[0].Data, &child); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, u := range e.Updates("agent_message_chunk") {
		if u.Session == child.ID {
			text += u.Text()
		}
	}
	if text != "Nothing but a.txt." {
		t.Errorf("%q\n%s", text, e.Script())
	}
}

// serve runs a server in this process, and returns the app of a client of it.
func (h *home) serve(t *testing.T) (*engine.Engine, *cli.App) {
	t.Helper()
	a := h.app()
	setup, err := harness.Open(t.Context(), &a.Host, harness.Options{HasClients: true})
	if err != nil {
		t.Fatal(err)
	}
	b, done := setup.Backend()
	handler := server.New(b, server.Options{Directory: h.dir, Version: "test", Log: a.Log})
	ln, err := net.Listen("unix", filepath.Join(h.path, "s"))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: handler}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() {
		_ = srv.Close()
		handler.Close()
		_ = done.Close()
		if err := setup.Close(); err != nil {
			t.Error(err)
		}
	})
	attached := h.app()
	attached.Attach = "unix://" + filepath.Join(h.path, "s")
	return setup.Engine, attached
}

// The same over a server: the editor and the server share sessions, and the turn outlives the editor.
func TestAttach(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
text "from " "afar"
finish stop
--
call bash {"command":"echo hi"}
finish tool-calls
--
text "end"
finish stop
`, "")
	_, attached := h.serve(t)
	e := h.openWith(attached, `{"session":{"notices":{}}}`)
	id := e.session()
	if stop := e.prompt(id, "hello"); stop != "end_turn" || e.Texts("agent_message_chunk") != "from afar" {
		t.Errorf("%s %s", stop, e.Script())
	}
	e.prompt(id, "more")
	if e.one("bash").Status != "completed" {
		t.Error(e.Script())
	}
	var s struct {
		ID string `json:"sessionId"`
	}
	e.Must("session/new", map[string]any{"cwd": h.dir, "mcpServers": []any{map[string]any{"name": "x", "command": "/bin/true", "args": []string{}, "env": []any{}}}}, &s)
	e.Until("a notice", func(u acptest.Update) bool {
		return u.Kind == "notice" && strings.Contains(string(u.Data), "MCP servers")
	})
	second := attached
	other := h.openWith(second, `{}`)
	other.load(id)
	if got := other.Texts("agent_message_chunk"); got != "from afarend" {
		t.Errorf("%q", got)
	}
}
