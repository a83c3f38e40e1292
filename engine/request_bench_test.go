package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

// BenchmarkRequest is the assembly of a request with 2,000 messages behind it: the first of a
// process, for which all of them are converted, and the next, for which the last one is.
func BenchmarkRequest(b *testing.B) {
	s := freshSample("build", "claude-x")
	text := strings.Repeat("some words of an answer\n", 40)
	output := strings.Repeat("a line that a tool has printed\n", 60)
	var versions atomic.Int64
	mem := &memory{byID: map[lathe.MessageID]*held{}, gone: map[lathe.MessageID]bool{}, versions: &versions}
	for i := range 1000 {
		u := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_u%d", i)), Created: lathe.Time(2 * i), Said: &lathe.User{Agent: "build"}}
		a := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_a%d", i)), Created: lathe.Time(2*i + 1), Said: &lathe.Assistant{Parent: u.ID, Finish: "stop", Completed: 1}}
		mem.part(mem.put(u, 1), lathe.Part{ID: "p", Body: &lathe.Text{Text: "a prompt"}}, 1)
		h := mem.put(a, 1)
		mem.part(h, lathe.Part{ID: "p1", Body: &lathe.Text{Text: text}}, 1)
		mem.part(h, lathe.Part{ID: "p2", Body: &lathe.ToolCall{CallID: fmt.Sprint("c", i), Tool: "read", State: &lathe.Completed{Input: json.RawMessage(`{"filePath":"/a"}`), Output: output}}}, 1)
	}
	s.user = mem.messages[len(mem.messages)-2]
	e := &Engine{now: lathe.Now}
	r := &runner{engine: e, mem: mem, place: somewhere(), sample: *s}
	st := &stepping{runner: r, sample: *s, judge: judge{chain: []bounds{{agent: s.agent.judge(), listed: s.agent.Rules}}}}
	p := s.newPreface(lathe.Session{}, r.place, 0)
	r.preface = &p
	var cold, warm time.Duration
	for b.Loop() {
		for _, h := range mem.messages {
			h.converted = nil
		}
		begin := time.Now()
		if _, err := st.build(context.Background(), state{messages: mem.messages}, s.settings.Tools); err != nil {
			b.Fatal(err)
		}
		cold += time.Since(begin)
		mem.changed(mem.messages[len(mem.messages)-1])
		begin = time.Now()
		req, err := st.build(context.Background(), state{messages: mem.messages}, s.settings.Tools)
		if warm += time.Since(begin); err != nil || len(req.Messages) < 2000 {
			b.Fatal(err, len(req.Messages))
		}
	}
	b.ReportMetric(float64(cold.Microseconds())/1000/float64(b.N), "cold-ms")
	b.ReportMetric(float64(warm.Microseconds())/1000/float64(b.N), "warm-ms")
}
