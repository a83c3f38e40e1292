package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/wire"
)

// Azure's requests, of the newer and of the older addresses: the name of the deployment is the
// model's, and the key has its own header.
func TestAzure_Requests(t *testing.T) {
	base, last := listen(t)
	for _, c := range []struct{ name, options, path string }{
		{"newer", ``, "/openai/v1/responses"},
		{"newer, with a version", `,"apiVersion":"preview"`, "/openai/v1/responses?api-version=preview"},
		{"newer, completions", `,"useCompletionUrls":true`, "/openai/v1/chat/completions"},
		{"older", `,"useDeploymentBasedUrls":true`, "/openai/deployments/my%2Fdeployment/chat/completions?api-version=2025-04-01-preview"},
		{"older, with a version", `,"useDeploymentBasedUrls":true,"apiVersion":"2024-10-21"`, "/openai/deployments/my%2Fdeployment/chat/completions?api-version=2024-10-21"},
	} {
		settings := fmt.Sprintf(`{"azure":{"options":{"baseURL":%q,"apiKey":"the-key"%s},"models":{"m":{"id":"my/deployment"}}}}`, base+"/openai", c.options)
		m, info, err := open(t, settings, "azure/m", Deps{})
		if err != nil {
			t.Fatal(err)
		}
		ask(t, m, info.Name, nil)
		got := last()
		if got.path != c.path || got.header.Get("Api-Key") != "the-key" || got.header.Get("Authorization") != "" || !strings.Contains(got.body, `"model":"my/deployment"`) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if strings.Contains(c.path, "chat") && !strings.Contains(got.body, "max_completion_tokens") {
			t.Errorf("%s: %s", c.name, got.body)
		}
	}
}

func TestName(t *testing.T) {
	for _, c := range []struct{ npm, region, id, want string }{
		{catalog.Bedrock, "us-east-1", "anthropic.claude-x", "us.anthropic.claude-x"},
		{catalog.Bedrock, "us-gov-west-1", "anthropic.claude-x", "us-gov.anthropic.claude-x"},
		{catalog.Bedrock, "us-gov-west-1", "amazon.nova-pro", "amazon.nova-pro"},
		{catalog.Bedrock, "us-west-2", "deepseek.r1", "us.deepseek.r1"},
		{catalog.Bedrock, "eu-west-1", "meta.llama3-2", "eu.meta.llama3-2"},
		{catalog.Bedrock, "eu-west-1", "deepseek.r1", "deepseek.r1"},
		{catalog.Bedrock, "ap-northeast-1", "anthropic.claude-x", "jp.anthropic.claude-x"},
		{catalog.Bedrock, "ap-southeast-2", "anthropic.claude-x", "au.anthropic.claude-x"},
		{catalog.Bedrock, "ap-south-1", "amazon.nova-lite", "apac.amazon.nova-lite"},
		{catalog.Bedrock, "sa-east-1", "anthropic.claude-x", "anthropic.claude-x"},
		{catalog.Bedrock, "us-east-1", "global.anthropic.claude-x", "global.anthropic.claude-x"},
		{catalog.Bedrock, "us-east-1", "openai.gpt-oss-120b-1:0", "openai.gpt-oss-120b-1:0"},
		{catalog.VertexAnthropic, "", "claude-haiku-4-5-20251001", "claude-haiku-4-5@20251001"},
		{catalog.VertexAnthropic, "", "claude-haiku-4-5@20251001", "claude-haiku-4-5@20251001"},
		{catalog.VertexAnthropic, "", "claude-opus-4-6", "claude-opus-4-6"},
		{catalog.VertexAnthropic, "", "claude-20259999", "claude-20259999"},
		{catalog.Anthropic, "", "claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"},
	} {
		client := &client{model: &catalog.Model{NPM: c.npm, APIID: c.id}, options: options{Region: c.region}}
		if got := client.name(); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.id, c.region, got, c.want)
		}
	}
}

// signer is one that says what it was asked for.
type signer struct {
	AWS
	err error
}

