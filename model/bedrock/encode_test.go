package bedrock

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

const signed = `{"bedrock":{"signature":"c2ln"}}`

func rich(thought string, target model.Target) model.Request {
	return wiretest.Request(wiretest.History(thought, &lathe.ToolCall{
		CallID: "s1", Tool: "web_search", State: &lathe.Completed{Input: json.RawMessage(`{}`), Output: "found"}, Metadata: json.RawMessage(`{"providerExecuted":true}`),
	}), target)
}

func TestRequest_Golden(t *testing.T) {
	images := func(mime string) bool { return model.Modality(mime) == "image" }
	for _, c := range []struct {
		name    string
		thought string
		target  model.Target
		edit    func(r *model.Request)
	}{
		{name: "claude", thought: signed, target: model.Target{ResultMedia: images, Input: []string{"image", "pdf"}}, edit: func(r *model.Request) {
			r.Model, r.Cache = "us.anthropic.claude-opus-5", model.CacheHour
			r.Options = map[string]json.RawMessage{
				"reasoningConfig": json.RawMessage(`{"type":"adaptive","maxReasoningEffort":"high"}`), "guardrailConfig": json.RawMessage(`{"guardrailIdentifier":"g"}`),
				"additionalModelRequestFields": json.RawMessage(`{"anthropic_beta":["b"]}`), "profile": json.RawMessage(`"dev"`),
			}
		}},
		{name: "claude-budget", thought: `{"bedrock":{"redactedData":"ZGF0YQ=="}}`, edit: func(r *model.Request) {
			r.Model, r.MaxOutput, r.Choice, r.Tools = "anthropic.claude-3-7-sonnet", 9000, "none", nil
			r.Options = map[string]json.RawMessage{"reasoningConfig": json.RawMessage(`{"type":"enabled","budgetTokens":16000}`)}
		}},
		{name: "claude-forced", edit: func(r *model.Request) {
			r.Model, r.Choice, r.Messages, r.Cache = "anthropic.claude-3-7-sonnet", "bash", r.Messages[:1], model.CacheFive
			r.Options = map[string]json.RawMessage{"reasoningConfig": json.RawMessage(`{"type":"enabled","budgetTokens":16000}`)}
		}},
		{name: "nova", target: model.Target{Input: []string{"image", "video"}}, edit: func(r *model.Request) {
			r.Model, r.Choice = "us.amazon.nova-2-lite-v1:0", "required"
			r.Options = map[string]json.RawMessage{"reasoningConfig": json.RawMessage(`{"type":"enabled","maxReasoningEffort":"low"}`)}
		}},
		{name: "mistral", target: model.Target{Input: []string{}}, edit: func(r *model.Request) { r.Model, r.Options = "mistral.mistral-large-3-675b-instruct", nil }},
		{name: "gpt-oss", target: model.Target{Input: []string{}}, edit: func(r *model.Request) {
			r.Model, r.Messages, r.MaxOutput, r.Temperature, r.TopP = "openai.gpt-oss-120b-1:0", r.Messages[:1], 0, nil, nil
			r.Options = map[string]json.RawMessage{"reasoningConfig": json.RawMessage(`{"type":"enabled","maxReasoningEffort":"low"}`)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rich(c.thought, c.target)
			c.edit(&r)
			wiretest.Golden(t, c.name, (&encoder{}).request(r))
		})
	}
}

func TestRequest_Stable(t *testing.T) {
	for _, name := range []string{"anthropic.claude-x", "mistral.x"} {
		wiretest.Stable(t, func() func(model.Request) []byte { return (&encoder{}).request }, func() model.Request {
			r := rich(signed, model.Target{})
			r.Model = name
			return r
		})
	}
}

// What the service would refuse is left out or said in another way.
func TestMessage(t *testing.T) {
	w := writer{callID}
	for name, c := range map[string]struct {
		content []model.Content
		want    string
	}{
		"blank text":        {[]model.Content{model.TextContent{Text: " \n"}, model.TextContent{Text: "a"}}, `{"text":"a"}`},
		"unsigned thought":  {[]model.Content{model.ReasoningContent{Text: "hm"}}, ``},
		"Anthropic's own":   {[]model.Content{model.ReasoningContent{Text: "hm", Meta: model.Meta(`{"anthropic":{"signature":"s"}}`)}}, `{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}}`},
		"result of nothing": {[]model.Content{model.ResultContent{ID: "a"}}, `{"toolResult":{"toolUseId":"a","content":[{"text":"(no output)"}]}}`},
		"result of an image": {
			[]model.Content{model.ResultContent{ID: "a", Media: []model.FileContent{{Mime: "image/png", Data: "AA=="}}}},
			`{"toolResult":{"toolUseId":"a","content":[{"image":{"format":"png","source":{"bytes":"AA=="}}}]}}`,
		},
		"an address": {[]model.Content{model.FileContent{Mime: "image/png", Name: "a.png", URL: "https://e.com/a.png"}}, `{"text":"[The file \"a.png\" of type image/png cannot be read by this model. Tell the user.]"}`},
		"a document alone": {
			[]model.Content{model.FileContent{Mime: "application/pdf", Name: "my_file  (1).pdf", Data: "AA=="}},
			`{"document":{"format":"pdf","name":"my file 1 NAME","source":{"bytes":"AA=="}}},{"text":"The document is attached."}`,
		},
		"a long id": {[]model.Content{model.CallContent{ID: strings.Repeat("é", 90), Name: "f"}}, `{"toolUse":{"toolUseId":"LONG","name":"f","input":{}}}`},
	} {
		got := string(w.message(model.Message{Role: model.UserRole, Content: c.content}))
		want := strings.ReplaceAll(c.want, "NAME", strings.TrimPrefix(documentName(model.FileContent{Name: "x", Data: "AA=="}), "x "))
		want = strings.ReplaceAll(want, "LONG", callID(strings.Repeat("é", 90)))
		if got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	if a, b := callID(strings.Repeat("a", 70)+"1"), callID(strings.Repeat("a", 70)+"2"); len(a) != 64 || len(b) != 64 || a == b {
		t.Error(a, b)
	}
}
