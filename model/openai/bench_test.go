package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
)

// benchDeltas is how many deltas a stream of the benchmarks has.
const benchDeltas = 2000

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

func (s slow) event(name, data []byte) ([]model.Event, error) {
	return s.decoder.(interface {
		general(name, data []byte) ([]model.Event, error)
	}).general(name, data)
}

// BenchmarkDelta measures a delta from the bytes of the socket to the event; "floor" only
// takes the stream apart.
func BenchmarkDelta(b *testing.B) {
	for _, s := range streams {
		var body bytes.Buffer
		body.WriteString(sseBody(s.head...))
		for range benchDeltas {
			body.WriteString(sseBody(s.delta))
		}
		body.WriteString(sseBody(s.tail...))
		run := func(name string, once func() int) {
			b.Run(s.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for n := 0; n < b.N; n += benchDeltas { // each round is many deltas, which are counted
					if once() < benchDeltas {
						b.Fatal("deltas are missing")
					}
				}
			})
		}
		run("floor", func() (n int) {
			for r := sse.NewReader(bytes.NewReader(body.Bytes())); ; n++ {
				if _, err := r.Next(); err != nil {
					return n
				}
			}
		})
		count := func(d decoder) (n int) {
			read(context.Background(), "test", bytes.NewReader(body.Bytes()), d, func(_ model.Event, err error) bool {
				if err != nil {
					b.Error(err)
				}
				n++
				return true
			})
			return n
		}
		run("scanner", func() int { return count(s.decoder()) })
		run("general", func() int { return count(slow{s.decoder()}) })
	}
}

// BenchmarkWhole shows that reading is linear: the time for each byte is the same for a large
// message and for a small one.
func BenchmarkWhole(b *testing.B) {
	for _, s := range streams {
		for _, size := range []int{10 << 10, 100 << 10, 1 << 20} {
			var body bytes.Buffer
			body.WriteString(sseBody(s.head...))
			said := 0
			for said < size {
				body.WriteString(sseBody(s.delta))
				said += 12
			}
			body.WriteString(sseBody(s.tail...))
			b.Run(fmt.Sprintf("%s/%dKB", s.name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(body.Len()))
				for range b.N {
					read(context.Background(), "test", bytes.NewReader(body.Bytes()), s.decoder(), func(_ model.Event, err error) bool { return err == nil })
				}
			})
		}
	}
}

// BenchmarkRequest measures the building of a request for a long history: new, and with
// all but one message kept.
func BenchmarkRequest(b *testing.B) {
	r := longRequest(500)
	encoders := map[string]func() func(model.Request) []byte{
		"chat":      func() func(model.Request) []byte { return (&chatEncoder{}).request },
		"responses": func() func(model.Request) []byte { return (&responsesEncoder{}).request },
	}
	for name, encoder := range encoders {
		b.Run(name+"/new", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.SetBytes(int64(len(encoder()(r))))
			}
		})
		b.Run(name+"/kept", func(b *testing.B) {
			b.ReportAllocs()
			encode := encoder()
			encode(r)
			for i := range b.N {
				r.Messages[len(r.Messages)-1].Key = fmt.Sprintf("new-%d", i)
				b.SetBytes(int64(len(encode(r))))
			}
		})
	}
}

// longRequest is a history of n messages of about 2 KB, with tools.
func longRequest(n int) model.Request {
	r := model.Request{Model: "m", System: []string{strings.Repeat("Be good. ", 500)}}
	words := strings.Repeat("some \"words\"\n", 150)
	for i := range 30 {
		r.Tools = append(r.Tools, model.Tool{
			Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat("What it does. ", 50),
			Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"` + strings.Repeat("where ", 50) + `"}},"required":["path"]}`),
		})
	}
	for i := range n {
		m := model.Message{Key: fmt.Sprintf("key-%d", i)}
		switch i % 3 {
		case 0:
			m.Role, m.Content = model.UserRole, []model.Content{model.TextContent{Text: words}}
		case 1:
			m.Role, m.Content = model.AssistantRole, []model.Content{
				model.TextContent{Text: words}, model.CallContent{ID: fmt.Sprintf("call_%d", i), Name: "tool_1", Input: json.RawMessage(`{"path":"a"}`)},
			}
		default:
			m.Role, m.Content = model.ToolRole, []model.Content{model.ResultContent{ID: fmt.Sprintf("call_%d", i-1), Name: "tool_1", Text: words}}
		}
		r.Messages = append(r.Messages, m)
	}
	return r
}
