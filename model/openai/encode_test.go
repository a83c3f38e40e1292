package openai

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// richHistory has every kind of part and state. meta is what the provider wants back with
// the reasoning.
func richHistory(meta string) []lathe.Message {
	said := func(parts ...lathe.Body) []lathe.Part {
		var out []lathe.Part
		for _, b := range parts {
			out = append(out, lathe.Part{Body: b})
		}
		return out
	}
	user := func(parts ...lathe.Body) lathe.Message {
		return lathe.Message{Said: &lathe.User{}, Parts: said(parts...)}
	}
	answer := func(name string, parts ...lathe.Body) lathe.Message {
		return lathe.Message{Said: &lathe.Assistant{Model: lathe.ModelRef{Provider: "p", Model: name}}, Parts: said(parts...)}
	}
	tool := func(id string, s lathe.ToolState) *lathe.ToolCall {
		return &lathe.ToolCall{CallID: id, Tool: "read", State: s, Metadata: json.RawMessage(`{"openai":{"itemId":"fc_` + id + `"}}`)}
	}
	input := json.RawMessage(`{"path":"a \"b\".go"}`)
	pixel := lathe.Part{Body: &lathe.File{Mime: "image/png", Filename: "shot.png", URL: "data:image/png;base64,AAAA"}}
	search := `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}`
	return []lathe.Message{
		user(&lathe.Text{Text: "Look at these."}, &lathe.File{Mime: "image/png", URL: "data:image/png;base64,BBBB"}, &lathe.File{Mime: "image/jpeg", URL: "https://example.com/a.jpg"},
			&lathe.File{Mime: "application/pdf", Filename: "b.pdf", URL: "data:application/pdf;base64,CCCC"}, &lathe.File{Mime: "image/png", Filename: "c.png", URL: "data:image/png;base64,"},
			&lathe.File{Mime: "text/csv", URL: "data:text/csv;base64,YSxi"}, &lathe.File{Mime: "video/mp4", Filename: "d.mp4", URL: "data:video/mp4;base64,DDDD"}, &lathe.File{Mime: "audio/wav", URL: "data:audio/wav;base64,EEEE"}),
		answer("m", &lathe.StepStart{}, &lathe.Reasoning{Text: "I should read.", Metadata: json.RawMessage(`{"openai":{"itemId":"rs_1"}}`)},
			&lathe.Reasoning{Text: "Twice.", Metadata: json.RawMessage(meta)},
			&lathe.Text{Text: "Reading.", Metadata: json.RawMessage(`{"openai":{"itemId":"msg_1","phase":"commentary"}}`)},
			tool("call_1", &lathe.Completed{Input: input, Output: "package a"}), tool("call:2/é", &lathe.Failed{Input: input, Error: "no such file"}),
			tool("call_3", &lathe.Running{Input: input}), tool("chatcmpl-tool-0123456789abcdef0123456789abcdef0123456789abcdef01234567", &lathe.Completed{Input: input, Output: "an image", Attachments: []lathe.Part{pixel}}),
			&lathe.StepStart{}, &lathe.Reasoning{Text: "", Metadata: json.RawMessage(strings.ReplaceAll(meta, "rs_1", "rs_2"))},
			&lathe.ToolCall{CallID: "ws_1", Tool: "web_search_call", State: &lathe.Completed{Input: json.RawMessage(`{}`), Output: search}, Metadata: json.RawMessage(`{"openai":{"itemId":"ws_1","type":"web_search_call"},"providerExecuted":true}`)},
			&lathe.Text{Text: "Done."}, &lathe.Text{Text: "Really."}),
		user(&lathe.Text{Text: "And now?"}, &lathe.Text{Text: "Hurry."}),
		answer("other", &lathe.StepStart{}, &lathe.Reasoning{Text: "Another's thought."}, &lathe.Text{Text: "Nothing."}),
		answer("m", &lathe.StepStart{}, &lathe.Reasoning{Text: "Cut off in the middle of", Metadata: json.RawMessage(`{"openai":{"itemId":"rs_9","reasoningEncryptedContent":"e9"}}`)}),
		user(&lathe.Text{Text: "Go on."}),
	}
}

const (
	encryptedMeta = `{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"gAAA"}}`
	detailsMeta   = `{"openrouter":{"reasoning_details":[{"type":"reasoning.text","text":"Twice.","signature":"sig"},{"type":"reasoning.encrypted","data":"xx"}]}}`
	opaqueMeta    = `{"copilot":{"reasoningOpaque":"op"}}`
)

