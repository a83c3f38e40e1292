package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/wiretest"
)

const (
	created   = `{"type":"response.created","response":{"id":"r1","model":"m","status":"in_progress"}}`
	completed = `{"type":"response.completed","response":{"id":"r1","status":"completed","usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":3},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":13}}}`
	used      = "used in=9 read=3 write=0 out=4 reasoning=2 total=13\n"
)

// TestResponses_Items has every kind of item, and the ways in which servers send them.
func TestResponses_Items(t *testing.T) {
	for _, c := range []struct {
		name string
		data []string
		want string
	}{
		{"text", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m1","phase":"commentary"}}`,
			`{"type":"response.content_part.added","output_index":0,"item_id":"m1","content_index":0,"part":{"type":"output_text","text":""}}`,
			`{"type":"response.output_text.delta","output_index":0,"item_id":"m1","content_index":0,"delta":"He\ud83d"}`,
			`{"type":"response.output_text.delta","output_index":0,"item_id":"m1","content_index":0,"delta":"\ude00"}`,
			`{"type":"response.output_text.annotation.added","output_index":0,"annotation":{"type":"url_citation","url":"https://a","title":"A"}}`,
			`{"type":"response.output_text.done","output_index":0,"item_id":"m1","content_index":0,"text":"He😀"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m1","content":[{"type":"output_text","text":"He😀","annotations":[{"type":"url_citation","url":"https://a","title":"A"}]}]}}`,
			`{"type":"response.new.thing","delta":"x"}`,
		}, `
			text m1
			text m1 + "He😀"
			source https://a A
			text m1 end {"openai":{"itemId":"m1","phase":"commentary"}}
			` + used + `finish stop completed`},
		{"ids that change with each event", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"x1"}}`,
			`{"type":"response.output_text.delta","output_index":0,"item_id":"x2","content_index":0,"delta":"Hi"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"x3"}}`,
		}, `
			text x1
			text x1 + "Hi"
			text x1 end {"openai":{"itemId":"x3"}}
			` + used + `finish stop completed`},
		{"one index for all", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m1"}}`,
			`{"type":"response.output_text.delta","output_index":0,"item_id":"m1","content_index":0,"delta":"Hi"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m1"}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f1","call_id":"a","name":"f"}}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"f1","delta":"{}"}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f2","call_id":"b","name":"g"}}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"f2","delta":"{\"x\":1}"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f1","call_id":"a","name":"f","arguments":"{}"}}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f2","call_id":"b","name":"g","arguments":"{\"x\":1}"}}`,
		}, `
			text m1
			text m1 + "Hi"
			text m1 end {"openai":{"itemId":"m1"}}
			input a of f
			input a + "{}"
			input b of g
			input b + "{\"x\":1}"
			input a end
			call a f {} {"openai":{"itemId":"f1"}}
			input b end
			call b g {"x":1} {"openai":{"itemId":"f2"}}
			` + used + `finish tool-calls completed`},
		{"one index for all, only whole items", []string{
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m1","content":[{"type":"output_text","text":"Hi"}]}}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f1","call_id":"a","name":"f","arguments":"{}"}}`,
		}, `
			text m1
			text m1 + "Hi"
			text m1 end {"openai":{"itemId":"m1"}}
			input a of f
			input a + "{}"
			input a end
			call a f {} {"openai":{"itemId":"f1"}}
			` + used + `finish tool-calls completed`},
		{"no index", []string{
			`{"type":"response.output_item.added","item":{"type":"message","id":"m1"}}`,
			`{"type":"response.output_text.delta","item_id":"m1","delta":"Hi"}`,
			`{"type":"response.output_item.done","item":{"type":"message","id":"m1"}}`,
		}, `
			text m1
			text m1 + "Hi"
			text m1 end {"openai":{"itemId":"m1"}}
			` + used + `finish stop completed`},
		{"only pieces", []string{`{"type":"response.output_text.delta","item_id":"m1","output_index":0,"delta":"Hi"}`}, `
			text m1
			text m1 + "Hi"
			text m1 end {"openai":{"itemId":"m1"}}
			` + used + `finish stop completed`},
		{"no pieces", []string{
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"A"},{"type":"summary_text","text":"B"}],"encrypted_content":"enc"}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"m1","content":[{"type":"output_text","text":"Hi"}]}}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc","call_id":"a","name":"f","arguments":"{\"x\":1}"}}`,
		}, `
			reasoning rs:0 {"openai":{"itemId":"rs","reasoningEncryptedContent":"enc"}}
			reasoning rs:0 + "A"
			reasoning rs:0 end {"openai":{"itemId":"rs"}}
			reasoning rs:1 {"openai":{"itemId":"rs","reasoningEncryptedContent":"enc"}}
			reasoning rs:1 + "B"
			reasoning rs:1 end {"openai":{"itemId":"rs","reasoningEncryptedContent":"enc"}}
			text m1
			text m1 + "Hi"
			text m1 end {"openai":{"itemId":"m1"}}
			input a of f
			input a + "{\"x\":1}"
			input a end
			call a f {"x":1} {"openai":{"itemId":"fc"}}
			` + used + `finish tool-calls completed`},
		{"only done events", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m1"}}`,
			`{"type":"response.output_text.done","output_index":0,"item_id":"m1","text":"Hi"}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc","call_id":"a","name":"f"}}`,
			`{"type":"response.function_call_arguments.done","output_index":1,"item_id":"fc","arguments":"{}"}`,
		}, `
			text m1
			text m1 + "Hi"
			input a of f
			input a + "{}"
			text m1 end {"openai":{"itemId":"m1"}}
			input a end
			call a f {} {"openai":{"itemId":"fc"}}
			` + used + `finish tool-calls completed`},
		{"thoughts in parts", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","encrypted_content":"first","summary":[]}}`,
			`{"type":"response.reasoning_summary_part.added","output_index":0,"item_id":"rs","summary_index":0,"part":{"type":"summary_text","text":""}}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"item_id":"rs","summary_index":0,"delta":"A"}`,
			`{"type":"response.reasoning_summary_text.done","output_index":0,"item_id":"rs","summary_index":0,"text":"A"}`,
			`{"type":"response.reasoning_summary_part.added","output_index":0,"item_id":"rs","summary_index":1}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"item_id":"rs","summary_index":1,"delta":"B"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","encrypted_content":"last","summary":[{"type":"summary_text","text":"A"},{"type":"summary_text","text":"B"}]}}`,
		}, `
			reasoning rs:0 {"openai":{"itemId":"rs","reasoningEncryptedContent":"first"}}
			reasoning rs:0 + "A"
			reasoning rs:0 end {"openai":{"itemId":"rs"}}
			reasoning rs:1 {"openai":{"itemId":"rs","reasoningEncryptedContent":"first"}}
			reasoning rs:1 + "B"
			reasoning rs:1 end {"openai":{"itemId":"rs","reasoningEncryptedContent":"last"}}
			` + used + `finish stop completed`},
		{"thoughts themselves", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs"}}`,
			`{"type":"response.reasoning_text.delta","output_index":0,"item_id":"rs","content_index":0,"delta":"Hm"}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"item_id":"rs","summary_index":0,"delta":"S"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs"}}`,
		}, `
			reasoning rs:0 {"openai":{"itemId":"rs"}}
			reasoning rs:0 + "Hm"
			reasoning rs:0 end {"openai":{"itemId":"rs","reasoningText":true}}
			reasoning rs:1 {"openai":{"itemId":"rs"}}
			reasoning rs:1 + "S"
			reasoning rs:1 end {"openai":{"itemId":"rs"}}
			` + used + `finish stop completed`},
		{"calls", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc1","call_id":"a","name":"f","arguments":""}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc2","call_id":"","name":"g","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc1","delta":"{\"x\""}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc2","delta":"{\"y\":2}"}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc1","delta":":1}"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc1","call_id":"a","name":"f","arguments":"{\"x\":1}"}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc2","name":"g"}}`,
		}, `
			input a of f
			input made_1 of g
			input a + "{\"x\""
			input made_1 + "{\"y\":2}"
			input a + ":1}"
			input a end
			call a f {"x":1} {"openai":{"itemId":"fc1"}}
			input made_1 end
			call made_1 g {"y":2} {"openai":{"itemId":"fc2"}}
			` + used + `finish tool-calls completed`},
		{"what the provider runs", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"ws","status":"in_progress"}}`,
			`{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"code_interpreter_call","id":"ci","status":"in_progress"}}`,
			`{"type":"response.code_interpreter_call_code.delta","output_index":1,"item_id":"ci","delta":"1"}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"code_interpreter_call","id":"ci","status":"failed","code":"1"}}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"type":"image_generation_call","id":"ig","status":"completed","result":"QUJD"}}`,
			`{"type":"response.output_item.done","output_index":3,"item":{"type":"mcp_call","id":"mc","name":"t","arguments":"{\"a\":1}","output":"o"}}`,
			`{"type":"response.output_item.added","output_index":4,"item":{"type":"file_search_call","id":"fs"}}`,
			`{"type":"response.output_item.added","output_index":5,"item":{"type":"something_new","id":"sn"}}`,
		}, `
			input ws of web_search_call (executed)
			input ws end
			call ws web_search_call {"type":"search","query":"q"} (executed) {"openai":{"itemId":"ws","type":"web_search_call"},"providerExecuted":true}
			result ws web_search_call {"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}} failed=false {"openai":{"itemId":"ws","type":"web_search_call"},"providerExecuted":true}
			input ci of code_interpreter_call (executed)
			input ci end
			call ci code_interpreter_call {"code":"1"} (executed) {"openai":{"itemId":"ci","type":"code_interpreter_call"},"providerExecuted":true}
			result ci code_interpreter_call {"type":"code_interpreter_call","id":"ci","status":"failed","code":"1"} failed=true {"openai":{"itemId":"ci","type":"code_interpreter_call"},"providerExecuted":true}
			input ig of image_generation_call (executed)
			input ig end
			call ig image_generation_call {} (executed) {"openai":{"itemId":"ig","type":"image_generation_call"},"providerExecuted":true}
			result ig image_generation_call {"id":"ig","status":"completed","type":"image_generation_call"} failed=false {"openai":{"itemId":"ig","type":"image_generation_call"},"providerExecuted":true}
			input mc of mcp_call (executed)
			input mc end
			call mc mcp_call {"a":1} (executed) {"openai":{"itemId":"mc","type":"mcp_call"},"providerExecuted":true}
			result mc mcp_call {"type":"mcp_call","id":"mc","name":"t","arguments":"{\"a\":1}","output":"o"} failed=false {"openai":{"itemId":"mc","type":"mcp_call"},"providerExecuted":true}
			input fs of file_search_call (executed)
			input fs end
			call fs file_search_call {} (executed) {"openai":{"itemId":"fs","type":"file_search_call"},"providerExecuted":true}
			result fs file_search_call {} failed=false {"openai":{"itemId":"fs","type":"file_search_call"},"providerExecuted":true}
			` + used + `finish stop completed`},
		{"refusal", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m1"}}`,
			`{"type":"response.refusal.delta","output_index":0,"item_id":"m1","delta":"No."}`,
			`{"type":"response.refusal.done","output_index":0,"item_id":"m1","refusal":"No."}`,
		}, `
			text m1
			text m1 + "No."
			text m1 end {"openai":{"itemId":"m1"}}
			` + used + `finish content-filter completed`},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := append(append([]string{created}, c.data...), completed, "[DONE]")
			events, err := drain(responsesForTest(), strings.NewReader(sseBody(data...)))
			if shape := wiretest.CheckShape(events, err); shape != nil {
				t.Error(shape)
			}
			same(t, show(events, err), "start r1 m\n"+dedent(c.want))
		})
	}
}

