package bedrock

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func newDecoder() *decoder {
	return &decoder{provider: "amazon-bedrock", id: "req_1", ids: wire.NewCallIDs(wiretest.IDs())}
}

func read(body io.Reader, d *decoder, yield func(model.Event, error) bool) {
	wire.Relay(context.Background(), newFrames(body).next, d, yield)
}

func drain(body io.Reader) ([]model.Event, error) {
	return wiretest.Collect(func(yield func(model.Event, error) bool) { read(body, newDecoder(), yield) })
}

// sampleBody is an answer with everything in it, as the service sends it.
func sampleBody(t testing.TB) []byte {
	t.Helper()
	return slices.Concat(
		event(t, "messageStart", `{"p":"abcdefghijk","role":"assistant"}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"I "}},"p":"abc"}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"think."}},"p":"ab"}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}},"p":"ab"}`),
		event(t, "contentBlockStop", `{"contentBlockIndex":0,"p":"abcdefghi"}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"Hel\"lo\ud83d"},"p":"abcd"}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"\ude00"},"p":"abcd"}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":1,"delta":{"citation":{"title":"T","location":{"web":{"url":"https://e.com"}}}}}`),
		event(t, "contentBlockStop", `{"contentBlockIndex":1}`),
		event(t, "contentBlockStart", `{"contentBlockIndex":2,"p":"ab","start":{"toolUse":{"name":"bash","toolUseId":"tooluse_1"}}}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":""}},"p":"a"}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"command\":"}},"p":"a"}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"\"ls\"}"}},"p":"a"}`),
		event(t, "contentBlockStop", `{"contentBlockIndex":2}`),
		event(t, "newKindOfEvent", `[1,2]`),
		event(t, "messageStop", `{"p":"ab","stopReason":"tool_use"}`),
		event(t, "metadata", `{"metrics":{"latencyMs":700},"p":"a","usage":{"cacheReadInputTokens":30,"cacheWriteInputTokens":10,"inputTokens":60,"outputTokens":20,"totalTokens":120}}`),
	)
}

const decoded = `start req_1
reasoning 0
reasoning 0 + "I think."
reasoning 0 end {"bedrock":{"signature":"c2ln"}}
text 1
text 1 + "Hel\"lo😀"
source https://e.com T
text 1 end
input tooluse_1 of bash
input tooluse_1 + "{\"command\":\"ls\"}"
input tooluse_1 end
call tooluse_1 bash {"command":"ls"}
used in=100 read=30 write=10 out=20 reasoning=0 total=120
finish tool-calls tool_use
`

func TestDecode(t *testing.T) {
	body := sampleBody(t)
	if got := wiretest.Show(drain(bytes.NewReader(body))); got != decoded {
		t.Errorf("got:\n%s\nwant:\n%s", got, decoded)
	}
	wiretest.Splits(t, body, 1, drain)
	wiretest.Cuts(t, body, drain)
}

