package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
)

// Stream is what a server sends all day: bytes of a beginning, of one delta that comes again and
// again, and of an end.
type Stream struct {
	Name              string
	Head, Delta, Tail []byte
	Chars             int // characters in a delta
	// Read yields the events of a body, on the general path on request.
	Read func(general bool, body io.Reader, yield func(model.Event, error) bool)
	// Floor only takes a body apart and counts its frames; nil is the one of server-sent
	// events.
	Floor func(body io.Reader) (frames int)
}

// benchDeltas is how many deltas a stream of the benchmarks has.
const benchDeltas = 2000

func (s Stream) body(deltas int) []byte {
	return append(append(bytes.Clone(s.Head), bytes.Repeat(s.Delta, deltas)...), s.Tail...)
}

// BenchStream measures a delta from the bytes of the socket to the event, with the scanner and
// on the general path; floor only takes the stream apart.
func BenchStream(b *testing.B, streams []Stream) {
	for _, s := range streams {
		body := s.body(benchDeltas)
		run := func(name string, once func() int) {
			b.Run(s.Name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for n := 0; n < b.N; n += benchDeltas { // each round is many deltas, which are counted
					if once() < benchDeltas {
						b.Fatal("deltas are missing")
					}
				}
			})
		}
		count := func(general bool) (n int) {
			s.Read(general, bytes.NewReader(body), func(_ model.Event, err error) bool {
				if err != nil {
					b.Error(err)
				}
				n++
				return true
			})
			return n
		}
		floor := s.Floor
		if floor == nil {
			floor = countSSE
		}
		run("floor", func() int { return floor(bytes.NewReader(body)) })
		run("scanner", func() int { return count(false) })
		run("general", func() int { return count(true) })
	}
}

// BenchWhole shows that reading is linear: the time for each byte is the same for a large
// message and for a small one.
func BenchWhole(b *testing.B, streams []Stream) {
	for _, s := range streams {
		for _, size := range []int{10 << 10, 200 << 10, 1 << 20} {
			body := s.body(size / s.Chars)
			b.Run(fmt.Sprintf("%s/%dKB", s.Name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				for range b.N {
					s.Read(false, bytes.NewReader(body), func(_ model.Event, err error) bool {
						if err != nil {
							b.Fatal(err)
						}
						return true
					})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/said-byte")
			})
		}
	}
}

// BenchRequest measures the building of a request for a long history: new, and with all but one
// message cached by key or by content.
func BenchRequest(b *testing.B, encoder func() func(model.Request) []byte) {
	r := LongRequest(500)
	keyless := r
	keyless.Messages = nil
	for _, m := range r.Messages {
		m.Key = ""
		keyless.Messages = append(keyless.Messages, m)
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			b.SetBytes(int64(len(encoder()(r))))
		}
	})
	for name, r := range map[string]model.Request{"keys": r, "kept": keyless} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			encode := encoder()
			encode(r)
			for i := range b.N {
				last := &r.Messages[len(r.Messages)-1]
				*last = model.Message{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: fmt.Sprint("new ", i)}}}
				b.SetBytes(int64(len(encode(r))))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/op")
		})
	}
}

// LongRequest is a history of n messages of about 2 KB, with tools.
func LongRequest(n int) model.Request {
	r := model.Request{Model: "m", System: []string{strings.Repeat("Be good. ", 500)}, Cache: model.CacheFive, MaxOutput: 32000}
	words := strings.Repeat("some \"words\"\n", 150)
	for i := range 30 {
		r.Tools = append(r.Tools, model.Tool{
			Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat("Do a thing. ", 50),
			Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"` + strings.Repeat("where ", 50) + `"}},"required":["path"]}`),
		})
	}
	for i := range n {
		m := model.Message{Key: fmt.Sprintf("key-%d", i)}
		switch i % 3 {
		case 0:
			m.Role, m.Content = model.UserRole, []model.Content{model.TextContent{Text: fmt.Sprint(i, words)}}
		case 1:
			m.Role, m.Content = model.AssistantRole, []model.Content{
				model.TextContent{Text: fmt.Sprint(i, words)}, model.CallContent{ID: fmt.Sprintf("call_%d", i), Name: "tool_1", Input: json.RawMessage(`{"path":"a"}`)},
			}
		default:
			m.Role, m.Content = model.ToolRole, []model.Content{model.ResultContent{ID: fmt.Sprintf("call_%d", i-1), Name: "tool_1", Text: fmt.Sprint(i, words)}}
		}
		r.Messages = append(r.Messages, m)
	}
	return r
}

// countSSE takes server-sent events apart and counts them.
func countSSE(body io.Reader) (n int) {
	for r := sse.NewReader(body); ; n++ {
		if _, err := r.Next(); err != nil {
			return n
		}
	}
}
