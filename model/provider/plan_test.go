package provider

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/auth/othertool"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// prompt streams one answer and returns its text.
func prompt(t *testing.T, m model.Model, r model.Request) string {
	t.Helper()
	r.Messages = []model.Message{{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "hi"}}}}
	var out strings.Builder
	for e, err := range m.Stream(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.(model.TextDelta); ok {
			out.WriteString(d.Text)
		}
	}
	return out.String()
}

// home is the folder of a user who is logged in with other tools.
func home(t *testing.T, files map[string]string) othertool.Machine {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return othertool.Machine{Home: dir, Env: func(string) string { return "" }}
}

// imported saves the first login of a tool, as a reference or a copy, and returns what a client needs.
func imported(t *testing.T, m othertool.Machine, tool string, refer bool) Deps {
	t.Helper()
	found, problems, err := m.Find(tool)
	if err != nil || len(problems) > 0 || len(found) == 0 {
		t.Fatal(found, problems, err)
	}
	file := auth.Open(auth.Source{Path: filepath.Join(t.TempDir(), "auth.json"), Resolve: m.Resolve})
	c := found[0].Credential
	if ref, ok := found[0].Reference(); ok && refer {
		c = ref
	}
	if err := file.Set(t.Context(), found[0].Provider, c); err != nil {
		t.Fatal(err)
	}
	all, err := file.All()
	if err != nil {
		t.Fatal(err)
	}
	return Deps{Credentials: all, Token: Tokens(file, auth.Client{UserAgent: "lathe/1"}, auth.Methods())}
}

// A ChatGPT plan: the login of Codex, the address, headers and fields of its server. Nothing goes to the
// address of the API, and nothing is counted as cost.
func TestOpen_ChatGPTPlan(t *testing.T) {
	server := modeltest.Start(t, modeltest.MustParse("text \"From the plan.\""))
	m := home(t, map[string]string{".codex/auth.json": `{"tokens":{"access_token":"plan-token","refresh_token":"rotates","account_id":"acc-1"}}`})
	d := imported(t, m, "codex", true)
	d.Env = env("OPENAI_BASE_URL=https://elsewhere.test/v1")
	_, info, err := open(t, `{}`, "openai/gpt-5.2-codex", d)
	if err != nil || info.BaseURL != "https://chatgpt.com/backend-api/codex" || !reflect.DeepEqual(info.Price, model.Price{}) || info.Source != FromLogin {
		t.Fatalf("%+v %v", info, err)
	}
	c, info, err := open(t, `{"openai":{"options":{"baseURL":"`+server.URL+`/backend-api/codex"}}}`, "openai/gpt-5.2-codex", d)
	if err != nil {
		t.Fatal(err)
	}
	r := info.Defaults("ses_1")
	r.System = []string{"Be kind.", "Be brief."}
	if got := prompt(t, c, r); got != "From the plan." {
		t.Error(got)
	}
	last := server.Last()
	if last.Path != "/backend-api/codex/responses" || !last.HasKey("plan-token") || last.Header.Get("ChatGPT-Account-Id") != "acc-1" || last.Header.Get("Originator") != "lathe" || last.Header.Get("OpenAI-Beta") == "" {
		t.Errorf("%s %v", last.Path, last.Header)
	}
	var body map[string]any
	if err := json.Unmarshal(last.Body, &body); err != nil {
		t.Fatal(err)
	}
	if body["instructions"] != "Be kind.\n\nBe brief." || body["store"] != false || body["stream"] != true || body["max_output_tokens"] != nil || len(body["input"].([]any)) != 1 {
		t.Errorf("%v", body)
	}
	// The login of a plan is never one of the API: an API key has none of this.
	d.Credentials = map[string]auth.Credential{"openai": auth.Key{Key: auth.NewSecret("sk-1")}}
	if _, info, err := open(t, `{}`, "openai/gpt-5.2-codex", d); err != nil || info.BaseURL == planBase {
		t.Errorf("%+v %v", info, err)
	}
}

// The catalog of a plan has its models only, at no cost.
func TestForCredentials(t *testing.T) {
	login := map[string]auth.Credential{"openai": auth.OAuth{Access: auth.NewSecret("x")}}
	p := catalog.New(catalog.Filter{Adapt: ForCredentials(login)}).Provider("openai")
	if p.Models["gpt-5.2-codex"] == nil || p.Models["gpt-4o"] != nil || p.Models["gpt-5-nano"] != nil || p.Models["gpt-5.2-codex"].Cost.Input != 0 {
		t.Errorf("%v", p.Models)
	}
	for _, all := range []map[string]auth.Credential{nil, {"openai": auth.Key{Key: auth.NewSecret("x")}}} {
		p := catalog.New(catalog.Filter{Adapt: ForCredentials(all)}).Provider("openai")
		if p.Models["gpt-4o"] == nil || p.Models["gpt-5.2-codex"].Cost.Input == 0 {
			t.Errorf("%v", all)
		}
	}
}

