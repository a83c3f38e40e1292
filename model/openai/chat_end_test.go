package openai

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// TestChat_Usage has the places in which servers say what was used.
func TestChat_Usage(t *testing.T) {
	const say = `{"id":"c1","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]`
	for _, c := range []struct{ name, body, want string }{
		{"nowhere", sseBody(say+`}`, "[DONE]"), ``},
		{"null", sseBody(say+`,"usage":null}`, "[DONE]"), ``},
		{"in the last chunk", sseBody(say+`,"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`, "[DONE]"), `used in=9 read=0 write=0 out=4 reasoning=0 total=13`},
		{
			"without choices", sseBody(say+`}`, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":2}}}`, "[DONE]"),
			`used in=9 read=3 write=0 out=4 reasoning=2 total=13`,
		},
		{"without choices at all", sseBody(say+`}`, `{"usage":{"prompt_tokens":9,"completion_tokens":4}}`, "[DONE]"), `used in=9 read=0 write=0 out=4 reasoning=0 total=0`},
		{"in every chunk", sseBody(`{"id":"c1","choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, `{"id":"c1","choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`,
			`{"id":"c1","choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`), `
			used in=9 read=0 write=0 out=1 reasoning=0 total=0
			used in=9 read=0 write=0 out=2 reasoning=0 total=0`},
		{"zeros at the end", sseBody(say+`,"usage":{"prompt_tokens":9,"completion_tokens":4}}`, `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`), `used in=9 read=0 write=0 out=4 reasoning=0 total=0`},
		{"x_groq", sseBody(say+`,"x_groq":{"id":"r","usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}}`, "[DONE]"), `used in=9 read=0 write=0 out=4 reasoning=0 total=13`},
		{"in the choice", sseBody(`{"id":"c1","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":4,"cached_tokens":5}}]}`, "[DONE]"), `used in=9 read=5 write=0 out=4 reasoning=0 total=0`},
		{"DeepSeek", sseBody(say + `,"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":3}}`), `used in=9 read=6 write=0 out=4 reasoning=0 total=0`},
		{"cache writes", sseBody(say + `,"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2,"cache_write_tokens":3}}}`), `used in=9 read=2 write=3 out=4 reasoning=0 total=0`},
		{"cache beside the input", sseBody(say + `,"usage":{"prompt_tokens":9,"completion_tokens":4,"cache_read_input_tokens":100,"cache_creation_input_tokens":50}}`), `used in=159 read=100 write=50 out=4 reasoning=0 total=0`},
		{"reasoning beside the output", sseBody(say + `,"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":20,"completion_tokens_details":{"reasoning_tokens":7}}}`), `used in=9 read=0 write=0 out=11 reasoning=7 total=20`},
		{"negative, fractional, absurd", sseBody(say + `,"usage":{"prompt_tokens":-9,"completion_tokens":4.0,"total_tokens":"13","prompt_tokens_details":{"cached_tokens":1e300}}}`), `used in=0 read=0 write=0 out=4 reasoning=0 total=13`},
		{"not an object", sseBody(say + `,"usage":"much"}`), `used in=0 read=0 write=0 out=0 reasoning=0 total=0`},
		{"a cost nobody asked for", sseBody(say + `,"usage":{"prompt_tokens":9,"completion_tokens":4,"cost":0.5}}`), `used in=9 read=0 write=0 out=4 reasoning=0 total=0`},
		{"what GitHub bills", sseBody(say + `,"usage":{"prompt_tokens":9,"completion_tokens":4},"copilot_usage":{"total_nano_aiu":1234}}`), `used in=9 read=0 write=0 out=4 reasoning=0 total=0 billed=12340`},
	} {
		t.Run(c.name, func(t *testing.T) {
			events, err := drain(chatForTest(), strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			var used []model.Event
			for _, e := range events {
				if _, ok := e.(model.UsageUpdate); ok {
					used = append(used, e)
				}
			}
			same(t, show(used, nil), c.want)
		})
	}
	t.Run("a cost that counts", func(t *testing.T) {
		d := chatForTest()
		d.costs = true
		got := show(drain(d, strings.NewReader(sseBody(say+`,"usage":{"prompt_tokens":9,"completion_tokens":4,"cost":0.000847}}`))))
		if !strings.Contains(got, "billed=847000000\n") {
			t.Error(got)
		}
	})
}

// TestChat_Finish has every word for the end.
func TestChat_Finish(t *testing.T) {
	for word, want := range map[string]string{
		"stop": "stop", "eos": "stop", "STOP": "stop", "end_turn": "stop", "length": "length", "max_tokens": "length", "model_length": "length",
		"tool_calls": "tool-calls", "function_call": "tool-calls", "content_filter": "content-filter", "SAFETY": "content-filter",
		"error": "error", "something": "unknown",
	} {
		got := show(drain(chatForTest(), strings.NewReader(chunks(word, `"content":"Hi"`))))
		if !strings.HasSuffix(got, "\nfinish "+want+" "+word+"\n") {
			t.Errorf("%s: %s", word, got)
		}
	}
}

func TestChat_End(t *testing.T) {
	const incomplete = "error unavailable: the answer ended early"
	words := "start c1 m\ntext 0\ntext 0 + \"Hi\"\n"
	const (
		hi    = `{"id":"c1","model":"m","choices":[{"delta":{"content":"Hi"}}]}`
		sum   = `{"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}`
		total = "used in=9 read=0 write=0 out=4 reasoning=0 total=0\n"
	)
	for _, c := range []struct{ name, body, want string }{
		{"no reason until the end", chunks("", `"content":"Hi"`), words + "text 0 end\nfinish unknown"},
		{"no [DONE]", strings.ReplaceAll(chunks("stop", `"content":"Hi"`), "data: [DONE]\n\n", ""), words + "text 0 end\nfinish stop stop"},
		{"half of [DONE]", strings.ReplaceAll(chunks("stop", `"content":"Hi"`), "[DONE]\n\n", "[DO"), words + "text 0 end\nfinish stop stop"},
		{"neither", strings.ReplaceAll(chunks("", `"content":"Hi"`), "data: [DONE]\n\n", ""), words + incomplete},
		{"neither, but what was used at the end", sseBody(hi, sum), words + total + "text 0 end\nfinish unknown"},
		{"what was used all along", sseBody(`{"id":"c1","model":"m","choices":[{"delta":{"content":"Hi"}}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`, sum), "start c1 m\ntext 0\ntext 0 + \"Hi\"\nused in=9 read=0 write=0 out=3 reasoning=0 total=0\n" + total + incomplete},
		{"what was used, and more behind it", sseBody(hi, sum, `{"id":"c1","choices":[{"delta":{"content":"!"}}]}`), words + total + "text 0 + \"!\"\n" + incomplete},
		{"what was used, with a call open", sseBody(hi, `{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}]}}]}`, sum), words + "text 0 end\ninput a of f\ninput a + \"{\\\"x\"\n" + total + incomplete},
		{"what was used, and nothing said", sseBody(`{"id":"c1","model":"m","choices":[{"delta":{}}]}`, sum), "start c1 m\n" + total + incomplete},
		{"what was used, then garbage", sseBody(hi, sum, "what}"), words + total + "error unavailable: the provider sent invalid JSON"},
		{"half a chunk", strings.ReplaceAll(chunks("", `"content":"Hi"`), "data: [DONE]\n\n", `data: {"id":"c1","choices":[{"del`), words + incomplete},
		{"nothing", "", incomplete},
		{"only [DONE]", sseBody("[DONE]"), incomplete},
		{"only comments", ": OPENROUTER PROCESSING\n\n", incomplete},
		{"words after the end", chunks("stop", `"content":"Hi"`) + sseBody(`{"id":"x","choices":[{"delta":{"content":"more"}}]}`), words + "text 0 end\nfinish stop stop"},
		{"a reason in every chunk", sseBody(`{"id":"c1","model":"m","choices":[{"delta":{"content":"H"},"finish_reason":"stop"}]}`, `{"id":"c1","choices":[{"delta":{"content":"i"},"finish_reason":"stop"}]}`, "[DONE]"), words + "text 0 end\nfinish stop stop"},
		{"an empty reason", sseBody(`{"id":"c1","model":"m","choices":[{"delta":{"content":"Hi"},"finish_reason":""}]}`, "[DONE]"), words + "text 0 end\nfinish unknown"},
		{"a filter's chunk first", sseBody(`{"id":"","model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}`, `{"id":"c1","model":"m","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop","content_filter_results":{"hate":{"filtered":false}}}]}`), words + "text 0 end\nfinish stop stop"},
		{"empty data", sseBody("", " ") + chunks("stop", `"content":"Hi"`), words + "text 0 end\nfinish stop stop"},
		{"not JSON", sseBody(`{"id":"c1","model":"m","choices":[{"delta":{"content":"Hi"}}]}`, "what}", "[DONE]"), words + "error unavailable: the provider sent invalid JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, show(drain(chatForTest(), strings.NewReader(c.body))), c.want)
		})
	}
	t.Run("broken after the reason", func(t *testing.T) {
		body := strings.ReplaceAll(chunks("stop", `"content":"Hi"`), "data: [DONE]\n\n", "")
		same(t, show(drain(chatForTest(), iotest.TimeoutReader(iotest.DataErrReader(strings.NewReader(body))))), words+"text 0 end\nfinish stop stop")
	})
}

// TestChat_Whole has answers of servers that do not stream.
func TestChat_Whole(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"text", "\n {\"id\":\"c1\",\"model\":\"m\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hi\",\"reasoning_content\":\"Hm\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"total_tokens\":13}}\n", `
			start c1 m
			reasoning 0
			reasoning 0 + "Hm"
			reasoning 0 end {"openaiCompatible":{"reasoningField":"reasoning_content"}}
			text 1
			text 1 + "Hi"
			used in=9 read=0 write=0 out=4 reasoning=0 total=13
			text 1 end
			finish stop stop`},
		{"calls", `{"id":"c1","choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":""}}]},"finish_reason":"tool_calls"}]}`, `
			start c1
			input a of f
			input a + "{}"
			input a end
			call a f {}
			input b of g
			input b end
			call b g {}
			finish tool-calls tool_calls`},
		{"an error", `{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}`, `error invalid: no such model`},
		{"an error in a list", `[{"error":{"code":429,"message":"Too fast","status":"RESOURCE_EXHAUSTED"}}]`, `error limited: Too fast`},
		{"something else", `{"status":"ok"}`, `error invalid: the provider failed without a reason`},
		{"cut off", `{"id":"c1","choices":[{"message":{"content":"Hi`, `error unavailable: the answer ended early`},
		{"a page", "<!DOCTYPE html><html>sign in</html>", `error invalid: the provider sent a web page instead of an answer; check its base URL`},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, show(drain(chatForTest(), strings.NewReader(c.body))), c.want)
		})
	}
}