// TestResponses_End has the ways in which a response ends.
func TestResponses_End(t *testing.T) {
	call := `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}}`
	called := "input a of f\ninput a + \"{}\"\ninput a end\ncall a f {}\n"
	for _, c := range []struct{ name, data, want string }{
		{"too long", `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`, called + "finish length max_output_tokens"},
		{"filtered", `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`, called + "finish content-filter content_filter"},
		{"incomplete without a reason", `{"type":"response.incomplete","response":{"status":"incomplete"}}`, called + "finish tool-calls incomplete"},
		{
			"billed", `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":-1,"output_tokens":4}},"copilot_usage":{"total_nano_aiu":7}}`,
			called + "used in=0 read=0 write=0 out=4 reasoning=0 total=0 billed=70\nfinish tool-calls completed",
		},
		{"nothing told", `{"type":"response.completed"}`, called + "finish tool-calls completed"},
		{"cut off", `{"type":"response.comp`, called + "error unavailable: the answer ended early"},
		{"[DONE] without an end", "[DONE]", called + "error unavailable: the answer ended early"},
		{"not JSON", "what}", called + "error unavailable: the provider sent invalid JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, show(drain(responsesForTest(), strings.NewReader(sseBody(created, call)+strings.TrimRight(sseBody(c.data), "\n")))), "start r1 m\n"+c.want)
		})
	}
	for _, c := range []struct {
		data string
		code lathe.Code
		want string
	}{
		{`{"type":"error","code":"server_error","message":"Oops","param":null,"sequence_number":3}`, lathe.Unavailable, "Oops"},
		{`{"type":"error","error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"Slow"}}`, lathe.Limited, "Slow"},
		{`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Long"}}}`, lathe.Overflow, "Long"},
		{`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_is_overloaded","message":"Busy"}}}`, lathe.Unavailable, "Busy"},
		{`{"error":{"message":"No money","code":"insufficient_quota"}}`, lathe.Unauthorized, "No money"},
	} {
		same(t, show(drain(responsesForTest(), strings.NewReader(sseBody(created, c.data)))), fmt.Sprintf("start r1 m\nerror %s: %s", c.code, c.want))
	}
}

