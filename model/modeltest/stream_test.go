package modeltest_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/model/modeltest"
)

type words map[modeltest.Protocol]string

// full says everything a script can say at once.
const full = `
reasoning "let me " "see" signature="c2ln"
text "Push" "ing. " "\"quoted\" <b> 😀\n"
executed web_search {"query":"go"} https://go.dev "Go"
text "Now."
source https://a.example "A"
call bash pieces=4 {"command":"git push"}
and read {"path":"a.go"}
usage 100 20 cache-read=30 cache-write=10 reasoning=5
finish tool-calls
`

// One script means the same on each wire, as far as it can say it.
func TestStream_OneScriptEveryWire(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		t.Run(string(p), func(t *testing.T) {
			s := modeltest.Start(t, modeltest.MustParse(full))
			path, body := asked(p, true)
			resp := post(t, s, path, body)
			form := "text/event-stream; charset=utf-8"
			if p == modeltest.Bedrock {
				form = "application/vnd.amazon.eventstream"
			}
			if got := resp.Header.Get("Content-Type"); got != form {
				t.Errorf("Content-Type is %q", got)
			}
			want := decoded{
				Text: "Pushing. \"quoted\" <b> 😀\nNow.", Reasoning: "let me see", Signature: "c2ln",
				Calls: []decodedCall{
					{ID: "call_1_2", Name: "bash", Args: `{"command":"git push"}`},
					{ID: "call_1_3", Name: "read", Args: `{"path":"a.go"}`},
				},
				Executed: []string{"web_search"}, Sources: []string{"https://go.dev", "https://a.example"},
				Usage: modeltest.Usage{Input: 100, CacheRead: 30, CacheWrite: 10, Output: 20, Reasoning: 5},
				Finish: words{
					modeltest.Anthropic: "tool_use", modeltest.Chat: "tool_calls", modeltest.Responses: "completed", modeltest.Gemini: "STOP", modeltest.Bedrock: "tool_use",
				}[p],
				Ended: true,
			}
			switch p { // what the wire does not tell
			case modeltest.Anthropic:
				want.Usage.Reasoning = 0
			case modeltest.Chat:
				want.Signature, want.Executed = "", nil
			case modeltest.Responses:
				want.Usage.CacheWrite = 0
			case modeltest.Gemini:
				want.Usage.CacheWrite, want.Executed = 0, nil
			case modeltest.Bedrock:
				want.Usage.Reasoning, want.Executed, want.Sources = 0, nil, want.Sources[1:]
			}
			if diff := cmp.Diff(want, listen(t, p, resp.Body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStream_Defaults(t *testing.T) {
	small := modeltest.Usage{Input: 10, Output: 5}
	for _, p := range modeltest.Protocols() {
		t.Run(string(p), func(t *testing.T) {
			s := modeltest.Start(t, modeltest.MustParse("text \"a\"\n--\ncall x\n--\n\n"))
			s.Add(modeltest.Answer{})
			stop := words{modeltest.Bedrock: "end_turn", modeltest.Anthropic: "end_turn", modeltest.Chat: "stop", modeltest.Responses: "completed", modeltest.Gemini: "STOP"}[p]
			calls := words{modeltest.Bedrock: "tool_use", modeltest.Anthropic: "tool_use", modeltest.Chat: "tool_calls", modeltest.Responses: "completed", modeltest.Gemini: "STOP"}[p]
			path, body := asked(p, true)
			for i, want := range []decoded{
				{Text: "a", Usage: small, Finish: stop, Ended: true},
				{Calls: []decodedCall{{ID: "call_2_1", Name: "x", Args: "{}"}}, Usage: small, Finish: calls, Ended: true},
				{Usage: small, Finish: stop, Ended: true},
			} {
				if diff := cmp.Diff(want, listen(t, p, post(t, s, path, body).Body)); diff != "" {
					t.Errorf("answer %d: %s", i+1, diff)
				}
			}
		})
	}
}

func TestStream_FinishReasons(t *testing.T) {
	reasons := map[string]words{
		"stop":           {modeltest.Bedrock: "end_turn", modeltest.Anthropic: "end_turn", modeltest.Chat: "stop", modeltest.Responses: "completed", modeltest.Gemini: "STOP"},
		"length":         {modeltest.Bedrock: "max_tokens", modeltest.Anthropic: "max_tokens", modeltest.Chat: "length", modeltest.Responses: "max_output_tokens", modeltest.Gemini: "MAX_TOKENS"},
		"tool-calls":     {modeltest.Bedrock: "tool_use", modeltest.Anthropic: "tool_use", modeltest.Chat: "tool_calls", modeltest.Responses: "completed", modeltest.Gemini: "STOP"},
		"content-filter": {modeltest.Bedrock: "content_filtered", modeltest.Anthropic: "refusal", modeltest.Chat: "content_filter", modeltest.Responses: "content_filter", modeltest.Gemini: "SAFETY"},
		"pause_turn":     {modeltest.Bedrock: "pause_turn", modeltest.Anthropic: "pause_turn", modeltest.Chat: "pause_turn", modeltest.Responses: "pause_turn", modeltest.Gemini: "pause_turn"},
	}
	for reason, want := range reasons {
		for _, p := range modeltest.Protocols() {
			s := modeltest.Start(t, modeltest.Script{{modeltest.Finish(reason)}, {modeltest.Finish(reason)}})
			path, body := asked(p, true)
			if got := listen(t, p, post(t, s, path, body).Body).Finish; got != want[p] {
				t.Errorf("%s on %s is %q, want %q", reason, p, got, want[p])
			}
			path, body = asked(p, false)
			if got := readWhole(t, p, post(t, s, path, body)).Finish; got != want[p] {
				t.Errorf("%s on %s without a stream is %q, want %q", reason, p, got, want[p])
			}
		}
	}
}

func TestStream_UsageOnlyIfAskedFor(t *testing.T) {
	script := modeltest.MustParse("text \"a\"\n--\nusage none\n")
	s := modeltest.Start(t, script)
	got := listen(t, modeltest.Chat, post(t, s, "/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`).Body)
	if got.Usage != (modeltest.Usage{}) || !got.Ended {
		t.Errorf("nobody asked for the usage: %+v", got)
	}
	path, body := asked(modeltest.Chat, true)
	if got := listen(t, modeltest.Chat, post(t, s, path, body).Body); got.Usage != (modeltest.Usage{}) || !got.Ended {
		t.Errorf("the script says none: %+v", got)
	}
}

func TestStream_EncryptedOnlyIfAskedFor(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse(`reasoning signature="c2ln"`))
	got := listen(t, modeltest.Responses, post(t, s, "/v1/responses", `{"model":"m","stream":true,"input":"hi"}`).Body)
	if got.Signature != "" || !got.Ended {
		t.Errorf("%+v", got)
	}
}

// Hidden reasoning has a signature and no words.
func TestStream_HiddenReasoning(t *testing.T) {
	for _, p := range []modeltest.Protocol{modeltest.Anthropic, modeltest.Responses, modeltest.Gemini} {
		s := modeltest.Start(t, modeltest.MustParse(`reasoning signature="c2ln"`))
		path, body := asked(p, true)
		if got := listen(t, p, post(t, s, path, body).Body); got.Signature != "c2ln" || got.Reasoning != "" || got.Text != "" {
			t.Errorf("%s: %+v", p, got)
		}
	}
}

// Arguments that are no object: Gemini cannot say them and says that it cannot.
func TestStream_WrongArguments(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		s := modeltest.Start(t, modeltest.MustParse(`call bash pieces=3 "{\"command\":"`))
		path, body := asked(p, true)
		got := listen(t, p, post(t, s, path, body).Body)
		if p == modeltest.Gemini {
			if got.Finish != "MALFORMED_FUNCTION_CALL" || got.Calls != nil {
				t.Errorf("%+v", got)
			}
			continue
		}
		if diff := cmp.Diff([]decodedCall{{ID: "call_1_1", Name: "bash", Args: `{"command":`}}, got.Calls); diff != "" {
			t.Errorf("%s: %s", p, diff)
		}
	}
}

// A pair of surrogates split over two deltas goes out as two escapes, bytes as bytes.
func TestStream_BrokenText(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		s := modeltest.Start(t, modeltest.MustParse(`text "\xed\xa0\xbd" "\xed\xb8\x80" "\xff"`))
		path, body := asked(p, true)
		all, err := io.ReadAll(post(t, s, path, body).Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"\ud83d"`, `"\ude00"`, "\"\xff\""} {
			if !contains(all, want) {
				t.Errorf("%s lacks %q", p, want)
			}
		}
	}
}

// Without alt=sse Gemini streams an array.
func TestStream_GeminiArray(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("text \"a\" \"b\"\n--\nerror overloaded_error \"x\"\n"))
	for _, want := range []string{"ab", ""} {
		resp := post(t, s, "/v1beta/models/m:streamGenerateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`)
		var h decoded
		for _, chunk := range readJSON(t, resp).each() {
			h.gemini(chunk)
		}
		if h.Text != want || h.Ended != (want != "") || (h.Error == "") == (want == "") {
			t.Errorf("%+v", h)
		}
		if got := resp.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type is %q", got)
		}
	}
}

func TestServer_UnknownPath(t *testing.T) {
	s := modeltest.Start(t, nil)
	resp := post(t, s, "/v1/other", `{}`)
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", resp.StatusCode)
	}
	if got := s.Last().Problem; got != "POST /v1/other not found" {
		t.Errorf("Problem = %q", got)
	}
	resp, err := get(t.Context(), s.Client, s.URL+"/v1/messages")
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d, %v", resp.StatusCode, err)
	}
}
