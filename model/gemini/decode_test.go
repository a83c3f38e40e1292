package gemini

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func newDecoder() *decoder {
	return &decoder{provider: "google", ids: wire.NewCallIDs(wiretest.IDs())}
}

func read(body io.Reader, d *decoder, yield func(model.Event, error) bool) {
	wire.Relay(context.Background(), sse.NewReader(body).Next, d, yield)
}

func drain(body io.Reader) ([]model.Event, error) {
	return wiretest.Collect(func(yield func(model.Event, error) bool) { read(body, newDecoder(), yield) })
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

// Refusals that were recorded, with the time to wait in their bodies.
func TestRecordings_Refusal(t *testing.T) {
	for _, r := range wiretest.Recordings(t, "gemini") {
		status, body, ok := r.Refusal()
		if !ok {
			continue
		}
		err := failure(model.Failure{Provider: "google", Status: status, Body: body})
		if err.Code != lathe.Limited || !strings.Contains(string(body), err.Message) || !strings.Contains(string(err.Fault.(*lathe.APIFault).ResponseHeaders), `"retry-after-ms":"34400"`) {
			t.Errorf("%s: %s %q %+v", r.ID, err.Code, err.Message, err.Fault)
		}
	}
}

func TestDecode_Large(t *testing.T) {
	wiretest.Large(t, func(words string) []byte {
		return []byte("data: " + `{"candidates":[{"content":{"parts":[{"text":"` + words + `"}]},"finishReason":"STOP"}]}` + "\n\n")
	}, drain)
}

func TestDecode_Parts(t *testing.T) {
	sse := func(chunks ...string) io.Reader {
		var b strings.Builder
		for _, c := range append(chunks, `{"candidates":[{"finishReason":"STOP"}],"error":null}`) {
			b.WriteString("data: " + c + "\n\n")
		}
		return strings.NewReader(b.String())
	}
	parts := func(p string) string { return `{"candidates":[{"content":{"parts":[` + p + `]}}]}` }
	for name, c := range map[string]struct {
		chunks []string
		want   string
	}{
		"a signature after a text": {
			[]string{parts(`{"text":"a"}`), parts(`{"text":"b\ud83d"}`), parts(`{"text":"\ude00"}`), parts(`{"text":"","thoughtSignature":"s"}`)},
			"start\ntext 1\ntext 1 + \"ab😀\"\ntext 1 end {\"google\":{\"thoughtSignature\":\"s\"}}\nfinish stop STOP\n",
		},
		"a signature alone": {
			[]string{parts(`{"text":"","thoughtSignature":"s"}`)},
			"start\ntext 1\ntext 1 end {\"google\":{\"thoughtSignature\":\"s\"}}\nfinish stop STOP\n",
		},
		"thoughts and words in turns": {
			[]string{parts(`{"text":"a","thought":true}`), parts(`{"text":"b"},{"text":"c","thought":true}`), parts(`{"text":""}`)},
			"start\nreasoning 1\nreasoning 1 + \"a\"\nreasoning 1 end\ntext 2\ntext 2 + \"b\"\ntext 2 end\nreasoning 3\nreasoning 3 + \"c\"\nreasoning 3 end\nfinish stop STOP\n",
		},
		"the same id twice, and none": {
			[]string{parts(`{"functionCall":{"name":"f","id":"x"}},{"functionCall":{"name":"f","args":null,"id":"x"}}`)},
			"start\ninput x of f\ninput x + \"{}\"\ninput x end\ncall x f {}\n" +
				"input ID of f\ninput ID + \"{}\"\ninput ID end\ncall ID f {}\nfinish tool-calls STOP\n",
		},
		"code that the provider ran": {
			[]string{parts(`{"executableCode":{"code":"1"}},{"codeExecutionResult":{"output":"1"}}`)},
			"start\ncall ID code_execution {\"code\":\"1\"} (executed) {\"providerExecuted\":true}\n" +
				"result ID code_execution {\"output\":\"1\"} failed=false {\"providerExecuted\":true}\nfinish stop STOP\n",
		},
		"what was used, told once": {
			[]string{`{"usageMetadata":{"promptTokenCount":-3,"candidatesTokenCount":2}}`, `{"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":2}}`},
			"start\nused in=0 read=0 write=0 out=2 reasoning=0 total=0\nfinish stop STOP\n",
		},
	} {
		got := wiretest.Show(drain(sse(c.chunks...)))
		made := newDecoder()
		if want := strings.ReplaceAll(c.want, "ID", made.ids.Take("")); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// FuzzScan holds the scanner against the general path.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"candidates":[{"content":{"parts":[{"text":"a\ud83d"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":5,"totalTokenCount":199,"promptTokensDetails":[{"modality":"TEXT","tokenCount":9}],"thoughtsTokenCount":185},"modelVersion":"m","responseId":"r"}`,
		`{"candidates": [{"content": {"parts": [{"text": "\ude00","thought": true}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 54,"trafficType":"x"}}`,
		`{"candidates":[{"content":{"parts":[{"text":"a"}],"parts":[]}}]}` + "\n" + `{"candidates":[{"content":{"parts":[{"text":"","thought":false}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"Text":"a","text":"b"}]}}],"usageMetadata":{"promptTokenCount":1e3}}`,
	} {
		f.Add([]byte(s))
	}
	wiretest.FuzzScan(f, func() (fast, general func([]byte) ([]model.Event, error)) {
		a, b := newDecoder(), newDecoder()
		a.started, b.started, b.slow = true, true, true
		return a.chunk, b.chunk
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("data: " + `{"candidates":[{"content":{"parts":[{"text":"a"},{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}` + "\r\n\r\n"))
	wiretest.FuzzRead(f, drain)
}

func FuzzRequest(f *testing.F) { wiretest.FuzzRequest(f, (&encoder{}).request) }
