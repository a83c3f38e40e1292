package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/model"
)

var patchTool = model.Tool{
	Name: "apply_patch", Description: "d", Schema: json.RawMessage(`{"type":"object"}`),
	Freeform: &model.Freeform{Argument: "patchText", Grammar: "start: /x/"},
}

// A call of a custom tool is a call like any other: its text is the one member of its input, whether
// it came in pieces, in one, or only with the end.
func TestResponses_CustomCall(t *testing.T) {
	const (
		added = `{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"apply_patch","input":""}}`
		done  = `{"type":"response.output_item.done","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"apply_patch","input":"a \"b\"\n"}}`
		end   = `{"type":"response.completed","response":{"status":"completed"}}`
		call  = `call c1 apply_patch {"patchText":"a \"b\"\n"}`
	)
	for name, body := range map[string]string{
		"in pieces": sseBody(added, `{"type":"response.custom_tool_call_input.delta","output_index":0,"item_id":"ctc_1","delta":"a \""}`,
			`{"type":"response.custom_tool_call_input.delta","output_index":0,"item_id":"ctc_1","delta":"b\"\n"}`,
			`{"type":"response.custom_tool_call_input.done","output_index":0,"item_id":"ctc_1","input":"a \"b\"\n"}`, done, end),
		"in one":    sseBody(added, `{"type":"response.custom_tool_call_input.done","output_index":0,"item_id":"ctc_1","input":"a \"b\"\n"}`, done, end),
		"at once":   sseBody(done, end),
		"no stream": `{"id":"r","object":"response","status":"completed","output":[{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"apply_patch","input":"a \"b\"\n"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := responsesForTest()
			d.freeform = freeform([]model.Tool{patchTool})
			events, err := drain(d, strings.NewReader(body))
			got := show(events, err)
			if !strings.Contains(got, call) || !strings.Contains(got, "finish tool-calls") {
				t.Errorf("got:\n%s", got)
			}
			var input strings.Builder
			for _, e := range events {
				if e, ok := e.(model.InputDelta); ok {
					input.WriteString(e.Text)
				}
			}
			if input.String() != `{"patchText":"a \"b\"\n"}` {
				t.Errorf("streamed %s", input.String())
			}
		})
	}
}

// A call of a tool that was not offered becomes a call by its own name: the model is notified
// that there is none. What the provider runs itself, or wants no answer to, does not.
func TestResponses_UnknownCall(t *testing.T) {
	item := func(text string) string {
		return sseBody(`{"type":"response.output_item.added","output_index":0,"item":`+text+`}`, `{"type":"response.output_item.done","output_index":0,"item":`+text+`}`,
			`{"type":"response.completed","response":{"status":"completed"}}`)
	}
	got := show(drain(responsesForTest(), strings.NewReader(item(`{"type":"local_shell_call","id":"l1","call_id":"c1","action":{"command":["ls"]}}`))))
	if !strings.Contains(got, `call c1 local_shell_call {"type":"local_shell_call"`) || !strings.Contains(got, "finish tool-calls") {
		t.Errorf("a shell: %s", got)
	}
	got = show(drain(responsesForTest(), strings.NewReader(item(`{"type":"new_search_call","id":"n1"}`))))
	if strings.Contains(got, "call") && !strings.Contains(got, "finish stop") {
		t.Errorf("a call that wants no answer: %s", got)
	}
}

// The tool is offered as a custom one where the server knows them, and its calls go back as they came.
func TestResponses_CustomRequest(t *testing.T) {
	meta := itemMeta{ItemID: "ctc_1", Custom: true}.encode()
	r := model.Request{Model: "gpt-5", Tools: []model.Tool{patchTool}, Messages: []model.Message{
		{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "go"}}},
		{Role: model.AssistantRole, Content: []model.Content{model.CallContent{ID: "c1", Name: "apply_patch", Input: json.RawMessage(`{"patchText":"x\ny"}`), Meta: meta}}},
		{Role: model.ToolRole, Content: []model.Content{model.ResultContent{ID: "c1", Name: "apply_patch", Text: "done", Meta: meta}}},
	}}
	custom := string((&responsesEncoder{dialect: Dialect{Custom: true}}).request(r))
	for _, want := range []string{
		`{"type":"custom","name":"apply_patch","description":"d","format":{"type":"grammar","syntax":"lark","definition":"start: /x/"}}`,
		`{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"x\ny"}`,
		`{"type":"custom_tool_call_output","call_id":"c1","output":"done"}`,
	} {
		if !strings.Contains(custom, want) {
			t.Errorf("no %s in %s", want, custom)
		}
	}
	r.Messages[1].Content[0] = model.CallContent{ID: "c1", Name: "apply_patch", Input: json.RawMessage(`{"patchText":"x"}`)}
	r.Messages[2].Content[0] = model.ResultContent{ID: "c1", Name: "apply_patch", Text: "done"}
	plain := string((&responsesEncoder{}).request(r))
	for _, want := range []string{`"type":"function","name":"apply_patch"`, `{"type":"function_call","call_id":"c1"`, `{"type":"function_call_output"`} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %s in %s", want, plain)
		}
	}
}
