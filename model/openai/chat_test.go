package openai

import (
	"strings"
	"testing"
)

// chunks makes a stream of chunks from what is in their delta, and ends it.
func chunks(finish string, deltas ...string) string {
	var data []string
	for _, d := range deltas {
		data = append(data, `{"id":"c1","model":"m","choices":[{"index":0,"delta":{`+d+`},"finish_reason":null}]}`)
	}
	if finish != "" {
		data = append(data, `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`)
	}
	return sseBody(append(data, "[DONE]")...)
}

// TestChat_Text has the ways in which servers send words and thoughts.
func TestChat_Text(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"text", chunks("stop", `"role":"assistant","content":""`, `"content":"Hel"`, `"content":"lo"`), `
			start c1 m
			text 0
			text 0 + "Hello"
			text 0 end
			finish stop stop`},
		{"reasoning_content", chunks("stop", `"content":null,"reasoning_content":"Hm"`, `"content":"","reasoning_content":"."`, `"content":"Yes","reasoning_content":null`), `
			start c1 m
			reasoning 0
			reasoning 0 + "Hm."
			reasoning 0 end {"openaiCompatible":{"reasoningField":"reasoning_content"}}
			text 1
			text 1 + "Yes"
			text 1 end
			finish stop stop`},
		{"the same thought under two names", chunks("stop", `"reasoning":"Hm","reasoning_content":"Hm"`, `"reasoning":".","reasoning_content":"."`), `
			start c1 m
			reasoning 0
			reasoning 0 + "Hm."
			reasoning 0 end {"openaiCompatible":{"reasoningField":"reasoning_content"}}
			finish stop stop`},
		{"reasoning_text", chunks("stop", `"reasoning_text":"Hm"`, `"reasoning_opaque":"xyz"`, `"content":"Yes"`), `
			start c1 m
			reasoning 0
			reasoning 0 + "Hm"
			reasoning 0 end {"copilot":{"reasoningOpaque":"xyz"}}
			text 1
			text 1 + "Yes"
			text 1 end
			finish stop stop`},
		{"thoughts between words", chunks("stop", `"reasoning":"a"`, `"content":"b"`, `"reasoning":"c"`, `"content":"d"`), `
			start c1 m
			reasoning 0
			reasoning 0 + "a"
			reasoning 0 end {"openaiCompatible":{"reasoningField":"reasoning"}}
			text 1
			text 1 + "b"
			text 1 end
			reasoning 2
			reasoning 2 + "c"
			reasoning 2 end {"openaiCompatible":{"reasoningField":"reasoning"}}
			text 3
			text 3 + "d"
			text 3 end
			finish stop stop`},
		{"think tags are text", chunks("stop", `"content":"<think>Hm</think>Yes"`), `
			start c1 m
			text 0
			text 0 + "<think>Hm</think>Yes"
			text 0 end
			finish stop stop`},
		{"content in parts", chunks("stop", `"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]`, `"content":[{"type":"text","text":"Y"},{"type":"text","text":"es"},{"type":"reference","reference_ids":[1]}]`), `
			start c1 m
			reasoning 0
			reasoning 0 + "Hm"
			reasoning 0 end
			text 1
			text 1 + "Yes"
			text 1 end
			finish stop stop`},
		{"refusal", chunks("stop", `"refusal":"I may "`, `"refusal":"not."`), `
			start c1 m
			text 0
			text 0 + "I may not."
			text 0 end
			finish content-filter stop`},
		{"audio and what is new", chunks("stop", `"audio":{"id":"a","data":"xx"},"images":[1],"content":"Hi"`), `
			start c1 m
			text 0
			text 0 + "Hi"
			text 0 end
			finish stop stop`},
		{"citations", chunks("stop", `"content":"Hi","annotations":[{"type":"url_citation","url_citation":{"url":"https://a","title":"A"}}]`,
			`"annotations":[{"type":"url_citation","url_citation":{"url":"https://a","title":"A"}},{"type":"url_citation","url":"https://b"}]`), `
			start c1 m
			text 0
			text 0 + "Hi"
			source https://a A
			source https://b
			text 0 end
			finish stop stop`},
		{"broken characters", chunks("stop", "\"content\":\"a\xffb \\ud83d\"", `"content":"\ude00 \udc00 \\ud83d"`, `"content":" \ud83d"`, `"content":""`), `
			start c1 m
			text 0
			text 0 + "a�b 😀 � \\ud83d �"
			text 0 end
			finish stop stop`},
		{"several choices", sseBody(`{"id":"c1","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"tool_calls"},{"index":1,"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
			`{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"), `
			start c1
			text 0
			text 0 + "Hi"
			text 0 end
			input a of f
			input a + "{}"
			input a end
			call a f {}
			finish tool-calls tool_calls`},
		{"the whole beside the deltas", sseBody(`{"id":"c1","choices":[{"delta":{"content":"a"},"message":{"content":"a"}}]}`,
			`{"id":"c1","choices":[{"delta":{"content":"b"},"message":{"content":"ab"},"finish_reason":"stop"}]}`, `{"id":"c1","choices":[{"message":{"content":"ab"}}]}`), `
			start c1
			text 0
			text 0 + "ab"
			text 0 end
			finish stop stop`},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, show(drain(chatForTest(), strings.NewReader(c.body))), c.want)
		})
	}
}

// TestChat_Details has what OpenRouter wants to get back.
func TestChat_Details(t *testing.T) {
	body := chunks("tool_calls",
		`"reasoning":"Let ","reasoning_details":[{"type":"reasoning.text","text":"Let ","format":"anthropic-claude-v1","index":0}]`,
		`"reasoning":"me","reasoning_details":[{"type":"reasoning.text","text":"me","format":"anthropic-claude-v1","index":0}]`,
		`"reasoning_details":[{"type":"reasoning.text","signature":"sig","format":"anthropic-claude-v1","index":0}]`,
		`"reasoning_details":[{"type":"reasoning.text","text":"","signature":null,"index":0}]`,
		`"content":"Hi"`,
		`"reasoning_details":[{"type":"reasoning.summary","summary":"Su"}]`,
		`"reasoning_details":[{"type":"reasoning.summary","summary":"m"},{"type":"reasoning.encrypted","data":"xx","id":"r1","index":1}],"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`,
		`"reasoning_details":[{"type":"reasoning.encrypted","data":"yy","id":"r2"}]`)
	same(t, show(drain(chatForTest(), strings.NewReader(body))), `
		start c1 m
		reasoning 0
		reasoning 0 + "Let me"
		reasoning 0 end {"openrouter":{"reasoning_details":[{"type":"reasoning.text","text":"Let me","signature":"sig","format":"anthropic-claude-v1","index":0}]}}
		text 1
		text 1 + "Hi"
		text 1 end
		reasoning 2
		reasoning 2 + "Sum"
		reasoning 2 end {"openrouter":{"reasoning_details":[{"type":"reasoning.summary","summary":"Sum"},{"type":"reasoning.encrypted","data":"xx","id":"r1","index":1}]}}
		input a of f
		input a + "{}"
		reasoning 3
		reasoning 3 end {"openrouter":{"reasoning_details":[{"type":"reasoning.encrypted","data":"yy","id":"r2"}]}}
		input a end
		call a f {}
		finish tool-calls tool_calls`)
}

// TestChat_Calls has the ways in which servers send calls.
func TestChat_Calls(t *testing.T) {
	one := `
		start c1 m
		input a of f
		input a + "{\"x\":1}"
		input a end
		call a f {"x":1}
		finish tool-calls tool_calls`
	two := `
		start c1 m
		input a of f
		input a + "{\"x\":1}"
		input a end
		call a f {"x":1}
		input b of g
		input b + "{\"y\":2}"
		input b end
		call b g {"y":2}
		finish tool-calls tool_calls`
	made := strings.NewReplacer(" a ", " made_1 ", " b ", " made_2 ")
	for _, c := range []struct{ name, body, want string }{
		{"whole", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]`), one},
		{"arguments as an object", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}]`), one},
		{"byte by byte", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]`,
			`"tool_calls":[{"index":0,"function":{"arguments":"{"}}]`, `"tool_calls":[{"index":0,"function":{"arguments":"\""}}]`, `"tool_calls":[{"index":0,"function":{"arguments":"x"}}]`,
			`"tool_calls":[{"index":0,"function":{"arguments":"\":"}}]`, `"tool_calls":[{"index":0,"function":{"arguments":"1"}}]`, `"tool_calls":[{"index":0,"function":{"arguments":"}"}}]`), one},
		{"without index", chunks("tool_calls", `"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\""}}]`, `"tool_calls":[{"function":{"arguments":":1}"}}]`), one},
		{"without index, two in one", chunks("tool_calls", `"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]`), two},
		{"without index, one after the other", chunks("tool_calls", `"tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]`, `"tool_calls":[{"id":"a","function":{"arguments":"{\"x\":1}"}}]`,
			`"tool_calls":[{"id":"b","function":{"name":"g","arguments":""}}]`, `"tool_calls":[{"id":"b","function":{"arguments":"{\"y\":2}"}}]`), two},
		{"without ids", chunks("tool_calls", `"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}]`, `"tool_calls":[{"index":1,"function":{"name":"g","arguments":"{\"y\":2}"}}]`), made.Replace(two)},
		{"without ids and index", chunks("tool_calls", `"tool_calls":[{"function":{"name":"f","arguments":"{\"x\":1}"}}]`, `"tool_calls":[{"function":{"name":"g","arguments":"{\"y\":2}"}}]`), made.Replace(two)},
		{"all with index 0", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]`, `"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]`), two},
		{"all with index 0 and no ids", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"{\"x\":1}"}}]`, `"tool_calls":[{"index":0,"id":"","function":{"name":"g","arguments":"{\"y\":2}"}}]`), made.Replace(two)},
		{"id repeated", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]`, `"tool_calls":[{"index":0,"id":"a","function":{"name":null,"arguments":":1}"}}]`), one},
		{"id and name repeated", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]`, `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]`,
			`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]`, `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]`), one},
		{"another id with each piece", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]`, `"tool_calls":[{"index":0,"id":"zz","function":{"arguments":":1}"}}]`), one},
		{"the same id for two", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]`, `"tool_calls":[{"index":1,"id":"a","function":{"name":"g","arguments":"{\"y\":2}"}}]`), strings.ReplaceAll(two, " b ", " made_1 ")},
		{"id comes late", chunks("tool_calls", `"tool_calls":[{"index":0,"function":{"name":"f"}}]`, `"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{\"x\":1}"}}]`), one},
		{"id comes too late", chunks("tool_calls", `"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\""}}]`, `"tool_calls":[{"index":0,"id":"zz","function":{"arguments":":1}"}}]`), made.Replace(one)},
		{"name in pieces", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"get_"}}]`, `"tool_calls":[{"index":0,"function":{"name":"weather"}}]`, `"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]`), strings.ReplaceAll(one, " f", " get_weather")},
		{"the whole once more", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]`, `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]`), one},
		{"an empty object first", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`, `"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]`), `
			start c1 m
			input a of f
			input a + "{}{\"x\":1}"
			input a end
			call a f {"x":1}
			finish tool-calls tool_calls`},
		{"in turns", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":""}}]`,
			`"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]`, `"tool_calls":[{"index":1,"function":{"arguments":"{\"y\""}}]`, `"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]`, `"tool_calls":[{"index":1,"function":{"arguments":":2}"}}]`), `
			start c1 m
			input a of f
			input a + "{\"x\""
			input b of g
			input b + "{\"y\""
			input a + ":1}"
			input b + ":2}"
			input a end
			call a f {"x":1}
			input b end
			call b g {"y":2}
			finish tool-calls tool_calls`},
		{"no arguments", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]`, `"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"  "}}]`), `
			start c1 m
			input b of g
			input b + "  "
			input a of f
			input a end
			call a f {}
			input b end
			call b g {}
			finish tool-calls tool_calls`},
		{"an empty entry", chunks("stop", `"content":"Hi"`, `"tool_calls":[{"index":0,"function":{}}]`), `
			start c1 m
			text 0
			text 0 + "Hi"
			text 0 end
			finish stop stop`},
		{"the old form", chunks("function_call", `"function_call":{"name":"f","arguments":""}`, `"function_call":{"arguments":"{\"x\""}`, `"function_call":{"arguments":":1}"}`), strings.ReplaceAll(made.Replace(one), "tool_calls", "function_call")},
		{"stop with calls", chunks("stop", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]`), strings.ReplaceAll(one, "tool-calls tool_calls", "stop stop")},
		{"what is no JSON", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"x = "}}]`, `"tool_calls":[{"index":0,"function":{"arguments":"1"}}]`), `
			start c1 m
			input a of f
			input a + "x = 1"
			input a end
			call a f x = 1
			finish tool-calls tool_calls`},
		{"a signature with the call", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"sig"}}}]`), `
			start c1 m
			input a of f
			input a + "{}"
			input a end
			call a f {} {"openai":{"extraContent":{"google":{"thought_signature":"sig"}}}}
			finish tool-calls tool_calls`},
		{"odd types", chunks("tool_calls", `"tool_calls":[{"index":"0","id":7,"function":{"name":"f","arguments":"{\"x\":"}}]`, `"tool_calls":[{"index":0.0,"id":null,"function":{"arguments":"1}"}}]`), made.Replace(one)},
		{"a pair of surrogates in two pieces", chunks("tool_calls", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\"\ud83d"}}]`, `"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]`), `
			start c1 m
			input a of f
			input a + "{\"x\":\"😀\"}"
			input a end
			call a f {"x":"😀"}
			finish tool-calls tool_calls`},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, show(drain(chatForTest(), strings.NewReader(c.body))), c.want)
		})
	}
}
