package lathe_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// benchParts are a text and a tool call of about a kilobyte.
func benchParts() map[string]lathe.Part {
	p := lathe.Part{ID: lathetest.PartID, Session: lathetest.SessionID, Message: lathetest.AnswerID}
	text, call := p, p
	text.Body = &lathe.Text{
		Text: strings.Repeat("func main() {\n\tprintln(\"héllo\")\n}\n", 29),
		Time: &lathe.Span{Start: lathetest.Now, End: lathetest.Now + 1000},
	}
	call.Body = &lathe.ToolCall{CallID: "call_1", Tool: "bash", State: &lathe.Completed{
		Input: json.RawMessage(`{"command":"go test ./...","description":"Runs the tests"}`), Title: "Runs the tests",
		Output: strings.Repeat("ok  \tgithub.com/lathe-agent/lathe\t0.012s\n", 25), Metadata: json.RawMessage(`{"exit":0}`),
		Start: lathetest.Now, End: lathetest.Now + 1000,
	}}
	return map[string]lathe.Part{"text": text, "tool": call}
}

func BenchmarkPart(b *testing.B) {
	for name, p := range benchParts() {
		data := p.AppendJSON(nil)
		b.Run("encode/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			buf := make([]byte, 0, 2*len(data))
			for b.Loop() {
				buf = p.AppendJSON(buf[:0])
			}
		})
		b.Run("decode/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var q lathe.Part
				if err := q.UnmarshalJSON(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEvent(b *testing.B) {
	for name, f := range map[string]lathe.Fact{
		"delta": &lathe.PartDelta{
			Session: lathetest.SessionID, Message: lathetest.AnswerID, Part: lathetest.PartID, Field: "text", Delta: "hello ", Offset: -1,
		},
		"status": &lathe.StatusChanged{Session: lathetest.SessionID, Status: lathe.Status{Type: lathe.Busy}},
		"toast":  &lathe.TUIToast{Message: "hello", Variant: "info"},
	} {
		e := sampleEvent(f)
		data := e.AppendJSON(nil)
		b.Run("encode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 2*len(data))
			for b.Loop() {
				buf = e.AppendJSON(buf[:0])
			}
		})
		b.Run("decode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var got lathe.Event
				if err := got.UnmarshalJSON(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A delta costs the same whatever the length of its part.
func BenchmarkTranscript_Delta(b *testing.B) {
	for name, size := range map[string]int{"1KB": 1 << 10, "1MB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			t := fold([]lathe.Fact{
				message("msg_1", 1, &lathe.Assistant{}), changed("msg_1", "prt_1", open(strings.Repeat("x", size))),
			})
			e := lathe.Event{Fact: delta("msg_1", "prt_1", "hello ", -1)}
			for b.Loop() {
				t.Apply(e)
			}
		})
	}
}

func BenchmarkWildcard(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		lathe.Wildcard("git push *", "git push --force origin main")
	}
}