// copilotAPI imitates GitHub's two servers: the one that gives short-lived tokens for a login, and the
// one that answers with them.
type copilotAPI struct {
	*modeltest.Server
	github *httptest.Server
	asked  int
}

func newCopilotAPI(t *testing.T) *copilotAPI {
	c := &copilotAPI{Server: modeltest.Start(t, modeltest.MustParse("text \"From Copilot.\"\n--\ntext \"Again.\""))}
	c.github = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.asked++
		if r.URL.Path != "/copilot_internal/v2/token" || r.Header.Get("Authorization") != "Bearer ghu_lasting" || r.Header.Get("Editor-Version") == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(`{"token":"tid=short","expires_at":` + strconv.FormatInt(time.Now().Add(25*time.Minute).Unix(), 10) + `}`))
	}))
	t.Cleanup(c.github.Close)
	return c
}

// The login of Copilot's editors, copied or referenced: it is exchanged once, and the request has the
// headers that Copilot's server wants.
func TestOpen_CopilotLogin(t *testing.T) {
	for _, refer := range []bool{false, true} {
		api := newCopilotAPI(t)
		m := home(t, map[string]string{".config/github-copilot/apps.json": `{"github.com:Iv1.x":{"user":"me","oauth_token":"ghu_lasting"}}`})
		d := imported(t, m, "copilot", refer)
		methods := auth.Methods()
		i := slices.IndexFunc(methods, func(m auth.Method) bool { return m.Provider == "github-copilot" })
		methods[i].Exchange = api.github.URL + "/copilot_internal/v2/token"
		file := auth.Open(auth.Source{Path: filepath.Join(t.TempDir(), "auth.json"), Resolve: m.Resolve})
		found, _, _ := m.Find("copilot")
		c := found[0].Credential
		if ref, _ := found[0].Reference(); refer {
			c = ref
		}
		if err := file.Set(t.Context(), "github-copilot", c); err != nil {
			t.Fatal(err)
		}
		d.Token = Tokens(file, auth.Client{UserAgent: "lathe/1"}, methods)
		client, info, err := open(t, `{"github-copilot":{"options":{"baseURL":"`+api.URL+`"}}}`, "github-copilot/claude-sonnet-4.6", d)
		if err != nil || info.Source != FromLogin {
			t.Fatal(info, err)
		}
		for _, want := range []string{"From Copilot.", "Again."} {
			if got := prompt(t, client, info.Defaults("ses_1")); got != want {
				t.Errorf("%v: %s", refer, got)
			}
		}
		last := api.Last()
		if last.Path != "/chat/completions" || !last.HasKey("tid=short") || last.Header.Get("Copilot-Integration-Id") == "" || last.Header.Get("Editor-Version") == "" || last.Header.Get("Openai-Intent") == "" {
			t.Errorf("%s %v", last.Path, last.Header)
		}
		if api.asked != 1 {
			t.Errorf("asked %d times", api.asked)
		}
	}
}

// A login that is saved but cannot be used now keeps its provider active, so that the user learns why.
func TestActiveProviders_BrokenReference(t *testing.T) {
	m := home(t, map[string]string{".codex/auth.json": `{"tokens":{"access_token":"plan-token"}}`})
	d := imported(t, m, "codex", true)
	if err := os.Remove(filepath.Join(m.Home, ".codex", "auth.json")); err != nil {
		t.Fatal(err)
	}
	d.Credentials = map[string]auth.Credential{"openai": auth.Reference{Tool: "codex", Name: "Codex", Path: "/gone"}}
	all := ActiveProviders(newCatalog(t, `{}`), d)
	i := slices.IndexFunc(all, func(a Active) bool { return a.Provider.ID == "openai" })
	if i < 0 || all[i].Implicit || all[i].Source != FromLogin {
		t.Fatalf("%v", all)
	}
	c, info, err := open(t, `{}`, "openai/gpt-5.2-codex", d)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Stream(t.Context(), info.Defaults("s")) {
		if err == nil || !strings.Contains(err.Error(), "codex login") {
			t.Error(err)
		}
	}
}
