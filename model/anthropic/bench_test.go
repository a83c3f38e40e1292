package anthropic

import (
	"io"
	"testing"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func benched() []wiretest.Stream {
	start := func(block string) []byte {
		return []byte("event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg_01","model":"claude","usage":{"input_tokens":3,"output_tokens":1}}}` +
			"\n\nevent: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":` + block + "}\n\n")
	}
	delta := func(d string) []byte {
		return []byte("event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":` + d + "     }\n\n")
	}
	end := []byte("event: content_block_stop\ndata: " + `{"type":"content_block_stop","index":0}` + "\n\nevent: message_delta\ndata: " +
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}` + "\n\nevent: message_stop\ndata: " + `{"type":"message_stop"}` + "\n\n")
	streams := []wiretest.Stream{
		{Name: "text", Head: start(`{"type":"text","text":""}`), Delta: delta(`{"type":"text_delta","text":" some words,"}`)},
		{Name: "reasoning", Head: start(`{"type":"thinking","thinking":""}`), Delta: delta(`{"type":"thinking_delta","thinking":" some words,"}`)},
		{Name: "arguments", Head: start(`{"type":"tool_use","id":"toolu_01","name":"write","input":{}}`), Delta: delta(`{"type":"input_json_delta","partial_json":"some \\\"words "}`)},
	}
	for i := range streams {
		s := &streams[i]
		s.Tail, s.Chars, s.Read = end, 12, readBench
	}
	return streams
}

func readBench(general bool, body io.Reader, yield func(model.Event, error) bool) {
	d := newDecoder()
	d.slow = general
	read(body, d, yield)
}

func BenchmarkDelta(b *testing.B) { wiretest.BenchStream(b, benched()) }

func BenchmarkWhole(b *testing.B) { wiretest.BenchWhole(b, benched()) }

func BenchmarkRequest(b *testing.B) {
	wiretest.BenchRequest(b, func() func(model.Request) []byte { return (&encoder{}).request })
}
