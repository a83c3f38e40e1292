package gemini

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func benched() []wiretest.Stream {
	chunk := func(part string) []byte {
		return []byte("data: " + `{"candidates": [{"content": {"parts": [` + part + `],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 54,` +
			`"candidatesTokenCount": 14,"totalTokenCount": 132,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 54}],"thoughtsTokenCount": 64},` +
			`"modelVersion": "gemini-2.5-pro","responseId": "2ACzaf-8I9HRz7IPlMmB4Qk"}` + "\r\n\r\n")
	}
	streams := []wiretest.Stream{
		{Name: "text", Delta: chunk(`{"text": " some words,"}`)},
		{Name: "reasoning", Delta: chunk(`{"text": " some words,","thought": true}`)},
	}
	for i := range streams {
		s := &streams[i]
		s.Head, s.Tail = chunk(`{"text": ""}`), []byte("data: "+`{"candidates": [{"finishReason": "STOP"}]}`+"\r\n\r\n")
		s.Chars, s.Read = 12, readBench
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

// BenchmarkArguments reads a call whose arguments are 200 KB: here they come whole.
func BenchmarkArguments(b *testing.B) {
	for _, size := range []int{10 << 10, 200 << 10} {
		body := "data: " + `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"write","args":{"text":"` + strings.Repeat("some words, ", size/12) +
			`"}}}]},"finishReason":"STOP"}]}` + "\n\n"
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for range b.N {
				if events, err := drain(strings.NewReader(body)); err != nil || len(events) < 5 {
					b.Fatal(len(events), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/said-byte")
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	wiretest.BenchRequest(b, func() func(model.Request) []byte { return (&encoder{}).request })
}