func richRequest(meta string, target model.Target) model.Request {
	temperature, topP, topK := 0.7, 0.95, 40
	target.Provider, target.Model = "p", "m"
	return model.Request{
		Model: "vendor/model-1", System: []string{"You are good.", "", "The directory is /a."}, Messages: model.Convert(richHistory(meta), target),
		Tools: []model.Tool{
			{Name: "bash", Description: "Runs a <command>.", Schema: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"command":{"type":["string","null"],"format":"x","default":1},"mode":{"$ref":"#/$defs/mode"}},"required":["command"],"additionalProperties":false,"$defs":{"mode":{"const":"fast"}}}`)},
			{Name: "now", Description: "Tells the time."},
		},
		MaxOutput: 32000, Temperature: &temperature, TopP: &topP, TopK: &topK, Cache: model.CacheFive,
		Options: map[string]json.RawMessage{
			"reasoningEffort": json.RawMessage(`"high"`), "reasoningSummary": json.RawMessage(`"auto"`), "textVerbosity": json.RawMessage(`"low"`), "promptCacheKey": json.RawMessage(`"ses_1"`),
			"parallelToolCalls": json.RawMessage(`true`), "serviceTier": json.RawMessage(`"flex"`), "enable_thinking": json.RawMessage(`true`), "chatTemplateArgs": json.RawMessage(`{"a":1}`), "apiKey": json.RawMessage(`"secret"`),
		},
	}
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
		{name: "chat-openai", dialect: Dialect{MaxTokens: "max_completion_tokens", SystemRole: "developer", NotStrict: true, MaxID: 40}, meta: encryptedMeta, edit: func(r *model.Request) { r.Choice = "bash" }},
		{name: "chat-openrouter", dialect: Dialect{Effort: "reasoning", Cache: "content", TopK: true}, meta: detailsMeta, edit: func(r *model.Request) { r.Model, r.Cache = "anthropic/claude-9", model.CacheHour }},
		{name: "chat-copilot", dialect: Dialect{Cache: "copilot_cache_control", NoPDF: true}, meta: opaqueMeta},
		{name: "chat-mistral", dialect: Dialect{ShortIDs: true, NoUsage: true, Required: "any", Schema: SchemaPlain, NoImages: true}, edit: func(r *model.Request) { r.Choice = "required" }},
		{name: "chat-deepseek", dialect: Dialect{Reasoning: "reasoning_content", Flat: true, OneSystem: true, NoChoice: true}, edit: func(r *model.Request) { r.Choice = "none" }},
		{name: "chat-images-in-results", dialect: Dialect{Parallel: true}, target: model.Target{ResultMedia: all}, edit: func(r *model.Request) { r.Options = nil }},
		{name: "responses", protocol: "responses", meta: encryptedMeta, target: model.Target{ResultMedia: all}, edit: func(r *model.Request) { r.Choice = "bash" }},
		{name: "responses-stored", protocol: "responses", meta: encryptedMeta, edit: func(r *model.Request) { r.Options["store"] = json.RawMessage("true") }},
		{name: "responses-instructions", protocol: "responses", dialect: Dialect{Instructions: true, Reasoning: "yes"}, meta: `{"openai":{"itemId":"rs_1","reasoningText":true}}`, edit: func(r *model.Request) {
			r.Options = map[string]json.RawMessage{"max_output_tokens": json.RawMessage("null"), "include": json.RawMessage(`["a"]`)}
		}},
		{name: "responses-thoughts-lost", protocol: "responses", meta: `{"openai":{"itemId":"rs_1"}}`, dialect: Dialect{SystemRole: "system", OneSystem: true}, edit: func(r *model.Request) { r.Tools, r.Options["reasoning"] = nil, json.RawMessage(`{"effort":"low"}`) }},
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
			golden(t, c.name, encode(r))
		})
	}
}

func golden(t *testing.T, name string, body []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	pretty.WriteByte('\n')
	if i := duplicate(body); i != "" {
		t.Errorf("the member %s stands twice", i)
	}
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pretty.Bytes(), want) {
		t.Errorf("%s is another now; run with -update and read the diff:\n%s", path, pretty.Bytes())
	}
}

// duplicate returns a member of the body that stands there twice.
func duplicate(body []byte) string {
	d := json.NewDecoder(bytes.NewReader(body))
	_, _ = d.Token()
	names := map[string]bool{}
	for d.More() {
		name, _ := d.Token()
		var skip json.RawMessage
		_ = d.Decode(&skip)
		if s, _ := name.(string); names[s] {
			return s
		} else {
			names[s] = true
		}
	}
	return ""
}

// TestRequest_Stable encodes the same many times, with kept bytes and without: the bytes are
// the same, and a longer history begins with the shorter one (I7).
func TestRequest_Stable(t *testing.T) {
	dialect := Dialect{Schema: SchemaPlain, Reasoning: "reasoning"}
	for name, encode := range map[string]func() func(model.Request) []byte{
		"chat":      func() func(model.Request) []byte { return (&chatEncoder{dialect: dialect}).request },
		"responses": func() func(model.Request) []byte { return (&responsesEncoder{dialect: dialect}).request },
	} {
		t.Run(name, func(t *testing.T) {
			r := richRequest(encryptedMeta, model.Target{})
			want := encode()(r)
			for range 20 {
				if got := encode()(richRequest(encryptedMeta, model.Target{})); !bytes.Equal(got, want) {
					t.Fatalf("got  %s\nwant %s", got, want)
				}
			}
			for i := range r.Messages {
				r.Messages[i].Key = string(rune('a' + i))
			}
			keeping := encode()
			for n := range r.Messages {
				part := r
				part.Messages = r.Messages[:n+1]
				got := keeping(part)
				if head := bytes.TrimSuffix(got, []byte("]}")); !bytes.HasPrefix(want, head) {
					t.Fatalf("with %d messages: %s\nis not the beginning of %s", n+1, got, want)
				}
			}
			if got := keeping(r); !bytes.Equal(got, want) {
				t.Fatalf("kept: %s\nwant %s", got, want)
			}
		})
	}
}

// TestRequest_KeptByModel changes the model: what was kept for one is not sent to another
// that takes other ids.
func TestRequest_KeptByModel(t *testing.T) {
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

func TestCallIDs(t *testing.T) {
	for id, want := range map[string]string{
		"call_abc123456789": "callabc12", "a-b": "ab0000000", "": "000000000", "D681PevKs": "D681PevKs",
		"chatcmpl-tool-9f149c74c42f265b": "4c42f265b", "functions.bash:12": "onsbash12", "call_01ARYZ6S410000000000000007": "000000007",
	} {
		if got := shortID(id); got != want || len(got) != 9 {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
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
		level        SchemaLevel
		schema, want string
	}{
		{SchemaFull, ``, emptySchema},
		{SchemaFull, `[1]`, emptySchema},
		{SchemaFull, `{"type":`, emptySchema},
		{SchemaFull, `{ "type": "object", "properties": {"a": {"type": "integer", "maximum": 10000000000000000000001}}, "$schema": "x" }`, `{"type":"object","properties":{"a":{"type":"integer","maximum":10000000000000000000001}},"$schema":"x"}`},
		{SchemaFull, `{"description":"<b>"}`, `{"description":"<b>","properties":{},"type":"object"}`},
		{SchemaPlain, `{"type":"object","properties":{"a":{"$ref":"#/$defs/a~1b"},"b":{"$ref":"elsewhere"}},"$defs":{"a/b":{"type":"array","items":{"type":"string","pattern":"x"}}}}`, `{"properties":{"a":{"items":{"type":"string"},"type":"array"},"b":{}},"type":"object"}`},
		{SchemaPlain, `{"allOf":[{"type":"object","properties":{"a":{"const":1}}},{"required":["a"],"properties":{"b":{}}}],"oneOf":[{"required":["a"]}]}`, `{"anyOf":[{"required":["a"]}],"properties":{"a":{"enum":[1]}},"required":["a"],"type":"object"}`},
	} {
		if got := string(cleanSchema(json.RawMessage(c.schema), c.level)); got != c.want {
			t.Errorf("%s: %s, want %s", c.schema, got, c.want)
		}
	}
	endless := `{"type":"object","properties":{"a":{"$ref":"#"}}}`
	if got := cleanSchema(json.RawMessage(endless), SchemaPlain); !json.Valid(got) || len(got) > 2000 {
		t.Errorf("%s", got)
	}
}
