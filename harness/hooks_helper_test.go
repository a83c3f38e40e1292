package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// hooked is a project with hooks, a scripted model and a real harness, in folders of their own.
type hooked struct {
	*testing.T
	base, project string
	host          *harness.Host
	harness       *harness.Harness
	model         *modeltest.Server
	session       lathe.SessionID
	stop          context.CancelFunc

	mu      sync.Mutex
	toasts  []string
	watched sync.WaitGroup
}

const userConfig = `{
  "model": "own/m", "disabled_providers": ["opencode"], "overview": false, "subagents": {"brief": 0},
  "checks": {"todos": false, "checklist": false, "unverified": false, "said_not_done": false, "leftovers": false, "empty_diff": false}, "permission_unattended": "refuse",
  "provider": {"own": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "%s/v1", "apiKey": "none"}, "models": {"m": {"limit": {"context": 100000, "output": 8000}}, "gpt-5": {"limit": {"context": 100000, "output": 8000}}}}}%s
}`

// newHooked writes an archive of files into a new project; the file USER is more of the user's config, and SCRIPT
// what the model answers.
func newHooked(t *testing.T, archive string) *hooked {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the hooks of these tests are shell scripts")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &hooked{T: t, base: base, project: filepath.Join(base, "app")}
	for _, dir := range []string{"app/.git/objects", "app/.git/refs/heads", "home", "config/lathe", "data"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(w.project, ".git", "HEAD"), "ref: refs/heads/main\n")
	script, user := "text \"Done.\"\nfinish stop\n", ""
	for _, f := range txtar.Parse([]byte(archive)).Files {
		switch f.Name {
		case "SCRIPT":
			script = string(f.Data)
		case "USER":
			user = "," + string(f.Data)
		default:
			w.write(f.Name, string(f.Data))
		}
	}
	w.model = modeltest.Start(t, modeltest.MustParse(script))
	put(t, filepath.Join(base, "config", "lathe", "lathe.json"), fmt.Sprintf(userConfig, w.model.URL, user))
	env := map[string]string{
		"HOME": filepath.Join(base, "home"), "XDG_CONFIG_HOME": filepath.Join(base, "config"), "LATHE_DATA": filepath.Join(base, "data"), "PATH": os.Getenv("PATH"),
		"LATHE_DISABLE_MODELS_FETCH": "1", "OUTER": "from outside", "LATHE_SERVER_PASSWORD": "hunter2", "DB_TOKEN": "t0ken",
	}
	var environ []string
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	w.host = &harness.Host{
		Dir: w.project, Version: "1", Now: time.Now, Log: slog.New(slog.DiscardHandler), Notices: os.Stderr, Trust: true,
		Env: func(name string) string { return env[name] }, Environ: func() []string { return environ },
	}
	return w
}

// write makes a file of the project; scripts can be run.
func (w *hooked) write(name, text string) {
	w.Helper()
	path := filepath.Join(w.project, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		w.Fatal(err)
	}
}

// open starts the engine without a user.
func (w *hooked) open() { w.openAs(w.host, true) }

// openAs starts the engine, with a user who answers requests or without one.
func (w *hooked) openAs(host *harness.Host, alone bool) *harness.Harness {
	w.Helper()
	h, err := harness.Open(w.Context(), host, harness.Options{HasClients: alone, Headless: true})
	if err != nil {
		w.Fatal(err)
	}
	w.harness = h
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	events := h.Engine.Events(ctx, lathe.Scope{Directory: w.project}, lathe.Opt[lathe.Cursor]{})
	w.watched.Go(func() {
		for e, err := range events {
			if err != nil {
				return
			}
			if t, ok := e.Fact.(*lathe.TUIToast); ok {
				w.mu.Lock()
				w.toasts = append(w.toasts, t.Message)
				w.mu.Unlock()
			}
		}
	})
	w.Cleanup(w.close)
	return h
}

// close ends the engine, as an exit does. It may be called more than once.
func (w *hooked) close() {
	if w.harness != nil {
		w.stop()
		w.watched.Wait()
		_ = w.harness.Close()
		w.harness = nil
	}
}

// send sends a prompt and waits for the end of the turn.
func (w *hooked) send(text string) (lathe.Message, error) {
	w.Helper()
	if w.harness == nil {
		w.open()
	}
	if w.session == "" {
		s, err := w.harness.Engine.Create(w.Context(), w.project, lathe.NewSession{Title: "Hooks"})
		if err != nil {
			w.Fatal(err)
		}
		w.session = s.ID
	}
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	return w.harness.Engine.Prompt(ctx, w.session, lathe.Prompt{Parts: []lathe.Part{{Body: &lathe.Text{Text: text}}}})
}

// run is send of a prompt that must be answered.
func (w *hooked) run(text string) string {
	w.Helper()
	m, err := w.send(text)
	if err != nil {
		w.Fatal(err)
	}
	if a := m.Data.(*lathe.Assistant); a.Error != nil {
		w.Fatalf("the turn failed: %s", lathe.FaultMessage(a.Error))
	}
	return w.results()
}

// results are the results of all calls of the session, as the model was told.
func (w *hooked) results() string {
	w.Helper()
	page, err := w.harness.Engine.Messages(w.Context(), w.session, lathe.Position{}, 0)
	if err != nil {
		w.Fatal(err)
	}
	var b strings.Builder
	for _, m := range page.Messages {
		for _, p := range m.Parts {
			c, ok := p.Body.(*lathe.ToolCall)
			if !ok {
				continue
			}
			switch st := c.State.(type) {
			case *lathe.Completed:
				fmt.Fprintf(&b, "%s: %s\n", c.Tool, st.Output)
			case *lathe.Failed:
				fmt.Fprintf(&b, "%s FAILED: %s\n", c.Tool, st.Error)
			}
		}
	}
	return b.String()
}

// received is all that the model was sent.
func (w *hooked) received() string {
	var b strings.Builder
	for _, r := range w.model.Requests() {
		b.Write(r.Body)
		b.WriteByte('\n')
	}
	return b.String()
}

// told are the notes for the user so far. The event of a note may still be on its way.
func (w *hooked) told(want string) bool {
	w.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		w.mu.Lock()
		all := strings.Join(w.toasts, "\n")
		w.mu.Unlock()
		if strings.Contains(all, want) {
			return true
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Logf("told: %q", w.toasts)
	return false
}

// file is the text of a file in the project, "" if there is none.
func (w *hooked) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(w.project, name))
	return string(text)
}

// input is the JSON that a hook saved to a file of the project.
func (w *hooked) input(name string) map[string]any {
	w.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(w.file(name)), &out); err != nil {
		w.Fatalf("%s: %v: %q", name, err, w.file(name))
	}
	return out
}
