package catalog

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	list "charm.land/catwalk/pkg/embedded"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

func TestCatalog_Embedded(t *testing.T) {
	c := New(Filter{})
	if n := len(c.Providers()); n < 35 {
		t.Errorf("%d providers", n)
	}
	for _, id := range []string{"anthropic", "openai", "google", "github-copilot", "amazon-bedrock", "opencode", "google-vertex-anthropic", "zai-coding-plan"} {
		if p := c.Provider(id); p == nil || len(p.Models) == 0 || p.NPM == "" || p.Name == "" {
			t.Errorf("%s: %+v", id, p)
		}
	}
	m, err := c.Find("anthropic/claude-sonnet-4-5-20250929")
	if err != nil {
		t.Fatal(err)
	}
	want := &Model{
		ID: "claude-sonnet-4-5-20250929", Provider: "anthropic", APIID: "claude-sonnet-4-5-20250929", Name: "Claude Sonnet 4.5",
		Family: "claude-sonnet", ReleaseDate: "2025-09-29", Attachment: true, Reasoning: true, Temperature: true, ToolCall: true,
		Cost:  Cost{Rates: Rates{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
		Limit: Limit{Context: 200000, Output: 64000}, Modalities: Modalities{Input: []string{"text", "image", "pdf"}, Output: []string{"text"}},
		Status: Active, NPM: Anthropic,
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	if m, err = c.Find("openrouter/anthropic/claude-sonnet-4.6"); err != nil || m.NPM != OpenRouter {
		t.Errorf("a model with slashes: %+v, %v", m, err)
	}
}

// TestVendors_BothWays holds the table of ids: every id of the embedded list leads to a
// vendor, every vendor's id of the list is there, and nothing is left under an old name.
func TestVendors_BothWays(t *testing.T) {
	theirs := map[string]bool{}
	for _, p := range list.GetAll() {
		theirs[string(p.ID)] = true
	}
	renamed := map[string]string{
		"gemini": "google", "copilot": "github-copilot", "bedrock": "amazon-bedrock", "bedrock-europe": "amazon-bedrock",
		"opencode-zen": "opencode", "vertexai": "google-vertex", "zhipu": "zhipuai", "zhipu-coding": "zhipuai-coding-plan",
		"moonshot": "moonshotai", "kimi-coding": "kimi-for-coding", "minimax-china": "minimax-cn", "fireworks": "fireworks-ai",
		"ionet": "io-net", "qiniucloud": "qiniu-ai", "alibaba-singapore": "alibaba",
	}
	all := embedded()
	for id := range theirs {
		rows := vendorsWith(id)
		switch want, moved := renamed[id]; {
		case moved && (len(rows) == 0 || rows[0].ID != want):
			t.Errorf("%s leads to %v, not %s", id, rows, want)
		case moved && all[id] != nil:
			t.Errorf("%s is there under its old name", id)
		case !moved && all[id] == nil:
			t.Errorf("%s is lost", id)
		}
	}
	seen := map[string]bool{}
	for _, v := range vendors {
		if seen[v.ID] || v.ID == "" || v.Name == "" || v.Env == nil {
			t.Errorf("vendor %+v: twice or incomplete", v)
		}
		seen[v.ID] = true
		for _, id := range v.Catwalk {
			if !theirs[id] {
				t.Errorf("%s takes %s, which the list does not have", v.ID, id)
			}
		}
	}
	if !slices.IsSortedFunc(vendors, func(a, b Vendor) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("vendors are not sorted")
	}
}

func TestEmbedded_Sane(t *testing.T) {
	for id, p := range embedded() {
		if strings.HasPrefix(p.API, "$") || strings.HasSuffix(p.API, "/") {
			t.Errorf("%s is at %q", id, p.API)
		}
		for _, m := range p.Models {
			r := m.Cost.Rates
			if r.Input > 0 && (r.CacheRead > r.Input || r.CacheWrite > 0 && r.CacheWrite < r.Input) {
				t.Errorf("%s: %+v", m.Ref(), r)
			}
			if m.Name == "" || m.Provider != id || m.NPM == "" {
				t.Errorf("%+v", m)
			}
		}
	}
}

func TestCachePrices(t *testing.T) {
	for _, c := range []struct {
		name        string
		in          Rates // as the list has it
		read, write float64
	}{
		{"as documented", Rates{Input: 10, Output: 50, CacheWrite: 12.5, CacheRead: 1}, 1, 12.5},
		{"the other way round", Rates{Input: 10, Output: 50, CacheWrite: 1, CacheRead: 12.5}, 1, 12.5},
		{"read twice", Rates{Input: 1.25, Output: 10, CacheWrite: 0.125, CacheRead: 0.125}, 0.125, 0},
		{"only read", Rates{Input: 2, Output: 8, CacheRead: 0.5}, 0.5, 0},
		{"only read, in the wrong field", Rates{Input: 0.14, Output: 0.28, CacheWrite: 0.0028}, 0.0028, 0},
		{"the output price by mistake", Rates{Input: 0.75, Output: 3.75, CacheWrite: 0.075, CacheRead: 3.75}, 0.075, 0},
		{"reading is no cheaper", Rates{Input: 30, Output: 180, CacheWrite: 30}, 30, 0},
		{"free", Rates{}, 0, 0},
	} {
		if read, write := cachePrices(c.in); read != c.read || write != c.write {
			t.Errorf("%s: read %v write %v, want %v %v", c.name, read, write, c.read, c.write)
		}
	}
}

const sample = `{
 "acme": {"id":"acme","name":"Acme","env":["ACME_KEY"],"npm":"@ai-sdk/openai-compatible","api":"https://acme.test/v1","doc":"x","models":{
  "big": {"id":"big","name":"Big","family":"acme","release_date":"2026-01-02","attachment":true,"reasoning":true,"temperature":true,"tool_call":true,
   "reasoning_options":[{"type":"effort","values":[null,"low","high"]}],"interleaved":{"field":"reasoning_content"},
   "cost":{"input":1,"output":2,"cache_read":0.1,"context_over_200k":{"input":2,"output":4},"tiers":[{"input":3,"output":6,"tier":{"type":"context","size":500000}}]},
   "limit":{"context":1000000,"output":64000},"modalities":{"input":["text","pdf"],"output":["text"]},
   "experimental":{"modes":{"fast":{"cost":{"input":9,"output":9},"provider":{"body":{"speed":"fast"},"headers":{"x-beta":"1"}}}}}},
  "odd": {"id":"odd","name":7,"limit":"none","cost":{"input":-1,"output":1e999},"interleaved":[],"status":"beta","provider":{"npm":"@ai-sdk/anthropic"}},
  "old": {"id":"old","status":"deprecated"}, "new": {"id":"new","status":"alpha"},
  "no": 5, "none": null
 }},
 "broken": 1, "empty": {"models":{}}, "anthropic": {"models":{"claude-x":{"id":"claude-x"}}}
}`

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "models.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	c := New(Filter{}, File(write(t, sample)))
	if errs := c.Errors(); errs != nil {
		t.Fatal(errs)
	}
	p := c.Provider("acme")
	if got := slices.Sorted(maps.Keys(p.Models)); !slices.Equal(got, []string{"big", "big-fast", "odd"}) {
		t.Fatalf("models %v", got)
	}
	big, fast, odd := p.Models["big"], p.Models["big-fast"], p.Models["odd"]
	if big.Interleaved != (Interleaved{On: true, Field: "reasoning_content"}) || big.API != "https://acme.test/v1" || !big.ToolCall {
		t.Errorf("%+v", big)
	}
	if fast.APIID != "big" || fast.Cost.Input != 9 || string(fast.Options["speed"]) != `"fast"` || fast.Headers["x-beta"] != "1" || big.Options != nil {
		t.Errorf("%+v", fast)
	}
	if odd.Name != "odd" || odd.Cost.Input != 0 || odd.Cost.Output != 0 || odd.NPM != Anthropic || odd.Status != Beta || !odd.ToolCall {
		t.Errorf("%+v", odd)
	}
	if a := c.Provider("anthropic"); len(a.Models) != 1 || a.Name != "Anthropic" || a.NPM != Anthropic || len(a.Env) != 1 {
		t.Errorf("a provider of the file replaces the embedded one: %+v", a)
	}
	if c.Provider("openai") == nil || c.Provider("broken") != nil || c.Provider("empty") != nil {
		t.Error("others stay, nothing comes of what is none")
	}
	if New(Filter{Experimental: true}, File(write(t, sample))).Provider("acme").Models["new"] == nil {
		t.Error("experimental models are wanted")
	}
}

func TestFile_Unreadable(t *testing.T) {
	for _, text := range []string{"", "{", "null", "[]", `{"a":{}`, "<html>"} {
		c := New(Filter{}, File(write(t, text)))
		if errs := c.Errors(); len(errs) != 1 || lathe.CodeOf(errs[0]) != lathe.Invalid {
			t.Errorf("%q: %v", text, errs)
		}
		if c.Provider("anthropic") == nil {
			t.Errorf("%q: the embedded catalog is gone", text)
		}
	}
	if errs := New(Filter{}, File(filepath.Join(t.TempDir(), "no"))).Errors(); errs != nil {
		t.Error(errs)
	}
}

func TestSettings(t *testing.T) {
	base := File(write(t, sample))
	section := `{
	 "acme": {"options":{"baseURL":"http://x/v1","timeout":false},"npm":"@ai-sdk/openai","blacklist":["odd"],
	  "models":{"big":{"name":"Bigger","cost":{"input":5,"context_over_200k":{"output":8}},"limit":{"output":7},"options":{"a":1},"variants":{"low":{"disabled":true},"mine":{"b":2}}},
	            "tiny":{"id":"tiny-v1","tool_call":false}}},
	 "mine": {"models":{"m":{}}},
	 "mistral": {"models":{"m":{}}}
	}`
	c := New(Filter{}, base, Config(json.RawMessage(section)))
	if errs := c.Errors(); errs != nil {
		t.Fatal(errs)
	}
	big := c.Provider("acme").Models["big"]
	want := Cost{
		Rates: Rates{Input: 5, Output: 2, CacheRead: 0.1}, Over200K: &Rates{Input: 2, Output: 8},
		Tiers: []Tier{{Rates: Rates{Input: 3, Output: 6}, Threshold: Threshold{"context", 500000}}},
	}
	if !reflect.DeepEqual(big.Cost, want) || big.Name != "Bigger" || big.Limit != (Limit{Context: 1000000, Output: 7}) || big.NPM != OpenAI {
		t.Errorf("%+v", big)
	}
	var names []string
	for _, v := range big.Variants() {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, []string{"none", "high", "mine"}) {
		t.Errorf("variants %v", names)
	}
	if tiny := c.Provider("acme").Models["tiny"]; tiny.APIID != "tiny-v1" || tiny.ID != "tiny" || tiny.ToolCall {
		t.Errorf("%+v", tiny)
	}
	if c.Provider("acme").Models["odd"] != nil {
		t.Error("the blacklist does not hold")
	}
	if p := c.Provider("mine"); p.NPM != Compatible || p.Name != "mine" || !p.Models["m"].ToolCall || p.Models["m"].Status != Active || !p.Configured {
		t.Errorf("%+v", p)
	}
	if p := c.Provider("mistral"); p.NPM != Mistral || !slices.Equal(p.Env, []string{"MISTRAL_API_KEY"}) {
		t.Errorf("%+v", p)
	}
	if before := New(Filter{}, base).Provider("acme").Models["big"]; before.Name != "Big" || before.Cost.Over200K.Output != 4 || before.Limit.Output != 64000 {
		t.Errorf("settings changed the layer below: %+v", before)
	}
}

func TestSettings_Wrong(t *testing.T) {
	c := New(Filter{}, Config(json.RawMessage(`{"x":{"models":{"m":{"limit":3},"n":{}}},"y":null}`)))
	if errs := c.Errors(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "provider.x.models.m.limit cannot be a number") {
		t.Errorf("%v", errs)
	}
	if c.Provider("x").Models["n"] == nil || c.Provider("y") != nil {
		t.Error("what is right is not kept")
	}
}

func TestFilter(t *testing.T) {
	layer := Config(json.RawMessage(`{"openai":{"whitelist":["gpt-5"]},"anthropic":{"whitelist":["none such"]}}`))
	c := New(Filter{Enabled: []string{"openai", "anthropic", "google"}, Disabled: []string{"google"}}, layer)
	if all := c.Providers(); len(all) != 1 || all[0].ID != "openai" || len(all[0].Models) != 1 {
		t.Errorf("%+v", all)
	}
}

func TestPrice(t *testing.T) {
	rates := func(n float64) Rates { return Rates{Input: n, Output: n} }
	price := func(n lathe.Money) model.Price { return model.Price{Input: n * 1e6, Output: n * 1e6} }
	tier := func(size, n float64) Tier { return Tier{rates(n), Threshold{"context", size}} }
	over := rates(2)
	for _, c := range []struct {
		name string
		cost Cost
		want []model.Tier
	}{
		{"flat", Cost{Rates: rates(1)}, nil},
		{"over 200k", Cost{Rates: rates(1), Over200K: &over}, []model.Tier{{Over: 200000, Price: price(2)}}},
		{"tiers in any order", Cost{Rates: rates(1), Tiers: []Tier{tier(300, 4), tier(100, 3)}}, []model.Tier{{Over: 100, Price: price(3)}, {Over: 300, Price: price(4)}}},
		{"a larger tier leaves 200k its place", Cost{Rates: rates(1), Over200K: &over, Tiers: []Tier{tier(272000, 3)}}, []model.Tier{{Over: 200000, Price: price(2)}, {Over: 272000, Price: price(3)}}},
		{"a smaller tier wins over 200k", Cost{Rates: rates(1), Over200K: &over, Tiers: []Tier{tier(128000, 3)}}, []model.Tier{{Over: 128000, Price: price(3)}}},
		{"other kinds do not count", Cost{Rates: rates(1), Tiers: []Tier{{rates(9), Threshold{"time", 1}}}}, nil},
	} {
		want := price(1)
		want.Tiers = c.want
		if got := c.cost.Price(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
	odd := Cost{Rates: Rates{Input: math.NaN(), Output: math.Inf(1), CacheRead: -1, CacheWrite: 0.39999999999999997}}
	if got := odd.Price(); !reflect.DeepEqual(got, model.Price{CacheWrite: 400000}) {
		t.Errorf("%+v", got)
	}
}

// A model that the settings name carries a family for clients, if only an empty one.
func TestWire_FamilyOfSettings(t *testing.T) {
	c := New(Filter{}, Config(json.RawMessage(`{"own":{"models":{"m":{}}}}`)))
	data, err := json.Marshal(c.Provider("own").Models["m"].Wire())
	if err != nil || !strings.Contains(string(data), `"family":""`) {
		t.Errorf("%s %v", data, err)
	}
}
