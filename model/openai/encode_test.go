package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

const (
	encryptedMeta = `{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"gAAA"}}`
	detailsMeta   = `{"openrouter":{"reasoning_details":[{"type":"reasoning.text","text":"Twice.","signature":"sig"},{"type":"reasoning.encrypted","data":"xx"}]}}`
	opaqueMeta    = `{"copilot":{"reasoningOpaque":"op"}}`
)

func richRequest(thought string, target model.Target) model.Request {
	search := `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}`
	return wiretest.Request(wiretest.History(thought, &lathe.ToolCall{
		CallID: "ws_1", Tool: "web_search_call", State: &lathe.Completed{Input: json.RawMessage(`{}`), Output: search},
		Metadata: json.RawMessage(`{"openai":{"itemId":"ws_1","type":"web_search_call"},"providerExecuted":true}`),
	}), target)
}

func TestRequest_Golden(t *testing.T) {
	all := func(string) bool { return true }
	for _, c := range []struct {
		name     string
		protocol string
		dialect  Dialect
		meta     string
		target   model.Target
		edit     func(*model.Request)
	}{
		{name: "chat-plain", meta: encryptedMeta},
		{name: "chat-openai", dialect: Dialect{MaxTokens: "max_completion_tokens"}, meta: encryptedMeta, edit: func(r *model.Request) { r.Choice = "bash" }},
		{name: "chat-openrouter", dialect: Dialect{Effort: "reasoning", Cache: "content"}, meta: detailsMeta, edit: func(r *model.Request) { r.Model, r.Cache = "anthropic/claude-9", model.CacheHour }},
		{name: "chat-copilot", dialect: Dialect{Cache: "copilot_cache_control"}, meta: opaqueMeta, target: model.Target{Input: []string{"image", "audio"}}},
		{name: "chat-mistral", dialect: Dialect{ShortIDs: true, NoUsage: true, Required: "any"}, target: model.Target{Input: []string{"pdf", "audio"}}, edit: func(r *model.Request) { r.Choice = "required" }},
		{name: "chat-deepseek", dialect: Dialect{Reasoning: "reasoning_content"}, edit: func(r *model.Request) { r.Choice = "none" }},
		{name: "chat-images-in-results", target: model.Target{ResultMedia: all}, edit: func(r *model.Request) { r.Options = nil }},
		{name: "responses", protocol: "responses", meta: encryptedMeta, target: model.Target{ResultMedia: all}, edit: func(r *model.Request) { r.Choice = "bash" }},
		{name: "responses-stored", protocol: "responses", meta: encryptedMeta, edit: func(r *model.Request) { r.Options["store"] = json.RawMessage("true") }},
		{name: "responses-reasoning", protocol: "responses", dialect: Dialect{Reasoning: "yes"}, meta: `{"openai":{"itemId":"rs_1","reasoningText":true}}`, edit: func(r *model.Request) {
			r.Options = map[string]json.RawMessage{"max_output_tokens": json.RawMessage("null"), "include": json.RawMessage(`["a"]`)}
		}},
		{name: "responses-thoughts-lost", protocol: "responses", meta: `{"openai":{"itemId":"rs_1"}}`, edit: func(r *model.Request) { r.Tools, r.Options["reasoning"] = nil, json.RawMessage(`{"effort":"low"}`) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := richRequest(c.meta, c.target)
			if c.edit != nil {
				c.edit(&r)
			}
			encode := (&chatEncoder{dialect: c.dialect}).request
			if c.protocol == "responses" {
				encode = (&responsesEncoder{dialect: c.dialect}).request
			}
			wiretest.Golden(t, c.name, encode(r))
		})
	}
}

func TestRequest_Stable(t *testing.T) {
	dialect := Dialect{Reasoning: "reasoning"}
	request := func() model.Request { return richRequest(encryptedMeta, model.Target{}) }
	wiretest.Stable(t, func() func(model.Request) []byte { return (&chatEncoder{dialect: dialect}).request }, request)
	wiretest.Stable(t, func() func(model.Request) []byte { return (&responsesEncoder{dialect: dialect}).request }, request)
}

// TestRequest_CachedByModel changes the model: what was kept for one is not sent to another
// that takes other ids.
func TestRequest_CachedByModel(t *testing.T) {
	r := model.Request{Model: "gpt", Messages: []model.Message{{Key: "k", Role: model.AssistantRole, Content: []model.Content{model.CallContent{ID: "a:1", Name: "f"}}}}}
	e := &chatEncoder{}
	e.request(r)
	r.Model = "anthropic/Claude-9"
	if got := string(e.request(r)); !strings.Contains(got, `"id":"a_1"`) {
		t.Error(got)
	}
}

// TestRequest_Linear encodes large texts and arguments in time.
func TestRequest_Linear(t *testing.T) {
	big := strings.Repeat("some \"words\"\n", 1<<20/13)
	arguments, _ := json.Marshal(map[string]string{"content": big[:200<<10]})
	r := model.Request{Model: "m", Messages: []model.Message{
		{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: big}}},
		{Role: model.AssistantRole, Content: []model.Content{model.TextContent{Text: big}, model.CallContent{ID: "a", Name: "f", Input: arguments}}},
		{Role: model.ToolRole, Content: []model.Content{model.ResultContent{ID: "a", Text: big}}},
	}}
	for _, b := range [][]byte{(&chatEncoder{}).request(r), (&responsesEncoder{}).request(r)} {
		if !json.Valid(b) || len(b) < 3<<20 {
			t.Error("not all of it")
		}
	}
}

func TestBoundID(t *testing.T) {
	long := strings.Repeat("é", 50)
	a, b := boundID(long+"a", 40), boundID(long+"b", 40)
	if len(a) > 40 || a == b || a != boundID(long+"a", 40) {
		t.Error(a, b)
	}
	if got := boundID("call_1", 40); got != "call_1" {
		t.Error(got)
	}
}

func TestSchema(t *testing.T) {
	for _, c := range []struct {
		schema, want string
	}{
		{``, emptySchema},
		{`[1]`, emptySchema},
		{`{"type":`, emptySchema},
		{`{ "type": "object", "properties": {"a": {"type": "integer", "maximum": 10000000000000000000001}}, "$schema": "x" }`, `{"type":"object","properties":{"a":{"type":"integer","maximum":10000000000000000000001}},"$schema":"x"}`},
		{`{"description":"<b>"}`, `{"description":"<b>","properties":{},"type":"object"}`},
	} {
		if got := string(cleanSchema(json.RawMessage(c.schema))); got != c.want {
			t.Errorf("%s: %s, want %s", c.schema, got, c.want)
		}
	}
}