func (s signer) Region() string {
	if s.AWS.Region == "" {
		return "ap-south-1"
	}
	return s.AWS.Region
}

func (s signer) Sign(req *http.Request, body []byte) error {
	req.Header.Set("Authorization", fmt.Sprintf("signed %s %s %s %d", s.Service, s.Profile, s.AccessKeyID, len(body)))
	return s.err
}

func TestOpen_Signed(t *testing.T) {
	base, last := listen(t)
	deps := func(vars ...string) Deps {
		return Deps{Env: env(vars...), AWS: func(a AWS) (Signer, error) {
			if a.Profile == "none" {
				return nil, lathe.Errorf(lathe.Unauthorized, "no such profile")
			}
			return signer{AWS: a}, nil
		}}
	}
	const mantle = `,"models":{"anthropic.claude-x":{"provider":{"npm":"@ai-sdk/amazon-bedrock/mantle"}}}`
	for _, c := range []struct {
		name, options, more string
		env                 []string
		auth                string
		source              Source
		region              string
	}{
		{"keys of the environment", ``, ``, []string{"AWS_ACCESS_KEY_ID=a"}, "signed bedrock   ", FromEnv, "apac."},
		{"a profile of settings", `,"profile":"dev","region":"eu-west-1"`, ``, nil, "signed bedrock dev  ", FromConfig, "eu."},
		{"keys of settings", `,"accessKeyId":"AK","secretAccessKey":"s"`, ``, nil, "signed bedrock  AK ", FromConfig, "apac."},
		{"files nobody named", ``, ``, nil, "signed bedrock   ", FromLogin, "apac."},
		{"a token wins", `,"profile":"dev"`, ``, []string{"AWS_BEARER_TOKEN_BEDROCK=tok"}, "Bearer tok", FromEnv, "us."},
		{"the other service", ``, mantle, []string{"AWS_PROFILE=x"}, "signed bedrock-mantle   ", FromEnv, ""},
	} {
		more := c.more
		if more == "" {
			more = `,"models":{"anthropic.claude-x":{}}`
		}
		m, info, err := open(t, fmt.Sprintf(`{"amazon-bedrock":{"options":{"baseURL":%q%s}%s}}`, base, c.options, more), "amazon-bedrock/anthropic.claude-x", deps(c.env...))
		if err != nil {
			t.Fatal(c.name, err)
		}
		ask(t, m, info.Name, nil)
		if got := last(); !strings.HasPrefix(got.header.Get("Authorization"), c.auth) || info.Source != c.source || info.Name != c.region+"anthropic.claude-x" {
			t.Errorf("%s: %q %s %s", c.name, got.header.Get("Authorization"), info.Source, info.Name)
		}
	}
	_, _, err := open(t, `{"amazon-bedrock":{"options":{"profile":"none"}}}`, "amazon-bedrock/us.anthropic.claude-opus-5", deps())
	var known *lathe.Error
	if !errors.As(err, &known) || known.Code != lathe.Unauthorized || known.Fault.(*lathe.ProviderAuthFault).ProviderID != "amazon-bedrock" {
		t.Error(err)
	}
}

// A signature that fails is a failure of the credentials, and nothing is sent.
func TestOpen_SignFails(t *testing.T) {
	base, _ := listen(t)
	d := Deps{AWS: func(a AWS) (Signer, error) { return signer{a, lathe.Errorf(lathe.Unauthorized, "expired")}, nil }}
	m, info, err := open(t, fmt.Sprintf(`{"amazon-bedrock":{"options":{"baseURL":%q}}}`, base), "amazon-bedrock/us.anthropic.claude-opus-5", d)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Stream(context.Background(), model.Request{Model: info.Name}) {
		var known *lathe.Error
		if !errors.As(err, &known) || known.Message != "expired" || known.Fault.(*lathe.ProviderAuthFault).Message != "expired" {
			t.Error(err)
		}
	}
}

