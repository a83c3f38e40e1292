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
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/workspace"
)

// BenchmarkRequest is the assembly of a request with 2,000 messages after it: the first of a
// process, for which all of them are converted, and the next, for which the last one is.
func BenchmarkRequest(b *testing.B) {
	agent := prompt.Agents(permission.Folders{})[0]
	s := &stepConfig{
		settings: &StepSettings{Tools: tool.NewSet(builtin.All(builtin.Config{})...), ShellName: "bash", Agents: []Agent{{Agent: agent}}},
		model:    &Model{Ref: lathe.ModelRef{Provider: "provider", Model: "claude-x"}, Name: "claude-x"},
	}
	s.agent = &s.settings.Agents[0]
	text := strings.Repeat("some words of an answer\n", 40)
	output := strings.Repeat("a line that a tool has printed\n", 60)
	var versions atomic.Int64
	mem := history.New(&versions)
	for i := range 1000 {
		u := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_u%d", i)), Created: lathe.Time(2 * i), Data: &lathe.User{Agent: "build"}}
		a := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_a%d", i)), Created: lathe.Time(2*i + 1), Data: &lathe.Assistant{Parent: u.ID, Finish: "stop", Completed: 1}}
		for _, f := range []lathe.Fact{
			&lathe.MessageChanged{Info: u}, &lathe.PartChanged{Part: lathe.Part{ID: "p", Message: u.ID, Body: &lathe.Text{Text: "a prompt"}}},
			&lathe.MessageChanged{Info: a}, &lathe.PartChanged{Part: lathe.Part{ID: "p1", Message: a.ID, Body: &lathe.Text{Text: text}}},
			&lathe.PartChanged{Part: lathe.Part{ID: "p2", Message: a.ID, Body: &lathe.ToolCall{CallID: fmt.Sprint("c", i), Tool: "read", State: &lathe.Completed{Input: json.RawMessage(`{"filePath":"/a"}`), Output: output}}}},
		} {
			mem.Apply(lathe.Event{Seq: 1, Fact: f})
		}
	}
	s.user = mem.Messages[len(mem.Messages)-2]
	e := &Engine{services: &services{now: lathe.Now}}
	place := workspace.Place{Directory: "/home/dev/src/project", Worktree: "/home/dev/src/project", VCS: "git"}
	p := s.systemPrompt(lathe.Session{}, place).Build(0)
	st := &stepInput{
		stepConfig: *s, engine: e, place: place, tools: s.settings.Tools, savedPrompt: &p,
		evaluator: permission.Evaluator{Chain: []permission.Scope{{Agent: s.agent.permissions(), Listed: s.agent.Rules}}},
	}
	var cold, warm time.Duration
	seq := int64(1)
	for b.Loop() {
		seq++
		for _, m := range mem.History() { // each has changed, so that all are converted again
			mem.Apply(lathe.Event{Seq: seq, Fact: &lathe.PartChanged{Part: m.Parts[0]}})
		}
		begin := time.Now()
		if _, err := st.build(context.Background(), mem, history.Visible(mem.Messages)); err != nil {
			b.Fatal(err)
		}
		cold += time.Since(begin)
		seq++
		mem.Apply(lathe.Event{Seq: seq, Fact: &lathe.PartChanged{Part: mem.Messages[len(mem.Messages)-1].Parts[0]}})
		begin = time.Now()
		req, err := st.build(context.Background(), mem, history.Visible(mem.Messages))
		if warm += time.Since(begin); err != nil || len(req.Messages) < 2000 {
			b.Fatal(err, len(req.Messages))
		}
	}
	b.ReportMetric(float64(cold.Microseconds())/1000/float64(b.N), "cold-ms")
	b.ReportMetric(float64(warm.Microseconds())/1000/float64(b.N), "warm-ms")
}
