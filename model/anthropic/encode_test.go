package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

const signed = `{"anthropic":{"signature":"c2ln"}}`

func rich(thought string, target model.Target) model.Request {
	found := `[{"type":"web_search_result","title":"T","url":"https://e.com","encrypted_content":"x"}]`
	return wiretest.Request(wiretest.History(thought, &lathe.ToolCall{
		CallID: "srvtoolu_1", Tool: "web_search", State: &lathe.Completed{Input: json.RawMessage(`{"query":"q"}`), Output: found},
		Metadata: json.RawMessage(`{"anthropic":{"type":"web_search_tool_result"},"providerExecuted":true}`),
	}), target)
}

func TestRequest_Golden(t *testing.T) {
	all := func(string) bool { return true }
	for _, c := range []struct {
		name    string
		version string
		thought string
		target  model.Target
		edit    func(r *model.Request)
	}{
		{name: "plain", thought: signed, target: model.Target{ResultMedia: all}},
		{name: "thinking", thought: `{"anthropic":{"redactedData":"ZGF0YQ=="}}`, target: model.Target{Input: []string{"pdf"}}, edit: func(r *model.Request) {
			r.Cache, r.MaxOutput = model.CacheHour, 1000
			r.Options = map[string]json.RawMessage{
				"thinking": json.RawMessage(`{"type":"enabled","budgetTokens":16000}`), "effort": json.RawMessage(`"high"`), "speed": json.RawMessage(`"fast"`),
				"max_tokens": json.RawMessage(`1`), "sendReasoning": json.RawMessage(`true`),
			}
		}},
		{name: "forced", thought: signed, edit: func(r *model.Request) {
			r.Messages, r.Choice, r.Options = r.Messages[:1], "bash", map[string]json.RawMessage{"thinking": json.RawMessage(`{"type":"enabled","budgetTokens":16000}`)}
		}},
		{name: "vertex", version: "vertex-2023-10-16", thought: signed, edit: func(r *model.Request) {
			r.Choice, r.Cache, r.MaxOutput, r.Options = "none", model.NoCache, 0, map[string]json.RawMessage{"thinking": json.RawMessage(`{"type":"adaptive"}`)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rich(c.thought, c.target)
			if c.edit != nil {
				c.edit(&r)
			}
			wiretest.Golden(t, c.name, (&encoder{version: c.version}).request(r))
		})
	}
}

func TestRequest_Stable(t *testing.T) {
	wiretest.Stable(t, func() func(model.Request) []byte { return (&encoder{}).request }, func() model.Request { return rich(signed, model.Target{}) })
}

// A thought at the end of the history takes no breakpoint, and what is before it keeps its own.
func TestRequest_NoBreakpointOnThoughts(t *testing.T) {
	say := func(role model.Role, c ...model.Content) model.Message { return model.Message{Role: role, Content: c} }
	thought := model.ReasoningContent{Text: "hm", Meta: model.Meta(signed)}
	for name, c := range map[string]struct {
		last  model.Message
		marks int
	}{
		"words":                     {say(model.AssistantRole, thought, model.TextContent{Text: "b"}), 2},
		"a thought":                 {say(model.AssistantRole, model.TextContent{Text: "b"}, thought), 1},
		"a thought, then nothing":   {say(model.AssistantRole, thought, model.TextContent{}), 1},
		"an unsigned one is no one": {say(model.AssistantRole, model.TextContent{Text: "b"}, model.ReasoningContent{Text: "x"}), 2},
	} {
		r := model.Request{Model: "c", Cache: model.CacheFive, Messages: []model.Message{say(model.UserRole, model.TextContent{Text: "a"}), c.last}}
		if body := string((&encoder{}).request(r)); strings.Count(body, "cache_control") != c.marks || !json.Valid([]byte(body)) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// A failure always says something: the provider refuses a history in which one does not.
func TestRequest_FailureWithoutWords(t *testing.T) {
	for text, want := range map[string]string{
		"":     `"is_error":true,"content":[{"type":"text","text":"(no output)"}]`,
		" \n":  `"is_error":true,"content":[{"type":"text","text":"(no output)"}]`,
		"gone": `"is_error":true,"content":[{"type":"text","text":"gone"}]`,
	} {
		r := model.Request{Model: "c", Messages: []model.Message{
			{Role: model.AssistantRole, Content: []model.Content{model.CallContent{ID: "c1", Name: "x"}}},
			{Role: model.ToolRole, Content: []model.Content{model.ResultContent{ID: "c1", Name: "x", Text: text, Failed: true}}},
		}}
		if body := string((&encoder{}).request(r)); !strings.Contains(body, want) {
			t.Errorf("%q: %s", text, body)
		}
	}
}
