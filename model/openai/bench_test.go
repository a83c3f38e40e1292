package openai

import (
	"context"
	"io"
	"testing"

	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

// streams are what servers send all day, with one delta each.
var streams = []struct {
	name    string
	decoder func() decoder
	head    []string
	delta   string
	tail    []string
}{
	{
		"chat-text", func() decoder { return chatForTest() },
		[]string{`{"id":"chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0","object":"chat.completion.chunk","created":1770933892,"model":"gpt-4.1-nano-2025-04-14","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}`},
		`{"id":"chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0","object":"chat.completion.chunk","created":1770933892,"model":"gpt-4.1-nano-2025-04-14","service_tier":"default","system_fingerprint":"fp_de604bd877","choices":[{"index":0,"delta":{"content":" Holiday"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"dTh"}`,
		[]string{`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"},
	},
	{
		"chat-reasoning", func() decoder { return chatForTest() },
		[]string{`{"choices":[{"delta":{"content":null,"role":"assistant","reasoning_content":""},"index":0,"logprobs":null,"finish_reason":null}],"object":"chat.completion.chunk","usage":null,"created":1770764942,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-3792851e"}`},
		`{"choices":[{"delta":{"content":null,"reasoning_content":" are asked:"},"finish_reason":null,"index":0,"logprobs":null}],"object":"chat.completion.chunk","usage":null,"created":1770764942,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-3792851e-8f1b-9182-a1dc-b84603c81344"}`,
		[]string{`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"},
	},
	{
		"chat-details", func() decoder { return chatForTest() },
		[]string{`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`},
		`{"id":"gen-1777319937-TnBGr8gcC8LZ7pmTzgP6","object":"chat.completion.chunk","created":1777319937,"model":"anthropic/claude-4.5-haiku-20251001","provider":"Amazon Bedrock","choices":[{"index":0,"delta":{"content":"","role":"assistant","reasoning":" some words","reasoning_details":[{"type":"reasoning.text","text":" some words","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null}]}`,
		[]string{`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"},
	},
	{
		"chat-arguments", func() decoder { return chatForTest() },
		[]string{`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write","arguments":"{\"text\":\""}}]},"finish_reason":null}]}`},
		`{"id":"chatcmpl-DuLdMEdkw5VsZSxKY3i9G934hT7LM","object":"chat.completion.chunk","created":1782321900,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_4fa7959453","usage":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"some \\\"words "}}]},"logprobs":null,"finish_reason":null}],"obfuscation":"m"}`,
		[]string{`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"finish_reason":"tool_calls"}]}`, "[DONE]"},
	},
	{
		"responses-text", func() decoder { return responsesForTest() },
		[]string{created, `{"type":"response.output_item.added","output_index":13,"item":{"type":"message","id":"msg_0cc9"}}`},
		`{"type":"response.output_text.delta","sequence_number":49,"item_id":"msg_0cc96ac817fdc57e006933374a84348198a4e1ac9bc0c4607b","output_index":13,"content_index":0,"delta":" tech headlines","logprobs":[],"obfuscation":"gTvm40hsM1QO1LC"}`,
		[]string{completed},
	},
	{
		"responses-reasoning", func() decoder { return responsesForTest() },
		[]string{created, `{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_0cc9"}}`},
		`{"type":"response.reasoning_summary_text.delta","sequence_number":4,"item_id":"rs_01830d662ab3856501693c321405c88190be3ab04d5782d5f9","output_index":0,"summary_index":0,"delta":"**Calcul","obfuscation":"2ajSAGID"}`,
		[]string{completed},
	},
	{
		"responses-arguments", func() decoder { return responsesForTest() },
		[]string{created, `{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_0cc9","call_id":"call_1","name":"write"}}`, `{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"text\":\""}`},
		`{"type":"response.function_call_arguments.delta","sequence_number":40,"item_id":"fc_01830d662ab3856501693c32151234819091cfca267e98cc5f","output_index":1,"delta":"some \\\"words ","obfuscation":"hKtg6o5cWUSdCa"}`,
		[]string{`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"\"}"}`, completed},
	},
}

// slow reads everything on the general path.
type slow struct{ decoder }

func (s slow) Decode(e sse.Event) ([]model.Event, error) {
	return s.decoder.(interface {
		general(name, data []byte) ([]model.Event, error)
	}).general(e.Name, e.Data)
}

// benched are the streams as the benchmarks of all protocols take them.
func benched() (out []wiretest.Stream) {
	for _, s := range streams {
		out = append(out, wiretest.Stream{
			Name: s.name, Head: []byte(sseBody(s.head...)), Delta: []byte(sseBody(s.delta)), Tail: []byte(sseBody(s.tail...)), Chars: 12,
			Read: func(general bool, body io.Reader, yield func(model.Event, error) bool) {
				d := s.decoder()
				if general {
					d = slow{d}
				}
				read(context.Background(), "test", body, d, yield)
			},
		})
	}
	return out
}

func BenchmarkDelta(b *testing.B) { wiretest.BenchStream(b, benched()) }

func BenchmarkWhole(b *testing.B) { wiretest.BenchWhole(b, benched()) }

func BenchmarkRequest(b *testing.B) {
	b.Run("chat", func(b *testing.B) {
		wiretest.BenchRequest(b, func() func(model.Request) []byte { return (&chatEncoder{}).request })
	})
	b.Run("responses", func(b *testing.B) {
		wiretest.BenchRequest(b, func() func(model.Request) []byte { return (&responsesEncoder{}).request })
	})
}