// TestResponses_Whole has answers of servers that do not stream, or only pretend to.
func TestResponses_Whole(t *testing.T) {
	const output = `"id":"r1","model":"m","output":[{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"A"}]},{"type":"message","id":"m1","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":1,"output_tokens":2}`
	want := `
		start r1 m
		reasoning rs:0 {"openai":{"itemId":"rs"}}
		reasoning rs:0 + "A"
		reasoning rs:0 end {"openai":{"itemId":"rs"}}
		text m1
		text m1 + "Hi"
		text m1 end {"openai":{"itemId":"m1"}}
		used in=1 read=0 write=0 out=2 reasoning=0 total=0
		finish stop completed`
	for _, c := range []struct{ name, body, want string }{
		{"whole", `{"status":"completed",` + output + `}`, want},
		{"only the last event", sseBody(created, `{"type":"response.completed","response":{"status":"completed",`+output+`}}`), want},
		{"incomplete", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},` + output + `}`, strings.ReplaceAll(want, "stop completed", "length max_output_tokens")},
		{"failed", `{"id":"r1","status":"failed","error":{"code":"server_error","message":"Oops"},"output":[]}`, "error unavailable: Oops"},
		{"refused", `{"error":{"message":"Bad key","code":"invalid_api_key"}}`, "error unauthorized: Bad key"},
		{"running", `{"id":"r1","status":"in_progress","output":[]}`, "start r1\nerror unavailable: the answer ended early"},
		{"cut off", `{"id":"r1","status":"comp`, "error unavailable: the answer ended early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, show(drain(responsesForTest(), strings.NewReader(c.body))), c.want)
		})
	}
}
