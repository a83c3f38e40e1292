package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

// catalog is the embedded one with the given settings.
func newCatalog(t *testing.T, settings string) *catalog.Catalog {
	t.Helper()
	c := catalog.New(catalog.Filter{}, catalog.Config(json.RawMessage(settings)))
	if errs := c.Errors(); errs != nil {
		t.Fatal(errs)
	}
	return c
}

func open(t *testing.T, settings, ref string, d Deps) (model.Model, Info, error) {
	t.Helper()
	c := newCatalog(t, settings)
	m, err := c.Find(ref)
	if err != nil {
		t.Fatal(err)
	}
	return Open(c.Provider(m.Provider), m, d)
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == name {
				return v
			}
		}
		return ""
	}
}

func TestOpen_Protocols(t *testing.T) {
	const models = `"models":{"m":{}}`
	compatible := func(npm string) string { return `{"acme":{"npm":"` + npm + `",` + models + `}}` }
	for _, c := range []struct {
		name, settings, ref, env string
		protocol                 Protocol
		base                     string
	}{
		{"anthropic", "", "anthropic/claude-opus-5", "ANTHROPIC_API_KEY=k", Messages, "https://api.anthropic.com/v1"},
		{"openai", "", "openai/gpt-5", "OPENAI_API_KEY=k", Responses, "https://api.openai.com/v1"},
		{"google", "", "google/gemini-2.5-pro", "GEMINI_API_KEY=k", Gemini, "https://generativelanguage.googleapis.com/v1beta"},
		{"openrouter", "", "openrouter/anthropic/claude-sonnet-4.6", "OPENROUTER_API_KEY=k", Chat, "https://openrouter.ai/api/v1"},
		{"xai", "", "xai/grok-4.5", "XAI_API_KEY=k", Chat, "https://api.x.ai/v1"},
		{"kimi", "", "kimi-for-coding/kimi-for-coding", "KIMI_API_KEY=k", Messages, "https://api.kimi.com/coding/v1"},
		{"gateway claude", "", "opencode/claude-opus-5", "OPENCODE_API_KEY=k", Messages, "https://opencode.ai/zen/v1"},
		{"gateway gpt", "", "opencode/gpt-5", "OPENCODE_API_KEY=k", Responses, "https://opencode.ai/zen/v1"},
		{"gateway free", "", "opencode/big-pickle", "", Chat, "https://opencode.ai/zen/v1"},
		{"bedrock", "", "amazon-bedrock/us.anthropic.claude-opus-5", "AWS_BEARER_TOKEN_BEDROCK=k", Converse, "https://bedrock-runtime.us-east-1.amazonaws.com"},
		{"copilot chat", "", "github-copilot/claude-sonnet-4.6", "GITHUB_TOKEN=k", Chat, "https://api.githubcopilot.com"},
		{"copilot responses", "", "github-copilot/gpt-5.4", "GITHUB_TOKEN=k", Responses, "https://api.githubcopilot.com"},
		{"vertex with a key", "", "google-vertex/gemini-2.5-pro", "GOOGLE_VERTEX_API_KEY=k", Gemini, "https://aiplatform.googleapis.com/v1/publishers/google"},
		{"vertex with a token", "", "google-vertex/gemini-2.5-pro", "GOOGLE_VERTEX_API_KEY=ya29.k GOOGLE_CLOUD_PROJECT=pro", Gemini, "https://us-central1-aiplatform.googleapis.com/v1/projects/pro/locations/us-central1/publishers/google"},
		{"claude on vertex", "", "google-vertex/claude-opus-4-6", "GOOGLE_VERTEX_API_KEY=k GOOGLE_VERTEX_PROJECT=pro", Messages, "https://aiplatform.googleapis.com/v1/projects/pro/locations/global/publishers/anthropic"},
		{"claude on vertex, in a region", `{"google-vertex-anthropic":{"options":{"project":"pro","location":"us-east5"}}}`, "google-vertex-anthropic/claude-opus-4-6", "GOOGLE_VERTEX_API_KEY=k", Messages, "https://us-east5-aiplatform.googleapis.com/v1/projects/pro/locations/us-east5/publishers/anthropic"},
		{"claude on vertex, in a part of the world", `{"google-vertex-anthropic":{"options":{"project":"pro"}}}`, "google-vertex-anthropic/claude-opus-4-6", "GOOGLE_VERTEX_API_KEY=k VERTEX_LOCATION=eu", Messages, "https://aiplatform.eu.rep.googleapis.com/v1/projects/pro/locations/eu/publishers/anthropic"},
		{"vertex behind a proxy", `{"google-vertex-anthropic":{"options":{"baseURL":"http://proxy/publishers/anthropic/models/"}}}`, "google-vertex-anthropic/claude-opus-4-6", "GOOGLE_VERTEX_API_KEY=k", Messages, "http://proxy/publishers/anthropic"},
		{"azure behind a gateway", `{"azure":{"options":{"baseURL":"https://gw/openai"}}}`, "azure/gpt-5", "AZURE_API_KEY=k", Responses, "https://gw/openai/v1"},
		{"azure, completions", `{"azure":{"options":{"resourceName":"res","useCompletionUrls":true}}}`, "azure/gpt-5", "AZURE_API_KEY=k", Chat, "https://res.openai.azure.com/openai/v1"},
		{"azure", `{"azure":{"options":{"resourceName":"res"}}}`, "azure/gpt-5", "AZURE_API_KEY=k", Responses, "https://res.openai.azure.com/openai/v1"},
		{"azure deployments", `{"azure":{"options":{"resourceName":"res","useDeploymentBasedUrls":true,"apiVersion":"1"}}}`, "azure/gpt-5", "AZURE_API_KEY=k", Chat, "https://res.openai.azure.com/openai"},
		{"mantle", `{"amazon-bedrock":{"options":{"region":"us-east-2"},"models":{"openai.gpt-5.5":{"provider":{"npm":"@ai-sdk/amazon-bedrock/mantle"}}}}}`, "amazon-bedrock/openai.gpt-5.5", "AWS_BEARER_TOKEN_BEDROCK=k", Responses, "https://bedrock-mantle.us-east-2.api.aws/openai/v1"},
		{"bedrock others", `{"amazon-bedrock":{"models":{"openai.gpt-oss-120b":{}}}}`, "amazon-bedrock/openai.gpt-oss-120b", "AWS_BEARER_TOKEN_BEDROCK=k AWS_REGION=cn-north-1", Converse, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"},
		{"settings win", `{"anthropic":{"options":{"baseURL":"http://proxy/v1/"}}}`, "anthropic/claude-opus-5", "ANTHROPIC_API_KEY=k", Messages, "http://proxy/v1"},
		{"a variable", "", "openai/gpt-5", "OPENAI_API_KEY=k OPENAI_BASE_URL=http://proxy/v1", Responses, "http://proxy/v1"},
		{"own server", `{"own":{"options":{"baseURL":"http://127.0.0.1:9/v1"},` + models + `}}`, "own/m", "", Chat, "http://127.0.0.1:9/v1"},
		{"placeholder", `{"own":{"env":["OWN_ACCOUNT","OWN_TOKEN"],"api":"https://x/${OWN_ACCOUNT}/v1",` + models + `}}`, "own/m", "OWN_TOKEN=k OWN_ACCOUNT=acc", Chat, "https://x/acc/v1"},
		{"unknown package with address", `{"own":{"npm":"some-sdk","api":"https://x/v1",` + models + `}}`, "own/m", "", Chat, "https://x/v1"},
		{"groq", compatible("@ai-sdk/groq"), "acme/m", "", Chat, "https://api.groq.com/openai/v1"},
		{"mistral", compatible("@ai-sdk/mistral"), "acme/m", "", Chat, "https://api.mistral.ai/v1"},
		{"deepinfra", compatible("@ai-sdk/deepinfra"), "acme/m", "", Chat, "https://api.deepinfra.com/v1/openai"},
		{"together", compatible("@ai-sdk/togetherai"), "acme/m", "", Chat, "https://api.together.xyz/v1"},
		{"perplexity", compatible("@ai-sdk/perplexity"), "acme/m", "", Chat, "https://api.perplexity.ai"},
		{"cohere", compatible("@ai-sdk/cohere"), "acme/m", "", Chat, "https://api.cohere.ai/compatibility/v1"},
		{"cerebras", compatible("@ai-sdk/cerebras"), "acme/m", "", Chat, "https://api.cerebras.ai/v1"},
	} {
		_, info, err := open(t, c.settings, c.ref, Deps{Env: env(strings.Fields(c.env)...)})
		if err != nil || info.Protocol != c.protocol || info.BaseURL != c.base {
			t.Errorf("%s: %q %q %v", c.name, info.Protocol, info.BaseURL, err)
		}
	}
}

func TestOpen_Errors(t *testing.T) {
	for _, c := range []struct {
		name, settings, ref, env string
		code                     lathe.Code
		want                     string
	}{
		{"no key", "", "anthropic/claude-opus-5", "", lathe.Unauthorized, `set ANTHROPIC_API_KEY, or run "lathe auth login anthropic"`},
		{"two variables", "", "google/gemini-2.5-pro", "", lathe.Unauthorized, "GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY"},
		{"signed requests", "", "amazon-bedrock/us.anthropic.claude-opus-5", "AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b", lathe.Unauthorized, "AWS_BEARER_TOKEN_BEDROCK"},
		{"a model of the gateway that is not free", "", "opencode/claude-opus-5", "", lathe.Unauthorized, "OPENCODE_API_KEY"},
		{"no resource", "", "azure/gpt-5", "AZURE_API_KEY=k", lathe.Invalid, "AZURE_RESOURCE_NAME"},
		{"no project", "", "google-vertex/claude-opus-4-6", "GOOGLE_VERTEX_API_KEY=k", lathe.Invalid, "GOOGLE_VERTEX_PROJECT"},
		{"no token", "", "google-vertex/claude-opus-4-6", "", lathe.Unauthorized, "gcloud auth print-access-token"},
		{"no address", `{"own":{"models":{"m":{}}}}`, "own/m", "", lathe.Invalid, "provider.own.options.baseURL"},
		{"unknown package", `{"own":{"npm":"some-sdk","models":{"m":{}}}}`, "own/m", "", lathe.Invalid, "some-sdk"},
		{"an option of a wrong type", `{"own":{"options":{"baseURL":5},"models":{"m":{}}}}`, "own/m", "", lathe.Invalid, "provider.own.options.baseURL"},
		{"a variable of others in the address", `{"own":{"api":"https://x/${HOME}","models":{"m":{}}}}`, "own/m", "HOME=secret", lathe.Invalid, "needs HOME"},
	} {
		_, _, err := open(t, c.settings, c.ref, Deps{Env: env(strings.Fields(c.env)...)})
		var e *lathe.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if fault, ok := e.Fault.(*lathe.ProviderAuthFault); (e.Code == lathe.Unauthorized) != ok || ok && fault.Message != e.Message {
			t.Errorf("%s: fault %+v", c.name, e.Fault)
		}
	}
}

// request is a request as a server got it.
type request struct {
	path   string
	header http.Header
	body   string
}

// listen answers every request with a refusal and remembers it.
func listen(t *testing.T) (base string, last func() request) {
	t.Helper()
	ch := make(chan request, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		ch <- request{r.URL.RequestURI(), r.Header, string(b)}
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() request { return <-ch }
}

func ask(t *testing.T, m model.Model, name string, options map[string]json.RawMessage) {
	t.Helper()
	r := model.Request{Model: name, Messages: []model.Message{{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "hi"}}}}, MaxOutput: 100, Options: options}
	for _, err := range m.Stream(t.Context(), r) {
		if err == nil || strings.Contains(err.Error(), "the-key") {
			t.Errorf("the refusal: %v", err)
		}
	}
}

