package screen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tui"
)

func TestMain(m *testing.M) {
	if code, mine := sandbox.Launch(os.Args, os.Environ); mine { // a command of a turn
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func newApp() *cli.App {
	return cli.NewApp(harness.Host{
		Version: "test", Env: os.Getenv, Environ: os.Environ, Now: time.Now, Log: slog.New(slog.DiscardHandler), Notices: os.Stderr,
		Logins: auth.Methods(), Browse: account.OpenBrowser,
	})
}

// untilAsked waits until the model was asked.
func untilAsked(t *testing.T, m *modeltest.Server) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); len(m.Requests()) == 0; <-tick.C {
		if time.Since(began) > time.Minute {
			t.Fatal("the model was not asked")
		}
	}
}

// tuiHome is a home with a scripted model and a project; the program is opened in it as the terminal
// program opens it.
func tuiHome(t *testing.T, script string) (*cli.App, *modeltest.Server) {
	t.Helper()
	m := modeltest.Start(t, modeltest.MustParse(script))
	home := t.TempDir()
	settings := filepath.Join(home, ".config", "lathe", "lathe.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, fmt.Appendf(nil, `{"model":"script/script","provider":{"script":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"%s/v1","apiKey":"none"},"models":{"script":{"cost":{"input":1,"output":2}}}}}}`, m.URL), 0o644); err != nil {
		t.Fatal(err)
	}
	a := newApp()
	a.Dir = filepath.Join(home, "p")
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a.Env = func(name string) string {
		switch name {
		case "HOME":
			return home
		case "LATHE_DATA":
			return filepath.Join(home, "data")
		case "PATH", "TMPDIR":
			return os.Getenv(name)
		}
		return ""
	}
	return a, m
}