func TestDecode_Odd(t *testing.T) {
	stop := event(t, "messageStop", `{"stopReason":"end_turn"}`)
	for name, c := range map[string]struct {
		frames []string // kind and payload in turns
		want   string
	}{
		"nothing but an end": {nil, "start req_1\nfinish stop end_turn\n"},
		"hidden thoughts": {
			[]string{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"redactedContent":"ZGF0YQ=="}}}`},
			"start req_1\nreasoning 0\nreasoning 0 end {\"bedrock\":{\"redactedData\":\"ZGF0YQ==\"}}\nfinish stop end_turn\n",
		},
		"the same id twice, and none": {
			[]string{
				"contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"name":"a","toolUseId":"x"}}}`,
				"contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"name":"b","toolUseId":"x"}}}`,
			},
			"start req_1\ninput x of a\ninput x end\ncall x a {}\ninput ID of b\ninput ID end\ncall ID b {}\nfinish stop end_turn\n",
		},
		"what nobody asked for": {
			[]string{
				"contentBlockStart", `{"contentBlockIndex":0,"start":{}}`, "contentBlockDelta", `{"contentBlockIndex":0}`,
				"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":null}}`, "contentBlockDelta", `{"contentBlockIndex":9,"delta":{"toolUse":{"input":"x"}}}`,
				"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a"}}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"no"}}}`,
				"contentBlockStop", `{"contentBlockIndex":7}`, "messageStart", `{"role":"assistant"}`, "metadata", `{"usage":{"inputTokens":-5,"outputTokens":-1}}`,
			},
			"start req_1\ntext 0\ntext 0 + \"a\"\nused in=0 read=0 write=0 out=0 reasoning=0 total=0\ntext 0 end\nfinish stop end_turn\n",
		},
		"half of a pair": {
			[]string{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a\ud83d"}}`},
			"start req_1\ntext 0\ntext 0 + \"a\ufffd\"\ntext 0 end\nfinish stop end_turn\n",
		},
	} {
		var body []byte
		for i := 0; i < len(c.frames); i += 2 {
			body = append(body, event(t, c.frames[i], c.frames[i+1])...)
		}
		made := newDecoder()
		want := strings.ReplaceAll(c.want, "ID", made.ids.Take(""))
		if got := wiretest.Show(drain(bytes.NewReader(append(body, stop...)))); got != want {
			t.Errorf("%s: got:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

func TestDecode_FinishReasons(t *testing.T) {
	for stop, want := range map[string]string{
		"end_turn": model.FinishStop, "stop_sequence": model.FinishStop, "tool_use": model.FinishCalls, "max_tokens": model.FinishLength,
		"model_context_window_exceeded": model.FinishLength, "content_filtered": model.FinishFilter, "guardrail_intervened": model.FinishFilter,
		"malformed_tool_use": model.FinishError, "of_tomorrow": model.FinishUnknown, "": model.FinishUnknown,
	} {
		events, err := drain(bytes.NewReader(event(t, "messageStop", `{"stopReason":"`+stop+`"}`)))
		if err != nil || events[len(events)-1].(model.Finish).Reason != want {
			t.Errorf("%s: %+v %v", stop, events, err)
		}
	}
}

// A failure inside the stream ends it, whatever came before.
func TestDecode_Exceptions(t *testing.T) {
	prefix := event(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a"}}`)
	for kind, want := range map[string]struct {
		code  lathe.Code
		retry bool
	}{
		"internalServerException": {lathe.Unavailable, true}, "modelStreamErrorException": {lathe.Unavailable, true},
		"serviceUnavailableException": {lathe.Unavailable, true}, "throttlingException": {lathe.Limited, true},
		"modelTimeoutException": {lathe.Unavailable, true}, "accessDeniedException": {lathe.Unauthorized, false}, "validationException": {lathe.Invalid, false},
		"ofTomorrowException": {lathe.Invalid, false},
	} {
		body := slices.Concat(prefix, message(t, `{"message":"why"}`, named(":exception-type", kind), named(":message-type", "exception")))
		events, err := drain(bytes.NewReader(body))
		var known *lathe.Error
		if !errors.As(err, &known) || known.Code != want.code || known.Message != "why" || known.Fault.(*lathe.APIFault).Retryable != want.retry || len(events) != 3 {
			t.Errorf("%s: %v %+v", kind, err, events)
		}
	}
	body := message(t, "", named(":message-type", "error"), named(":error-code", "InternalFailure"), named(":error-message", "broken"))
	if _, err := drain(bytes.NewReader(body)); err == nil || err.Error() != "broken" {
		t.Error(err)
	}
	body = message(t, `{"message":"Input is too long for requested model."}`, named(":exception-type", "validationException"), named(":message-type", "exception"))
	if _, err := drain(bytes.NewReader(body)); lathe.CodeOf(err) != lathe.Overflow {
		t.Error(err)
	}
}

// Refusals say their kind in a header, or in the body.
func TestFailure(t *testing.T) {
	for _, c := range []struct {
		status     int
		kind, body string
		code       lathe.Code
	}{
		{400, "ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/", `{"message":"no such field"}`, lathe.Invalid},
		{400, "", `{"__type":"com.amazon.coral.service#ThrottlingException","Message":"slow"}`, lathe.Limited},
		{403, "UnrecognizedClientException", `{"message":"The security token included in the request is invalid."}`, lathe.Unauthorized},
		{403, "", `{"Message":"Bearer Token has expired"}`, lathe.Unauthorized},
		{404, "ResourceNotFoundException", `{"message":"gone"}`, lathe.NotFound},
		{424, "ModelErrorException", `{"message":"x"}`, lathe.Unavailable},
		{429, "ServiceQuotaExceededException", `{"message":"x"}`, lathe.Limited},
		{503, "", `upstream`, lathe.Unavailable},
	} {
		err := failure(model.Failure{Provider: "amazon-bedrock", Status: c.status, Body: []byte(c.body)}, c.kind)
		if err.Code != c.code || !strings.Contains(c.body, err.Message) {
			t.Errorf("%+v: %s %q", c, err.Code, err.Message)
		}
	}
}

// FuzzScan holds the scanner against the general path.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"contentBlockIndex":0,"delta":{"text":"a\ud83d"},"p":"abc"}` + "\n" + `{"contentBlockIndex":0,"delta":{"text":"\ude00"}}`,
		`{"delta":{"reasoningContent":{"text":"a"}},"contentBlockIndex":1}`,
		`{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"a\":"}},"p":""}`,
		`{"contentBlockIndex":0,"delta":{"text":"a","text":"b"}}`,
		`{"contentBlockIndex":0,"contentBlockIndex":1,"delta":{"Text":"a"}}`,
	} {
		f.Add([]byte(s))
	}
	wiretest.FuzzScan(f, func() (fast, general func([]byte) ([]model.Event, error)) {
		a, b := newDecoder(), newDecoder()
		b.slow = true
		var out []func([]byte) ([]model.Event, error)
		for _, d := range []*decoder{a, b} {
			d.begin(wireEvent{Index: 2, Start: wireStart{ToolUse: &wireToolUse{ID: "x", Name: "f"}}})
			out = append(out, func(payload []byte) ([]model.Event, error) { return d.event("contentBlockDelta", payload) })
		}
		return out[0], out[1]
	})
}

func FuzzRead(f *testing.F) {
	f.Add(sampleBody(f))
	f.Add(event(f, "messageStop", `{"stopReason":"end_turn"}`))
	f.Add(message(f, `{"message":"x"}`, named(":exception-type", "throttlingException"), named(":message-type", "exception")))
	wiretest.FuzzRead(f, drain)
}

// FuzzFrames reads anything in frames whose checksums are right, for almost nothing else gets
// past them: each line is the kind of an event and its payload, and the headers are any bytes.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("contentBlockStart {\"contentBlockIndex\":0,\"start\":{\"toolUse\":{\"name\":\"f\",\"toolUseId\":\"x\"}}}\ncontentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"toolUse\":{\"input\":\"{\"}}}\nmessageStop {\"stopReason\":\"tool_use\"}\nmetadata {\"usage\":{\"inputTokens\":1}}"), []byte{1, 'a', 7, 0, 1, 'b'})
	f.Add([]byte("contentBlockDelta {\"contentBlockIndex\":1,\"delta\":{\"reasoningContent\":{\"text\":\"a\",\"signature\":\"s\"}}}\ncontentBlockStop {\"contentBlockIndex\":1}\nmetadata {}"), []byte{0, 9})
	f.Add([]byte("messageStart {}\ncontentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"a\\ud83d\"}}\nmessageStop {}"), []byte{})
	f.Fuzz(func(t *testing.T, lines, headers []byte) {
		var body []byte
		for line := range bytes.SplitSeq(lines, []byte("\n")) {
			kind, payload, _ := strings.Cut(string(line), " ")
			body = append(body, event(t, kind[:min(len(kind), 100)], payload)...)
		}
		for _, in := range [][]byte{body, append(headed(headers), body...)} {
			events, err := drain(bytes.NewReader(in))
			if wrong := wiretest.CheckShape(events, err); wrong != nil && !errors.Is(wrong, wiretest.ErrInput) {
				t.Fatalf("%v\n%s", wrong, wiretest.Show(events, err))
			}
		}
	})
}

func FuzzRequest(f *testing.F) { wiretest.FuzzRequest(f, (&encoder{}).request) }
