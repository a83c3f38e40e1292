package bedrock

import (
	"io"
	"slices"
	"testing"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func benched(b *testing.B) []wiretest.Stream {
	delta := func(d string) []byte {
		return event(b, "contentBlockDelta", `{"contentBlockIndex":0,"delta":`+d+`,"p":"abcdefghijklmnopqrstuvwxyz"}`)
	}
	start := event(b, "messageStart", `{"role":"assistant"}`)
	streams := []wiretest.Stream{
		{Name: "text", Head: start, Delta: delta(`{"text":" some words,"}`)},
		{Name: "reasoning", Head: start, Delta: delta(`{"reasoningContent":{"text":" some words,"}}`)},
		{
			Name: "arguments", Delta: delta(`{"toolUse":{"input":"some \\\"words "}}`),
			Head: slices.Concat(start, event(b, "contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"name":"write","toolUseId":"x"}}}`)),
		},
	}
	for i := range streams {
		s := &streams[i]
		s.Tail = slices.Concat(event(b, "messageStop", `{"stopReason":"end_turn"}`), event(b, "metadata", `{"usage":{"inputTokens":1}}`))
		s.Chars, s.Read = 12, readBench
		s.Floor = func(body io.Reader) (n int) {
			for f := newFrames(body); ; n++ {
				if _, err := f.next(); err != nil {
					return n
				}
			}
		}
	}
	return streams
}

func readBench(general bool, body io.Reader, yield func(model.Event, error) bool) {
	d := newDecoder()
	d.slow = general
	read(body, d, yield)
}

func BenchmarkDelta(b *testing.B) { wiretest.BenchStream(b, benched(b)) }

func BenchmarkWhole(b *testing.B) { wiretest.BenchWhole(b, benched(b)) }

func BenchmarkRequest(b *testing.B) {
	wiretest.BenchRequest(b, func() func(model.Request) []byte { return (&encoder{}).request })
}
