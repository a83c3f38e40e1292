package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func drain(body io.Reader) (events []model.Event, err error) {
	ids := lathe.NewIDs()
	d := &decoder{provider: "google", callID: func() string { return "call_" + ids.CallID() }}
	read(context.Background(), d, body, func(e model.Event, failed error) bool {
		if err = failed; err == nil {
			events = append(events, e)
		}
		return true
	})
	return events, err
}

func TestRecordings(t *testing.T) { wiretest.Run(t, "gemini", drain) }

func TestDecode_Finish(t *testing.T) {
	for reason, want := range map[string]string{
		"STOP": model.FinishStop, "MAX_TOKENS": model.FinishLength, "SAFETY": model.FinishFilter,
		"MALFORMED_FUNCTION_CALL": model.FinishError, "NEW_REASON": model.FinishUnknown,
	} {
		events, err := drain(strings.NewReader(`data: {"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"` + reason + `"}]}` + "\n\n"))
		if err != nil || events[len(events)-1].(model.Finish).Reason != want {
			t.Errorf("%s: %+v, %v", reason, events, err)
		}
	}
	events, err := drain(strings.NewReader(`data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}` + "\n\n"))
	if err != nil || events[len(events)-1].(model.Finish).Reason != model.FinishFilter {
		t.Errorf("a blocked prompt: %+v, %v", events, err)
	}
	if _, err := drain(strings.NewReader(`data: {"candidates":[{"content":{"parts":[{"text":"x"}]}}]}` + "\n\n")); lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("an answer without a reason to end: %v", err)
	}
}

// The provider says in the body how long to wait.
func TestFailure_RetryDelay(t *testing.T) {
	body := `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}]}}`
	err := failure(model.Failure{Provider: "google", Status: 429, Body: []byte(body)})
	if err.Code != lathe.Limited {
		t.Fatalf("code %s", err.Code)
	}
	var headers map[string]string
	if e := json.Unmarshal(err.Fault.(*lathe.APIFault).ResponseHeaders, &headers); e != nil {
		t.Fatal(e)
	}
	wait, ok := model.RetryAfter(http.Header{"Retry-After-Ms": {headers["retry-after-ms"]}}, time.Now())
	if !ok || wait != 34400*time.Millisecond {
		t.Errorf("wait %v, %v", wait, ok)
	}
}

func TestSchema(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"unknown keys": {
			`{"$schema":"x","type":"object","additionalProperties":false,"properties":{"a":{"type":"string","default":"x"}},"required":["a","b"]}`,
			`{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`,
		},
		"may be null": {
			`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`,
			`{"properties":{"a":{"nullable":true,"type":"string"},"b":{"nullable":true,"type":"integer"}},"type":"object"}`,
		},
		"const and numbers": {
			`{"type":"object","properties":{"a":{"const":1},"b":{"type":"array"}}}`,
			`{"properties":{"a":{"enum":["1"],"type":"string"},"b":{"items":{"type":"string"},"type":"array"}},"type":"object"}`,
		},
		"no parameters": {`{"type":"object","properties":{}}`, ``},
		"not a schema":  {`true`, ``},
	} {
		if got := cleanSchema(json.RawMessage(c.in)); string(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestEncode(t *testing.T) {
	r := model.Request{
		Model: "gemini-x", System: []string{"be brief"}, MaxOutput: 100, Choice: "required",
		Tools: []model.Tool{{Name: "add", Description: "adds", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"}}}`)}},
		Messages: []model.Message{
			{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "hi"}, model.FileContent{Mime: "image/png", Data: "QUJD"}}},
			{Role: model.AssistantRole, Content: []model.Content{
				model.ReasoningContent{Text: "hm", Meta: signatureMeta("sig")},
				model.CallContent{ID: "1", Name: "add", Input: json.RawMessage(`{"a":1}`)},
			}},
			{Role: model.ToolRole, Content: []model.Content{model.ResultContent{ID: "1", Name: "add", Text: "no", Failed: true}}},
			{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "go on"}}},
		},
	}
	const want = `{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[` +
		`{"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]},` +
		`{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"sig"},{"functionCall":{"name":"add","args":{"a":1}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"add","response":{"error":"no"}}},{"text":"go on"}]}],` +
		`"tools":[{"functionDeclarations":[{"name":"add","description":"adds","parameters":{"properties":{"a":{"type":"number"}},"type":"object"}}]}],` +
		`"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"maxOutputTokens":100}}`
	if got := encode(r); string(got) != want || !bytes.Equal(got, encode(r)) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
