// Package plugin holds no code: its test runs the plugin beside it, which is in Python, the way lathe
// does. Read guard.py first.
package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/sandbox"
)

func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

// hub runs the example in a folder with a file of three lines.
func hub(t *testing.T, log *slog.Logger) (*plugin.Hub, string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the example needs python3, which is not installed")
	}
	example, err := filepath.Abs("guard.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
	c := plugin.Open(plugin.Options{
		Dir: dir, Worktree: dir, Runner: runner, Env: os.Environ(), Log: log,
		Plugins: []plugin.Plugin{{Spec: example, Options: json.RawMessage(`{"deny": ["secrets/"]}`)}},
		Publish: func(f lathe.Fact) { t.Errorf("told %+v", f) },
	})
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), runner.Close()); err != nil {
			t.Error(err)
		}
	})
	return c, dir
}

func TestExample_Hooks(t *testing.T) {
	c, _ := hub(t, nil)
	call := func(hook, input, output string) (string, error) {
		got, err := c.Call(t.Context(), hook, json.RawMessage(input), json.RawMessage(output))
		return string(got), err
	}
	if got, err := call("tool.execute.before", `{"tool":"read"}`, `{"args":{"filePath":"a.txt"}}`); err != nil || got != `{"args":{"filePath":"a.txt"}}` {
		t.Errorf("a file that may be read: %s, %v", got, err)
	}
	_, err := call("tool.execute.before", `{"tool":"read"}`, `{"args":{"filePath":"secrets/key"}}`)
	if lathe.CodeOf(err) != lathe.Denied || !strings.Contains(err.Error(), "plugin guard.py: tool.execute.before: read must not touch secrets/key") {
		t.Errorf("a file that may not be read: %v", err)
	}
	got, err := call("shell.env", `{"cwd":"/"}`, `{"env":{"A":"1"}}`)
	var out struct{ Env map[string]string }
	if err != nil || json.Unmarshal([]byte(got), &out) != nil || !reflect.DeepEqual(out.Env, map[string]string{"A": "1", "STARTED_BY": "agent"}) {
		t.Errorf("the environment of a command: %s, %v", got, err)
	}
}

func TestExample_Tool(t *testing.T) {
	c, dir := hub(t, nil)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tools := c.Tools(); len(tools) != 1 || tools[0].ID != "count_lines" || !strings.Contains(string(tools[0].Schema), `"required": ["path"]`) {
		t.Fatalf("%+v", tools)
	}
	args, err := json.Marshal(map[string]string{"path": filepath.Join(dir, "notes.txt")})
	if err != nil {
		t.Fatal(err)
	}
	var asked plugin.PermissionRequest
	var shown []plugin.Progress
	back := plugin.ToolCallbacks{
		Ask:      func(_ context.Context, a plugin.PermissionRequest) error { asked = a; return nil },
		Progress: func(p plugin.Progress) { shown = append(shown, p) },
	}
	res, err := c.Execute(t.Context(), "count_lines", args, plugin.ToolContext{Session: "ses_1"}, back)
	if err != nil || res.Output != "3 lines" || string(res.Metadata) != `{"lines": 3}` {
		t.Errorf("%+v, %v", res, err)
	}
	if asked.Permission != "read" || len(shown) != 1 || shown[0].Title != "counting" {
		t.Errorf("asked %+v, shown %+v", asked, shown)
	}
	no := errors.New("the user said no")
	back.Ask = func(context.Context, plugin.PermissionRequest) error { return no }
	if _, err := c.Execute(t.Context(), "count_lines", args, plugin.ToolContext{}, back); !errors.Is(err, no) {
		t.Errorf("refused: %v", err)
	}
}

func TestExample_Events(t *testing.T) {
	logged := make(chan string, 8)
	c, _ := hub(t, slog.New(slog.NewTextHandler(lines(logged), nil)))
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Event(lathe.Event{ID: "evt_1", Fact: &lathe.SessionIdle{Session: "ses_1"}})
	for line := range logged {
		if strings.Contains(line, "turn 1 ended") {
			return
		}
	}
}

// lines is where the log goes, a line at a time; what no caller waits for is let go.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}