func TestOpen_WhatIsSent(t *testing.T) {
	base, last := listen(t)
	for _, c := range []struct {
		name, npm, path, header, value string
	}{
		{"anthropic", catalog.Anthropic, "/v1/messages", "X-Api-Key", "the-key"},
		{"chat", catalog.Compatible, "/v1/chat/completions", "Authorization", "Bearer the-key"},
		{"responses", catalog.OpenAI, "/v1/responses", "Authorization", "Bearer the-key"},
		{"gemini", catalog.Google, "/v1/models/wire-id:streamGenerateContent?alt=sse", "X-Goog-Api-Key", "the-key"},
		{"azure", catalog.Azure, "/v1/responses", "Api-Key", "the-key"},
		{"bedrock", catalog.Bedrock, "/v1/model/wire-id/converse-stream", "Authorization", "Bearer the-key"},
		{"vertex", catalog.Vertex, "/v1/models/wire-id:streamGenerateContent?alt=sse", "X-Goog-Api-Key", "the-key"},
		{"claude on vertex", catalog.VertexAnthropic, "/v1/models/wire-id:streamRawPredict", "Authorization", "Bearer the-key"},
	} {
		settings := fmt.Sprintf(`{"own":{"npm":%q,"options":{"baseURL":%q,"apiKey":"the-key","headers":{"x-mine":"1"}},"models":{"m":{"id":"wire-id","headers":{"x-model":"2"}}}}}`, c.npm, base+"/v1/")
		m, info, err := open(t, settings, "own/m", Deps{})
		if err != nil {
			t.Fatal(err)
		}
		ask(t, m, info.Name, nil)
		got := last()
		if got.path != c.path || got.header.Get(c.header) != c.value || got.header.Get("X-Mine") != "1" || got.header.Get("X-Model") != "2" {
			t.Errorf("%s: %+v", c.name, got)
		}
		if info.Source != FromConfig || !strings.Contains(got.path+got.body, "wire-id") {
			t.Errorf("%s: %+v %s", c.name, info.Source, got.body)
		}
	}
}