// opened is the engine as the terminal program has it, closed with the test.
func opened(t *testing.T, a *cli.App) tui.Engine {
	t.Helper()
	door := &opener{open: func(ctx context.Context) (*tuiEngine, error) { return openTUI(ctx, a) }}
	h, err := door.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := door.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// hears reads events until one fits.
func hears(t *testing.T, h tui.Engine, begin func(), fits func(lathe.Event) bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	begun := false
	for ev, err := range h.Events(ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.Fact.(*lathe.ServerConnected); ok {
			if begun {
				t.Fatal("it says twice that it is connected")
			}
			begun = true
			begin()
			continue
		}
		if fits(ev) {
			return
		}
	}
}

func rests(id lathe.SessionID) func(lathe.Event) bool {
	return func(ev lathe.Event) bool {
		f, ok := ev.Fact.(*lathe.StatusChanged)
		return ok && f.Session == id && f.Status.Type == lathe.Idle
	}
}

func wrote(words string) []lathe.Part { return []lathe.Part{{Body: &lathe.Text{Text: words}}} }

// A whole conversation over the small interface, without a port.
func TestTUIHost_Conversation(t *testing.T) {
	t.Parallel()
	a, m := tuiHome(t, "text \"One.\"\nfinish stop\n--\ntext \"Two.\"\nfinish stop\n--\ntext \"In short.\"\nfinish stop")
	h, ctx := opened(t, a), t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := h.Create(ctx, a.Dir, lathe.NewSession{Title: "t"})
	ok(err)
	sent := func(_ lathe.Message, err error) { ok(err) }
	hears(t, h, func() { sent(h.Submit(ctx, s.ID, lathe.Prompt{Parts: wrote("first")})) }, rests(s.ID))
	page, err := h.Messages(ctx, s.ID, lathe.Position{}, 50)
	ok(err)
	if len(page.Messages) != 2 || page.More {
		t.Errorf("%d messages, then %v", len(page.Messages), page.Next)
	}
	hears(t, h, func() { sent(h.SubmitCommand(ctx, s.ID, lathe.CommandCall{Command: "init", Arguments: "all"})) }, rests(s.ID))
	if n := len(m.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
	if _, err := h.SubmitCommand(ctx, s.ID, lathe.CommandCall{Command: "nonesuch"}); err == nil || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("a command that is none: %v", err)
	}
	ok(h.Compact(ctx, s.ID, lathe.CompactRequest{Model: &lathe.ModelRef{Provider: "script", Model: "script"}}))
	undone, err := h.Undo(ctx, s.ID, lathe.Undo{Message: page.Messages[0].ID})
	ok(err)
	if undone.Session.Revert == nil {
		t.Errorf("undone: %+v", undone)
	}
	redone, err := h.Redo(ctx, s.ID, lathe.Undo{})
	ok(err)
	if redone.Session.ID != s.ID {
		t.Errorf("redone: %+v", redone)
	}
	sent(h.Shell(ctx, s.ID, lathe.ShellCommand{Command: "echo hi", Agent: "build"}))
	copied, err := h.Fork(ctx, a.Dir, s.ID, "")
	ok(err)
	_, err = h.Rename(ctx, copied.ID, "copy")
	ok(err)
	list, err := h.List(ctx, lathe.Query{Directory: a.Dir, Search: "cop", Limit: 5})
	ok(err)
	all, err := h.List(ctx, lathe.Query{Roots: true})
	ok(err)
	if len(list) != 1 || list[0].ID != copied.ID || len(all) != 2 {
		t.Errorf("found %d of %d", len(list), len(all))
	}
	ok(h.Remove(ctx, copied.ID))
	ok(h.Cancel(ctx, s.ID))
	nothingElse(t, h, s.ID)
}

// nothingElse holds that a session is at rest and has nothing besides what was said.
func nothingElse(t *testing.T, h tui.Engine, id lathe.SessionID) {
	t.Helper()
	ctx := t.Context()
	asks, err1 := h.Asks(ctx, lathe.Scope{})
	status, err2 := h.Statuses(ctx, lathe.Scope{})
	todos, err3 := h.Todos(ctx, id)
	diffs, err4 := h.Diff(ctx, id, "")
	children, err5 := h.Children(ctx, id)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	if len(asks)+len(status)+len(todos)+len(diffs)+len(children) != 0 {
		t.Errorf("asks %v, status %v, todos %v, diffs %v, children %v", asks, status, todos, diffs, children)
	}
}

func TestTUIHost_Catalogue(t *testing.T) {
	a, _ := tuiHome(t, "")
	if err := os.WriteFile(filepath.Join(a.Dir, "one.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, ctx := opened(t, a), t.Context()
	info, err := h.Info(ctx, a.Dir)
	if err != nil || info.Directory != a.Dir || info.Version != a.Version || !info.Trusted || info.Remote || info.Home == "" {
		t.Errorf("%+v, %v", info, err)
	}
	p, err := h.Providers(ctx, a.Dir)
	if err != nil {
		t.Fatal(err)
	}
	ref := lathe.ModelRef{Provider: "script", Model: "script"}
	if len(p.Connected) != 1 || p.Connected[0].Models[0].Ref != ref || p.Connected[0].Models[0].OutputPrice != 2 || len(p.All) < 10 || p.Model == nil || *p.Model != ref {
		t.Errorf("connected %+v, model %v, %d known", p.Connected, p.Model, len(p.All))
	}
	agents, err := h.Agents(ctx, a.Dir)
	if err != nil || agents[0].Name != "build" {
		t.Errorf("%v, %v", agents, err)
	}
	commands, err := h.Commands(ctx, a.Dir)
	if err != nil || !slices.ContainsFunc(commands, func(c lathe.Command) bool { return c.Name == "init" }) {
		t.Errorf("%v, %v", commands, err)
	}
	if _, err := h.Skills(ctx, a.Dir); err != nil {
		t.Error(err)
	}
	servers, err := h.ToolServers(ctx, a.Dir)
	if err != nil || len(servers) != 0 {
		t.Errorf("%v, %v", servers, err)
	}
	if err := h.ConnectTools(ctx, a.Dir, "none", true); lathe.CodeOf(err) != lathe.NotFound {
		t.Errorf("a server that is none: %v", err)
	}
	files, err := h.FindFiles(ctx, a.Dir, "one", 5)
	if err != nil || !slices.Contains(files, "one.txt") {
		t.Errorf("%v, %v", files, err)
	}
	ways, err := h.LoginMethods(ctx, a.Dir)
	if err != nil || len(ways["openrouter"]) != 2 || !ways["openrouter"][0].UsesBrowser() || ways["openrouter"][1].UsesBrowser() {
		t.Errorf("%v, %v", ways, err)
	}
	if err := h.SetKey(ctx, "anthropic", "sk-test-1"); err != nil {
		t.Fatal(err)
	}
	if p, err = h.Providers(ctx, a.Dir); err != nil || !slices.ContainsFunc(p.Connected, func(p lathe.Provider) bool { return p.ID == "anthropic" && len(p.Models) > 0 }) {
		t.Errorf("the key opens nothing: %v", err)
	}
}

// The permission mode is changed in the user's config while the engine runs: the rules of its agents are others at
// once, and a project's stricter mode stays.
func TestTUIHost_Mode(t *testing.T) {
	a, _ := tuiHome(t, "")
	h := opened(t, a)
	edits := func() lathe.Action {
		agents, err := h.Agents(t.Context(), a.Dir)
		if err != nil || len(agents) == 0 {
			t.Fatalf("%v, %v", agents, err)
		}
		return agents[0].Rules.Evaluate("edit", "a.go").Action
	}
	for _, tt := range []struct {
		set, want lathe.Mode
		edits     lathe.Action
		project   string
	}{
		{lathe.ReadOnlyMode, lathe.ReadOnlyMode, lathe.Deny, `{}`},
		{lathe.AskMode, lathe.AskMode, lathe.Ask, `{}`},
		{lathe.SandboxMode, lathe.SandboxMode, lathe.Allow, `{}`},
		{lathe.SandboxMode, lathe.AskMode, lathe.Ask, `{"permission_mode":"ask"}`},
	} {
		if err := os.WriteFile(filepath.Join(a.Dir, "lathe.json"), []byte(tt.project), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := h.SetMode(t.Context(), a.Dir, tt.set)
		if err != nil || got != tt.want || edits() != tt.edits {
			t.Errorf("set %s: %s, edits %s, %v", tt.set, got, edits(), err)
		}
		if info, err := h.Info(t.Context(), a.Dir); err != nil || info.Mode != tt.want || info.ChooseMode {
			t.Errorf("set %s: %+v, %v", tt.set, info, err)
		}
	}
}

// A project with settings that wait for trust says so, and one with a file that cannot be read.
func TestTUIHost_Distrust(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcp":{"x":{"type":"local","command":["x"]}}}`: "distrusted ",
		`{"username": 3}`: "trusted Ignored a broken config file of this project: ",
		`{}`:              "trusted ",
	} {
		a, _ := tuiHome(t, "")
		if err := os.WriteFile(filepath.Join(a.Dir, "lathe.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := opened(t, a).Info(t.Context(), a.Dir)
		got := map[bool]string{true: "trusted ", false: "distrusted "}[info.Trusted] + info.ConfigProblem
		if err != nil || !strings.HasPrefix(got, want) || info.ConfigProblem == "" && got != want {
			t.Errorf("%s: %+v, %v", text, info, err)
		}
	}
}

// Who leaves while a turn runs and a command is waited for leaves nothing running, and it can be resumed.
func TestTUIHost_LeavesMidTurn(t *testing.T) {
	a, m := tuiHome(t, "text \"Half of \"\nstall")
	door := &opener{open: func(ctx context.Context) (*tuiEngine, error) { return openTUI(ctx, a) }}
	h, err := door.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Create(t.Context(), a.Dir, lathe.NewSession{Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.SubmitCommand(t.Context(), s.ID, lathe.CommandCall{Command: "review"}); err != nil {
		t.Fatal(err)
	}
	untilAsked(t, m)
	if err := door.Close(); err != nil {
		t.Error(err)
	}
	if _, err := h.Get(context.Background(), s.ID); lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("asked too late: %v", err)
	}
	if _, err := door.enter(t.Context()); err == nil {
		t.Error("opened too late")
	}
	again := opened(t, a)
	cut, err := again.Interrupted(t.Context())
	if err != nil || !slices.Contains(cut, s.ID) {
		t.Errorf("cut off: %v, %v", cut, err)
	}
}

// A free model is offered with who reads along, and counts once the user has chosen it.
func TestTUIHost_FreeModel(t *testing.T) {
	a, _ := tuiHome(t, "")
	settings := filepath.Join(a.Env("HOME"), ".config", "lathe", "lathe.json")
	if err := os.WriteFile(settings, []byte(`{"disabled_providers":["ollama","lmstudio","llama.cpp","vllm"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h := opened(t, a)
	if p, err := h.Providers(t.Context(), a.Dir); err != nil || len(p.Connected) != 0 {
		t.Fatalf("connected %+v, %v", p.Connected, err)
	}
	offers := tuiOffers(t.Context(), a)
	if len(offers) != 3 || offers[1].ID != "opencode/big-pickle" || offers[1].Detail != "OpenCode Zen sees your prompts and may store them" {
		t.Fatalf("offers %+v", offers)
	}
	if err := offers[1].Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p, err := h.Providers(t.Context(), a.Dir); err != nil || len(p.Connected) != 1 || p.Connected[0].ID != "opencode" || p.Model == nil || p.Model.Model != "big-pickle" {
		t.Errorf("connected %+v, %v", p, err)
	}
}

// Somebody without a provider is offered what there is, and a model of this machine becomes the one of
// the settings.
func TestTUIHost_Offers(t *testing.T) {
	a, m := tuiHome(t, "")
	m.ListModels("tiny", "large")
	settings := filepath.Join(a.Env("HOME"), ".config", "lathe", "lathe.json")
	src := `{"disabled_providers":["opencode","lmstudio","llama.cpp","vllm"],"provider":{"ollama":{"options":{"baseURL":"` + m.URL + `/v1"}}}}`
	if err := os.WriteFile(settings, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	h := opened(t, a)
	p, err := h.Providers(t.Context(), a.Dir)
	if err != nil || len(p.Connected) != 0 {
		t.Fatalf("connected %+v, %v", p.Connected, err)
	}
	offers := tuiOffers(t.Context(), a)
	if len(offers) != 4 || !offers[0].Login || offers[len(offers)-1].ID != account.ChooseDemo || offers[len(offers)-1].Do != nil || offers[1].Do == nil {
		t.Fatalf("offers %+v", offers)
	}
	if err := offers[1].Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p, err = h.Providers(t.Context(), a.Dir); err != nil || p.Model == nil || p.Model.Provider+"/"+p.Model.Model != offers[1].ID || len(p.Connected) != 1 || p.Connected[0].ID != "ollama" {
		t.Errorf("model %v, connected %+v, %v", p.Model, p.Connected, err)
	}
}

// Changes of git, through the engine.
func TestTUIHost_Changes(t *testing.T) {
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git here")
	}
	a, _ := tuiHome(t, "")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=dev", "-c", "user.email=dev@example.test", "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command(program, args...)
		cmd.Dir = a.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(a.Dir, "new.txt"), []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := opened(t, a)
	info, err := h.Info(t.Context(), a.Dir)
	if err != nil || info.Branch != "main" {
		t.Errorf("%+v, %v", info, err)
	}
	diffs, err := h.Changes(t.Context(), a.Dir, api.Uncommitted)
	if err != nil || len(diffs) != 1 || diffs[0].File != "new.txt" {
		t.Errorf("%v, %v", diffs, err)
	}
	if diffs, err := h.Changes(t.Context(), a.Dir, api.SinceBranch); err != nil || len(diffs) != 0 { // it is the default one
		t.Errorf("%v, %v", diffs, err)
	}
}

// An engine of this process has no address that others could read a session at.
func TestTUIHost_SharesNothingByItself(t *testing.T) {
	a, _ := tuiHome(t, "")
	settings := filepath.Join(a.Env("HOME"), ".config", "lathe", "lathe.json")
	was, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(strings.Replace(string(was), "{", `{"share":"auto",`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	h, ctx := opened(t, a), t.Context()
	s, err := h.Create(ctx, a.Dir, lathe.NewSession{Agent: "build"})
	if err != nil || s.Share != nil {
		t.Fatal(s.Share, err)
	}
	if _, err := h.Share(ctx, s.ID); lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("shared: %v", err)
	}
	if s, err := h.Get(ctx, s.ID); err != nil || s.Share != nil {
		t.Errorf("%+v, %v", s.Share, err)
	}
}
