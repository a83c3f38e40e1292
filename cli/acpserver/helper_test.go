package acpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/acp/acptest"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/sandbox"
)

func TestMain(m *testing.M) {
	if code, mine := sandbox.Launch(os.Args, os.Environ); mine { // a command of a turn
		os.Exit(code)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case serverWord:
			os.Exit(beServer())
		case showWord:
			a := cli.NewApp(harness.Host{})
			if show(context.Background(), a, os.Args[2]) != nil {
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// home is a home with a scripted model and a project.
type home struct {
	t     *testing.T
	path  string
	dir   string // the project
	model *modeltest.Server
}

// newHome makes a home whose model follows a script. Settings are members of the config, each with a comma behind it.
func newHome(t *testing.T, script, settings string) *home {
	t.Helper()
	h := &home{t: t, path: t.TempDir(), model: modeltest.Start(t, modeltest.MustParse(script))}
	h.model.Respond(func(r modeltest.Request) modeltest.Answer {
		if bytes.Contains(r.Body, []byte(engine.TitleRequest)) {
			return modeltest.Answer{modeltest.Text{"A title"}, modeltest.Finish("stop")}
		}
		return nil // the script answers
	})
	h.dir = filepath.Join(h.path, "p")
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.write("../.config/lathe/lathe.json", fmt.Sprintf(`{%s"model":"script/script","provider":{"script":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"%s/v1","apiKey":"none"},
		"models":{"script":{"attachment":true,"modalities":{"input":["text","image","audio"],"output":["text"]},"limit":{"context":100000,"output":4000},"cost":{"input":1,"output":2}},"other":{}}}}}`, settings, h.model.URL))
	return h
}

// write writes a file of the project.
func (h *home) write(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *home) read(name string) string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

func (h *home) app() *cli.App {
	a := cli.NewApp(harness.Host{
		Version: "test", Environ: os.Environ, Now: time.Now, Log: slog.New(slog.DiscardHandler), Notices: os.Stderr, Logins: auth.Methods(),
	})
	a.Dir = h.dir
	a.Env = func(name string) string {
		switch name {
		case "HOME":
			return h.path
		case "LATHE_DATA":
			return filepath.Join(h.path, "data")
		case "PATH", "TMPDIR":
			return os.Getenv(name)
		}
		return ""
	}
	return a
}

// editor is a client connected to `lathe acp` in this process.
type editor struct {
	*acptest.Client
	t     *testing.T
	home  *home
	in    *io.PipeWriter
	ended chan error
}

// open starts the agent and initializes it. The capabilities are JSON.
func (h *home) open(capabilities string) *editor {
	h.t.Helper()
	return h.openWith(h.app(), capabilities)
}

func (h *home) openWith(a *cli.App, capabilities string) *editor {
	h.t.Helper()
	fromEditor, toAgent := io.Pipe()
	fromAgent, toEditor := io.Pipe()
	e := &editor{t: h.t, home: h, in: toAgent, ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		defer toEditor.Close()
		e.ended <- serveACP(ctx, a, fromEditor, toEditor)
	}()
	e.Client = acptest.Connect(h.t, toAgent, fromAgent, strings.Contains(capabilities, "subagents"))
	h.t.Cleanup(func() {
		e.close()
		stop()
	})
	e.Must("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": json.RawMessage(capabilities)}, nil)
	return e
}

// close ends the connection as an editor that quits, and waits.
func (e *editor) close() {
	_ = e.in.Close()
	select {
	case err := <-e.ended:
		if err != nil {
			e.t.Errorf("the agent ended with: %v", err)
		}
		e.ended <- nil
	case <-time.After(acptest.Patience):
		e.t.Fatal("the agent does not end")
	}
}

// session makes a session and waits for its slash commands.
func (e *editor) session() string {
	e.t.Helper()
	var s struct {
		ID string `json:"sessionId"`
	}
	e.Must("session/new", map[string]any{"cwd": e.home.dir, "mcpServers": []any{}}, &s)
	e.Until("commands", func(u acptest.Update) bool { return u.Kind == "available_commands_update" })
	return s.ID
}

// prompt sends a text and returns the stop reason.
func (e *editor) prompt(id, text string) string {
	e.t.Helper()
	var r struct {
		Stop string `json:"stopReason"`
	}
	e.Must("session/prompt", promptOf(id, text), &r)
	return r.Stop
}

func promptOf(id, text string) map[string]any {
	return map[string]any{"sessionId": id, "prompt": []any{map[string]string{"type": "text", "text": text}}}
}

// permit answers permission requests with an option, and returns what was asked.
func (e *editor) permit(option string) chan json.RawMessage {
	asked := make(chan json.RawMessage, 100)
	e.Answer("session/request_permission", func(p json.RawMessage) (any, error) {
		asked <- p
		return selected(option), nil
	})
	return asked
}

func selected(option string) any {
	return map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": option}}
}

func (e *editor) load(id string) {
	e.t.Helper()
	e.Must("session/load", map[string]any{"cwd": e.home.dir, "mcpServers": []any{}, "sessionId": id}, nil)
}

// tool is a tool call as the client sees it after all updates.
type tool struct {
	Kind, Status, Title, Name string
	RawInput                  json.RawMessage
	Content                   []struct {
		Type, Path, NewText string
		OldText             *string
		TerminalID          string `json:"terminalId"`
		Content             struct{ Type, Text, Data, MimeType string }
	}
	Locations []struct {
		Path string
		Line int
	}
	Meta json.RawMessage `json:"_meta"`
}

// tools folds the tool calls, in the order of their beginning.
func (e *editor) tools() (ids []string, all map[string]*tool) {
	e.t.Helper()
	all = map[string]*tool{}
	for _, u := range e.Updates("tool_call", "tool_call_update") {
		var id struct {
			ID string `json:"toolCallId"`
		}
		if err := json.Unmarshal(u.Data, &id); err != nil {
			e.t.Fatal(err)
		}
		switch {
		case u.Kind == "tool_call" && all[id.ID] != nil:
			e.t.Errorf("tool call %s began twice", id.ID)
		case u.Kind == "tool_call":
			ids = append(ids, id.ID)
			all[id.ID] = &tool{}
		case all[id.ID] == nil:
			e.t.Errorf("update of tool call %s before it began", id.ID)
			all[id.ID] = &tool{}
		}
		if err := json.Unmarshal(u.Data, all[id.ID]); err != nil {
			e.t.Fatal(err)
		}
	}
	return ids, all
}

// one is the only tool call of a name.
func (e *editor) one(name string) *tool {
	e.t.Helper()
	ids, all := e.tools()
	var found *tool
	for _, id := range ids {
		if all[id].Name == name {
			if found != nil {
				e.t.Fatalf("two calls of %s:\n%s", name, e.Script())
			}
			found = all[id]
		}
	}
	if found == nil {
		e.t.Fatalf("no call of %s:\n%s", name, e.Script())
	}
	return found
}

// receive waits for a value of a channel.
func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(acptest.Patience):
		t.Fatal("it does not happen")
	}
	return v
}