// TestChat_Failures has errors inside a stream that began well.
func TestChat_Failures(t *testing.T) {
	for _, c := range []struct {
		data string
		code lathe.Code
		want string
	}{
		{`{"error":{"message":"Overloaded","type":"server_error","code":null}}`, lathe.Unavailable, "Overloaded"},
		{`{"error":{"message":"Rate limit exceeded","code":429}}`, lathe.Limited, "Rate limit exceeded"},
		{`{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream died","provider_name":"X"}}}`, lathe.Unavailable, "Provider returned error: upstream died"},
		{`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}"}}}`, lathe.Overflow, "Provider returned error: too long"},
		{`{"error":"model runner has unexpectedly stopped: internal error"}`, lathe.Unavailable, "model runner has unexpectedly stopped: internal error"},
		{`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"No money"}}`, lathe.Unauthorized, "No money"},
		{`{"type":"error","code":"context_length_exceeded","message":"Too long"}`, lathe.Overflow, "Too long"},
		{`{"type":"error","message":"{\"type\":\"error\",\"error\":{\"code\":\"server_is_overloaded\",\"message\":\"Busy\"}}"}`, lathe.Unavailable, "Busy"},
		{`{"error":{"message":"{\"error\":{\"message\":\"prompt is too long\",\"type\":\"invalid_request_error\"}}","type":"proxy"}}`, lathe.Overflow, "prompt is too long"},
		{`{"object":"error","message":"This model's maximum context length is 4096 tokens","type":"BadRequestError","code":400}`, lathe.Overflow, "This model's maximum context length is 4096 tokens"},
		{`{"detail":"Not authenticated"}`, lathe.Invalid, "Not authenticated"},
		{`{"code":"InvalidParameter","message":"bad","request_id":"r"}`, lathe.Invalid, "bad"},
		{`{"id":"c1","choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":503,"message":"Gone"}}]}`, lathe.Unavailable, "Gone"},
		{`{"id":"c1","choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}`, lathe.Unavailable, "the provider ran out of resources in the middle of its answer"},
		{`{"error":{"message":"flagged","code":"content_filter"}}`, lathe.Refused, "flagged"},
	} {
		body := sseBody(`{"id":"c1","model":"m","choices":[{"delta":{"content":"Hi"}}]}`, c.data, "[DONE]")
		want := fmt.Sprintf("start c1 m\ntext 0\ntext 0 + \"Hi\"\nerror %s: %s", c.code, c.want)
		same(t, show(drain(chatForTest(), strings.NewReader(body))), want)
	}
	body := "event: error\ndata: {\"message\":\"Slow down\",\"status\":\"rate_limit\"}\n\n"
	same(t, show(drain(chatForTest(), strings.NewReader(body))), "error limited: Slow down")
	for _, harmless := range []string{`"error":null`, `"error":""`, `"error":{}`} {
		body := sseBody(`{"id":"c1","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}],` + harmless + `}`)
		if _, err := drain(chatForTest(), strings.NewReader(body)); err != nil {
			t.Errorf("%s: %v", harmless, err)
		}
	}
}
