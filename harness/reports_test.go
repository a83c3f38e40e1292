package harness_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/server"
)

// reported is a server with a real harness, in folders of its own.
type reported struct {
	client             *client.Client
	address            string
	project, user, out string // folders
}

const reportKey = "sk-report-secret-1234567890"

func newReported(t *testing.T) reported {
	t.Helper()
	ctx, base := t.Context(), t.TempDir()
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	out := reported{project: filepath.Join(base, "app"), user: filepath.Join(base, "config"), out: filepath.Join(base, "outside")}
	for _, dir := range []string{out.project, filepath.Join(out.user, "lathe"), out.out, filepath.Join(base, "home")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Api-Key") != "" {
			t.Error("a health check sends a credential")
		}
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	t.Cleanup(provider.Close)
	put(t, filepath.Join(out.user, "lathe", "lathe.jsonc"), `{
  // mine
  "model": "own/m1",
  "provider": {"own": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "`+provider.URL+`", "apiKey": "`+reportKey+`"},
    "models": {"m1": {"limit": {"context": 8000, "output": 1000}}}},
    "gone": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:1", "apiKey": "x"}, "models": {"m2": {}}}}
}
`)
	put(t, filepath.Join(out.project, "AGENTS.md"), "Use tabs.")
	env := map[string]string{"HOME": filepath.Join(base, "home"), "XDG_CONFIG_HOME": out.user, "LATHE_DATA": filepath.Join(base, "data"), "PATH": os.Getenv("PATH"), "LATHE_DISABLE_MODELS_FETCH": "1"}
	host := &harness.Host{
		Dir: out.project, Version: "1", Now: time.Now, Log: slog.New(slog.DiscardHandler), Notices: os.Stderr,
		Env: func(name string) string { return env[name] }, Environ: func() []string { return nil },
	}
	h, err := harness.Open(ctx, host, harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	backend, closer := h.Backend()
	web := httptest.NewServer(server.New(backend, server.Options{Directory: out.project}))
	t.Cleanup(func() { web.Close(); _ = closer.Close(); _ = h.Close() })
	if out.client, err = client.New(web.URL, client.Options{}); err != nil {
		t.Fatal(err)
	}
	out.address = web.URL
	return out
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The reports of a server, as a client gets them.
func TestReports(t *testing.T) {
	r := newReported(t)
	ctx := t.Context()
	s, err := r.client.Create(ctx, "", lathe.NewSession{})
	if err != nil {
		t.Fatal(err)
	}
	use, err := r.client.ContextUse(ctx, s.ID)
	if err != nil || use.Window != 8000 || use.Measured || use.Reserve == 0 {
		t.Errorf("ContextUse() = %+v, %v", use, err)
	}
	parts := map[string]int{}
	sum := 0
	for _, p := range use.Parts {
		parts[p.Name], sum = p.Tokens, sum+p.Tokens
	}
	if parts[api.PartSystem] == 0 || parts[api.PartTools] == 0 || parts[api.PartInstructions] == 0 || parts[api.PartMessages] != 0 || sum != use.Used {
		t.Errorf("parts of an empty session: %v of %d", parts, use.Used)
	}
	if cost, err := r.client.SessionCost(ctx, s.ID); err != nil || cost.Total.Cost != 0 || cost.Budgets == nil {
		t.Errorf("SessionCost() = %+v, %v", cost, err)
	}
	names, err := r.client.Checks(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range names {
		c, err := r.client.Check(ctx, "", name)
		if err != nil || c.Name != name || c.Detail == "" || c.Status != api.CheckOK && c.Status != api.CheckOff && c.Fix == "" {
			t.Errorf("Check(%q) = %+v, %v", name, c, err)
		}
		got[name] = c.Status
	}
	for name, want := range map[string]string{"Config": api.CheckOK, "Provider own": api.CheckOK, "Provider gone": api.CheckFail, "Database": api.CheckOK, "Language servers": api.CheckOff} {
		if got[name] != want {
			t.Errorf("%s is %q, not %q: %v", name, got[name], want, got)
		}
	}
}

// Hooks of the user are counted by event. Those of a project that is not trusted are named, with the way to run them.
func TestReports_Hooks(t *testing.T) {
	r := newReported(t)
	check := func() api.Check {
		t.Helper()
		names, err := r.client.Checks(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(names, "Hooks") {
			return api.Check{}
		}
		c, err := r.client.Check(t.Context(), "", "Hooks")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if got := check(); got != (api.Check{}) {
		t.Errorf("without hooks: %+v", got)
	}
	two := `[{"hooks":[{"type":"command","command":"true"},{"type":"command","command":"false"}]}]`
	if err := r.client.ChangeSetting(t.Context(), "", "hooks", json.RawMessage(`{"Stop":`+two+`}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := check(), (api.Check{Name: "Hooks", Status: api.CheckOK, Detail: "Stop 2"}); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	if err := os.Mkdir(filepath.Join(r.project, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(r.project, ".claude", "settings.json"), `{"hooks":{"PreToolUse":`+two+`}}`)
	if got := check(); got.Status != api.CheckWarn || !strings.HasPrefix(got.Detail, "Stop 2; hooks of this project do not run") || !strings.Contains(got.Fix, "lathe trust") {
		t.Errorf("%+v", got)
	}
	if err := r.client.ChangeSetting(t.Context(), "", "disable_hooks", json.RawMessage(`true`)); err != nil {
		t.Fatal(err)
	}
	if got := check(); got.Status != api.CheckOff {
		t.Errorf("%+v", got)
	}
}

// A setting is changed in the user's file, whose comments stay; an invalid one changes nothing.
func TestReports_Settings(t *testing.T) {
	r := newReported(t)
	ctx, path := t.Context(), filepath.Join(r.user, "lathe", "lathe.jsonc")
	of := func(key string) api.Setting {
		all, err := r.client.Settings(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(s api.Setting) bool { return s.Key == key })
		if i < 0 {
			t.Fatalf("there is no setting %s", key)
		}
		return all[i]
	}
	if s := of("model"); string(s.Value) != `"own/m1"` || !strings.HasSuffix(s.Origin, "lathe.jsonc") || s.Help == "" {
		t.Errorf("model: %+v", s)
	}
	if s := of("compaction.auto"); s.Value != nil || s.Origin != "default" || s.Type != "boolean" {
		t.Errorf("compaction.auto: %+v", s)
	}
	if err := r.client.ChangeSetting(ctx, "", "compaction.auto", json.RawMessage("false")); err != nil {
		t.Fatal(err)
	}
	if s := of("compaction.auto"); string(s.Value) != "false" || !strings.HasPrefix(s.Origin, "user: ") {
		t.Errorf("compaction.auto: %+v", s)
	}
	text := read(t, path)
	if !strings.Contains(text, "// mine") || !strings.Contains(text, reportKey) {
		t.Errorf("the file lost something:\n%s", text)
	}
	for key, value := range map[string]string{"compaction.auto": `"perhaps"`, "no.such": `1`, "model": `"a`} {
		if err := r.client.ChangeSetting(ctx, "", key, json.RawMessage(value)); err == nil {
			t.Errorf("%s: %s was taken", key, value)
		}
	}
	if now := read(t, path); now != text {
		t.Errorf("a refused change changed the file:\n%s", now)
	}
	if err := r.client.ChangeSetting(ctx, "", "compaction.auto", json.RawMessage("null")); err != nil || of("compaction.auto").Value != nil {
		t.Errorf("reset: %v, %+v", err, of("compaction.auto"))
	}
}

// No secret of the config is in the settings, and none can be overwritten by its mask.
func TestReports_HideSecrets(t *testing.T) {
	r := newReported(t)
	all, err := r.client.Settings(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(all)
	if path := filepath.Join(r.user, "lathe", "lathe.jsonc"); !strings.Contains(read(t, path), reportKey) || strings.Contains(string(raw), reportKey) {
		t.Error("the API key of a provider is in the settings")
	}
	i := slices.IndexFunc(all, func(s api.Setting) bool { return s.Key == "provider" })
	if i < 0 || !all[i].Secret {
		t.Fatal("providers are not marked as secret")
	}
	if err := r.client.ChangeSetting(t.Context(), "", "provider", all[i].Value); err == nil {
		t.Error("a masked value was written")
	}
}

// A line goes into the project's file and comes out of it again. Only listed files are written, and no link leads out.
func TestReports_MemoryStaysInside(t *testing.T) {
	r := newReported(t)
	ctx, own := t.Context(), filepath.Join(r.project, "AGENTS.md")
	add := func(e api.MemoryEdit) error { _, err := r.client.EditMemory(ctx, "", e); return err }
	if err := add(api.MemoryEdit{Line: "Run make first"}); err != nil || read(t, own) != "Use tabs.\n- Run make first\n" {
		t.Errorf("%v: %q", err, read(t, own))
	}
	if err := add(api.MemoryEdit{Line: "Run make first", Remove: true}); err != nil || read(t, own) != "Use tabs.\n" {
		t.Errorf("removed: %v: %q", err, read(t, own))
	}
	secret := filepath.Join(r.out, "profile")
	put(t, secret, "mine\n")
	for _, e := range []api.MemoryEdit{
		{File: secret, Line: "x"},
		{File: own + "/../../outside/profile", Line: "x"},
		{File: "../outside/profile", Line: "x"},
		{Line: "two\nlines"},
		{Line: "esc \x1b[31m"},
		{Line: "  "},
		{Line: strings.Repeat("x", 5000)},
		{Line: "bidi\u0000"},
	} {
		if add(e) == nil {
			t.Errorf("%.60q was taken for %s", e.Line, e.File)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("links need a right of their own on Windows")
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(r.project, "CLAUDE.md")
	put(t, inside, "")
	if err := os.Symlink("CLAUDE.md", own); err != nil {
		t.Fatal(err)
	}
	if err := add(api.MemoryEdit{Line: "x"}); err != nil || read(t, inside) != "- x\n" { // the control: a link inside is followed
		t.Errorf("a link inside the project: %v: %q", err, read(t, inside))
	}
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{secret, "../outside/profile", filepath.Join(r.out, "new")} {
		if err := os.Remove(own); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, own); err != nil {
			t.Fatal(err)
		}
		if add(api.MemoryEdit{Line: "x"}) == nil {
			t.Errorf("a link to %s was followed", target)
		}
	}
	if _, err := os.Lstat(filepath.Join(r.out, "new")); err == nil || read(t, secret) != "mine\n" {
		t.Error("a link out of the project was written through")
	}
}

// Bad ids, names and bodies get an answer that says so.
func TestReports_BadRequests(t *testing.T) {
	r := newReported(t)
	for _, tt := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/lathe/checks", "", 200}, // the control
		{"GET", "/lathe/session/..%2f..%2fx/context", "", 400},
		{"GET", "/lathe/session/ses_0000000000000000000000000000/context", "", 404},
		{"GET", "/lathe/session/x/cost", "", 400},
		{"GET", "/lathe/check?name=%1b%5b31mProvider", "", 404},
		{"GET", "/lathe/check?name=Provider+..%2f..%2fetc", "", 404},
		{"GET", "/lathe/settings?directory=%2fno%2fsuch%2ffolder", "", 400},
		{"PATCH", "/lathe/settings", `{"key":"` + strings.Repeat("x", 1<<16) + `","value":1}`, 404},
		{"PATCH", "/lathe/settings", `{"key":"model","value":"` + strings.Repeat("x", 1<<17) + `"}`, 400},
		{"PATCH", "/lathe/settings", `[]`, 400},
		{"PATCH", "/lathe/settings", `{"key":"__proto__.x","value":1}`, 404},
		{"POST", "/lathe/memory", `{"line":"\u001b]0;x\u0007"}`, 400},
		{"POST", "/lathe/memory", `{"line":7}`, 400},
		{"DELETE", "/lathe/memory", ``, 405},
	} {
		req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), tt.method, r.address+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s %.60s %.40s: %d, want %d", tt.method, tt.path, tt.body, res.StatusCode, tt.want)
		}
	}
}