// Requests that can be signed make the provider one of those a user has set up.
func TestActives_Signed(t *testing.T) {
	c := newCatalog(t, "")
	for name, want := range map[string]bool{"AWS_PROFILE": true, "AWS_ACCESS_KEY_ID": true, "AWS_REGION": false} {
		d := Deps{Env: env(name + "=x"), AWS: func(a AWS) (Signer, error) { return signer{AWS: a}, nil }}
		found := false
		for _, a := range ActiveProviders(c, d) {
			found = found || a.Provider.ID == "amazon-bedrock" && a.Source == FromEnv && !a.Implicit
		}
		if found != want {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestTarget(t *testing.T) {
	all := []string{"image/png", "application/pdf"}
	for _, c := range []struct {
		npm, id  string
		protocol Protocol
		want     []string
	}{
		{catalog.Anthropic, "claude", Messages, all},
		{catalog.VertexAnthropic, "claude", Messages, all},
		{catalog.OpenAI, "gpt-5", Responses, all},
		{catalog.Mantle, "openai.gpt-5.5", Responses, all},
		{catalog.Azure, "gpt-5", Responses, all},
		{catalog.Azure, "gpt-5", Chat, nil},
		{catalog.Bedrock, "anthropic.claude", Converse, all[:1]},
		{catalog.XAI, "grok", Chat, all[:1]},
		{catalog.Google, "gemini-3-pro", Gemini, all},
		{catalog.Vertex, "gemini-3-pro", Gemini, all},
		{catalog.Google, "gemini-2.5-pro", Gemini, nil},
		{catalog.Compatible, "m", Chat, nil},
		{catalog.OpenRouter, "claude", Chat, nil},
		{catalog.Copilot, "gpt-5", Responses, nil},
	} {
		info := Info{Provider: &catalog.Provider{ID: "p"}, Model: &catalog.Model{ID: "m", APIID: c.id, NPM: c.npm}, Protocol: c.protocol}
		target := info.Target()
		var got []string
		for _, mime := range all {
			if target.ResultMedia(mime) {
				got = append(got, mime)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || target.Provider != "p" || target.Model != "m" || target.Input == nil {
			t.Errorf("%s %s: %s %+v", c.npm, c.id, diff, target)
		}
	}
	info := Info{Provider: &catalog.Provider{}, Model: &catalog.Model{Modalities: catalog.Modalities{Input: []string{"text", "image"}}}}
	if got := info.Target().Input; fmt.Sprint(got) != "[text image]" {
		t.Error(got)
	}
}

func TestDefaults(t *testing.T) {
	show := func(r model.Request) string {
		out := fmt.Sprint(r.MaxOutput)
		if r.Temperature != nil {
			out += fmt.Sprint(" t=", *r.Temperature)
		}
		if r.TopP != nil {
			out += fmt.Sprint(" p=", *r.TopP)
		}
		if r.TopK != nil {
			out += fmt.Sprint(" k=", *r.TopK)
		}
		wire.EachOption(r.Options, func(name string, value json.RawMessage) { out += " " + name + "=" + string(value) })
		return out
	}
	for _, c := range []struct{ ref, env, want string }{
		{"anthropic/claude-opus-4-6", "ANTHROPIC_API_KEY=k", "32000"},
		{"google/gemini-2.5-pro", "GEMINI_API_KEY=k", `32000 t=1 p=0.95 k=64 thinkingConfig={"includeThoughts":true}`},
		{"google/gemini-3-pro-preview", "GEMINI_API_KEY=k", `32000 t=1 p=0.95 k=64 thinkingConfig={"includeThoughts":true,"thinkingLevel":"high"}`},
		{"openai/gpt-5", "OPENAI_API_KEY=k", `32000 promptCacheKey="ses_1" reasoningEffort="medium" reasoningSummary="auto"`},
		{"openai/gpt-4o", "OPENAI_API_KEY=k", `8192 promptCacheKey="ses_1"`},
		{"own/qwen3", "", `32000 t=0.55 p=1 a=1 promptCacheKey="ses_1"`},
		{"own/kimi-k2-0905", "", `100 t=0.6 promptCacheKey="ses_1"`},
		{"own/hot-qwen", "", `32000 p=1 promptCacheKey="ses_1"`},
	} {
		settings := `{"own":{"options":{"baseURL":"http://x","setCacheKey":true},"models":{"qwen3":{"temperature":true,"options":{"a":1}},"kimi-k2-0905":{"temperature":true,"limit":{"context":9,"output":100}},"hot-qwen":{}}}}`
		_, info, err := open(t, settings, c.ref, Deps{Env: env(strings.Fields(c.env)...)})
		if err != nil {
			t.Fatal(err)
		}
		if got := show(info.Defaults("ses_1")); got != c.want {
			t.Errorf("%s: %s, want %s", c.ref, got, c.want)
		}
	}
}

// What single servers want of a conversation.
func TestDialect_Families(t *testing.T) {
	for _, c := range []struct {
		settings, ref string
		short, noop   bool
		reasoning     string
	}{
		{`{"own":{"options":{"baseURL":"http://x"},"models":{"Devstral-small":{}}}}`, "own/Devstral-small", true, false, ""},
		{`{"own":{"npm":"@ai-sdk/mistral","models":{"m":{}}}}`, "own/m", true, false, ""},
		{`{"my-litellm":{"options":{"baseURL":"http://x"},"models":{"m":{}}}}`, "my-litellm/m", false, true, ""},
		{`{"own":{"options":{"baseURL":"http://x","litellmProxy":true},"models":{"m":{}}}}`, "own/m", false, true, ""},
		{`{"own":{"options":{"baseURL":"http://x"},"models":{"deepseek-v4":{"reasoning":true}}}}`, "own/deepseek-v4", false, false, "reasoning_content"},
		{`{"own":{"npm":"@ai-sdk/groq","models":{"deepseek-r1":{"reasoning":true}}}}`, "own/deepseek-r1", false, false, ""},
		{`{"own":{"options":{"baseURL":"http://x"},"models":{"m":{"interleaved":{"field":"reasoning_details"}}}}}`, "own/m", false, false, "reasoning_details"},
	} {
		cat := newCatalog(t, c.settings)
		m, err := cat.Find(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		p := cat.Provider(m.Provider)
		o, err := readOptions(p)
		if err != nil {
			t.Fatal(err)
		}
		d := (&client{provider: p, model: m, options: o, proto: proto(m)}).dialect(Chat)
		if d.ShortIDs != c.short || d.Noop != c.noop || d.Reasoning != c.reasoning {
			t.Errorf("%s: %+v", c.ref, d)
		}
	}
}

// Servers that are known to refuse thoughts do not get them back, wherever they are configured; others get what they sent.
func TestDialect_RefusesThoughts(t *testing.T) {
	for settings, want := range map[string]bool{
		`{"own":{"options":{"baseURL":"http://127.0.0.1:8080/v1"},"models":{"m":{}}}}`:                                     false,
		`{"own":{"options":{"baseURL":"https://api.cerebras.ai/v1"},"models":{"m":{}}}}`:                                   true,
		`{"own":{"options":{"baseURL":"https://api.groq.com/openai/v1"},"models":{"m":{}}}}`:                               true,
		`{"own":{"options":{"baseURL":"https://notgroq.com/v1"},"models":{"m":{}}}}`:                                       false,
		`{"own":{"npm":"@ai-sdk/groq","models":{"m":{}}}}`:                                                                 true,
		`{"own":{"npm":"@ai-sdk/groq","models":{"m":{"interleaved":{"field":"reasoning"}}}}}`:                              false,
		`{"own":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"https://x.example/v1"},"models":{"gpt-oss":{}}}}`: false,
	} {
		cat := newCatalog(t, settings)
		m, err := cat.Find(cat.Provider("own").Sorted()[0].Ref())
		if err != nil {
			t.Fatal(err)
		}
		p := cat.Provider(m.Provider)
		o, err := readOptions(p)
		if err != nil {
			t.Fatal(err)
		}
		if d := (&client{provider: p, model: m, options: o, proto: proto(m), base: o.BaseURL}).dialect(Chat); d.NoReasoning != want {
			t.Errorf("%s: %+v", settings, d)
		}
	}
}