func TestOpen_HeadersOfSettingsWin(t *testing.T) {
	base, last := listen(t)
	m, _, err := open(t, fmt.Sprintf(`{"anthropic":{"options":{"baseURL":%q,"headers":{"authorization":"mine","ANTHROPIC-BETA":"b"}}}}`, base), "anthropic/claude-opus-5", Deps{})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, m, "x", nil)
	if h := last().header; h.Get("Authorization") != "mine" || h.Get("Anthropic-Beta") != "b" || h.Get("X-Api-Key") != "" {
		t.Errorf("%v", h)
	}
}

func TestOpen_Login(t *testing.T) {
	base, last := listen(t)
	login := auth.OAuth{Access: auth.NewSecret("old"), EnterpriseURL: "https://corp.example/"}
	n := 0
	d := Deps{Credentials: map[string]auth.Credential{"github-copilot": login}, Token: func(_ context.Context, id string) (auth.OAuth, error) {
		if n++; n > 2 {
			return auth.OAuth{}, errors.New("no more")
		}
		return auth.OAuth{Access: auth.NewSecret(fmt.Sprint(id, n))}, nil
	}}
	_, info, err := open(t, "", "github-copilot/gpt-4.1", d)
	if err != nil || info.BaseURL != "https://copilot-api.corp.example" || info.Source != FromLogin {
		t.Fatal(info.BaseURL, info.Source, err)
	}
	m, _, err := open(t, fmt.Sprintf(`{"github-copilot":{"options":{"baseURL":%q}}}`, base), "github-copilot/gpt-4.1", d)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 2; i++ {
		ask(t, m, "x", nil)
		if got := last().header.Get("Authorization"); got != fmt.Sprint("Bearer github-copilot", i) {
			t.Errorf("got %q", got)
		}
	}
	for _, err := range m.Stream(t.Context(), model.Request{}) {
		if err == nil || err.Error() != "no more" {
			t.Error(err)
		}
	}
}

func TestOpen_Bedrock(t *testing.T) {
	base, last := listen(t)
	settings := fmt.Sprintf(`{"amazon-bedrock":{"options":{"baseURL":%q,"region":"eu-west-1"},"models":{"anthropic.claude-opus-4-6-v1":{"reasoning":true}}}}`, base)
	m, info, err := open(t, settings, "amazon-bedrock/anthropic.claude-opus-4-6-v1", Deps{Env: env("AWS_BEARER_TOKEN_BEDROCK=k")})
	if err != nil || info.Name != "eu.anthropic.claude-opus-4-6-v1" {
		t.Fatal(info.Name, err)
	}
	options, ok := info.Model.Variant("high")
	if !ok {
		t.Fatal("no such variant")
	}
	ask(t, m, info.Name, options)
	if got := last(); got.path != "/model/eu.anthropic.claude-opus-4-6-v1/converse-stream" || !strings.Contains(got.body, `"thinking":{"type":"adaptive"}`) || !strings.Contains(got.body, `"effort":"high"`) {
		t.Errorf("%+v", got)
	}
	if options["reasoningConfig"] == nil {
		t.Error("the caller's options were changed")
	}
}

func TestOptions_Deadlines(t *testing.T) {
	const s = time.Second
	for text, want := range map[string]model.Deadlines{
		`{}`:                {},
		`{"timeout":1000}`:  {Headers: s, First: s, Gap: s},
		`{"timeout":false}`: {Headers: -1, First: -1, Gap: -1},
		`{"timeout":true}`:  {},
		`{"headerTimeout":2000,"chunkTimeout":1000}`: {Headers: 2 * s, First: s, Gap: s},
		`{"timeout":1000,"chunkTimeout":false}`:      {Headers: s, First: -1, Gap: -1},
		`{"timeout":-5}`:                             {},
	} {
		p := &catalog.Provider{ID: "p"}
		if err := json.Unmarshal([]byte(text), &p.Options); err != nil {
			t.Fatal(err)
		}
		o, err := readOptions(p)
		if got := o.deadlines(); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	if _, err := readOptions(&catalog.Provider{Options: catalog.Options{"timeout": json.RawMessage(`"x"`)}}); lathe.CodeOf(err) != lathe.Invalid {
		t.Error(err)
	}
}

func TestActives(t *testing.T) {
	c := newCatalog(t, `{"own":{"options":{"baseURL":"http://x"},"models":{"m":{}}},"xai":{"options":{"apiKey":"k"}},"groq":{},"zai":{"options":{"timeout":"x","apiKey":"k"}}}`)
	d := Deps{Env: env("OPENAI_API_KEY=k", "GOOGLE_API_KEY=k"), Credentials: map[string]auth.Credential{
		"anthropic": auth.Key{Key: auth.NewSecret("k")}, "github-copilot": auth.OAuth{Access: auth.NewSecret("k")}, "openrouter": auth.WellKnown{},
	}}
	all := ActiveProviders(c, d)
	got := map[string]Source{}
	for _, a := range all {
		got[a.Provider.ID] = a.Source
		for _, m := range a.Provider.Models {
			if a.Provider.ID == "opencode" && !isFree(m) {
				t.Errorf("%s costs something", m.Ref())
			}
			if _, _, err := Open(a.Provider, m, d); err != nil {
				t.Errorf("%s is active: %v", m.Ref(), err)
			}
		}
	}
	want := map[string]Source{"own": FromConfig, "xai": FromConfig, "openai": FromEnv, "anthropic": FromAPI, "github-copilot": FromLogin, "opencode": FromLogin}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if n := len(Selectable(all)); n != len(want)-1 {
		t.Errorf("%d choices: what nobody set up is none", n)
	}
	if m, err := c.Default(catalog.Preference{Usable: Selectable(all)}); err != nil || m.Provider != "own" {
		t.Error(m, err)
	}
}

func TestVariables(t *testing.T) {
	p := &catalog.Provider{ID: "azure", Env: []string{"AZURE_RESOURCE_NAME", "AZURE_API_KEY"}}
	if got := EnvVars(p); !slices.Equal(got, []string{"AZURE_API_KEY", "AZURE_OPENAI_API_KEY"}) {
		t.Error(got)
	}
}

func TestProtocols_Table(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range protocols {
		if seen[s.npm] || s.protocol == "" || strings.HasSuffix(s.base, "/") {
			t.Errorf("%+v", s)
		}
		seen[s.npm] = true
	}
	for _, p := range newCatalog(t, "").Providers() {
		if !seen[p.NPM] {
			t.Errorf("%s: %s", p.ID, p.NPM)
		}
	}
}
