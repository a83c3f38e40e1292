package usage_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/usage"
)

// story makes messages of sessions, one after the other.
type story struct {
	tally   *usage.Counter
	session lathe.Session
	at      lathe.Time
	n       int
}

func begin(harness bool) *story {
	return &story{tally: usage.NewCounter(time.UTC, harness), at: 1741600000000}
}

func (s *story) in(id, parent, project string) *story {
	s.session = lathe.Session{ID: lathe.SessionID(id), Parent: lathe.SessionID(parent), Project: project}
	return s
}

func (s *story) add(said lathe.RoleData, bodies ...lathe.Body) {
	s.n++
	s.at += 1000
	m := lathe.Message{ID: lathe.MessageID(fmt.Sprint("msg_", s.n)), Session: s.session.ID, Created: s.at, Data: said}
	for _, b := range bodies {
		m.Parts = append(m.Parts, lathe.Part{Body: b})
	}
	s.tally.Add(s.session, m)
}

func (s *story) prompt(words string) { s.add(&lathe.User{}, &lathe.Text{Text: words}) }

// answer is a step that ends with a word of the model's, or with calls.
func (s *story) answer(finish string, bodies ...lathe.Body) {
	s.add(&lathe.Assistant{Model: lathe.ModelRef{Provider: "acme", Model: "big", Variant: "high"}, Finish: finish, Completed: s.at + 1500}, bodies...)
}

func used(cost float64, input, read, write int64) lathe.Body {
	return &lathe.StepFinish{Cost: lathe.Dollars(cost), Tokens: lathe.Tokens{Input: input, Output: 1, Reasoning: 2, Cache: lathe.CacheTokens{Read: read, Write: write}}}
}

func called(tool, input, output, meta string) lathe.Body {
	return &lathe.ToolCall{Tool: tool, State: &lathe.Completed{Input: json.RawMessage(input), Output: output, Metadata: json.RawMessage(meta), Start: 1000, End: 1100}}
}

func failedCall(tool, input, words, meta string) lathe.Body {
	return &lathe.ToolCall{Tool: tool, State: &lathe.Failed{Input: json.RawMessage(input), Error: words, Metadata: json.RawMessage(meta), Start: 1000, End: 1050}}
}

func text(words string) lathe.Body { return &lathe.Text{Text: words} }

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestCounter_Sums(t *testing.T) {
	s := begin(false).in("ses_1", "", "app")
	s.prompt("hello")
	s.answer("tool-calls", called("read", `{}`, "four", ``), failedCall("bash", `{}`, "no", ``), used(0.5, 10, 20, 30))
	s.answer("stop", text("done"), used(0.25, 1, 2, 3), used(0.25, 1, 2, 3))
	s.add(&lathe.User{}, &lathe.Text{Text: "checked", Synthetic: lathe.Yes, Metadata: json.RawMessage(`{"lathe":{"checks":["todos"]}}`)})
	s.add(&lathe.User{}, &lathe.Compaction{})
	s.in("ses_2", "ses_1", "app")
	s.prompt("look")
	s.answer("stop", used(1, 100, 0, 0))
	s.at += 24 * 60 * 60 * 1000
	s.in("ses_3", "", "other")
	s.add(&lathe.Assistant{Model: lathe.ModelRef{Provider: "acme", Model: "old"}, Cost: lathe.Dollars(2), Tokens: lathe.Tokens{Input: 7}, Error: &lathe.AbortedFault{}})

	total := usage.Usage{Cost: lathe.Dollars(4), Steps: 5, Tokens: usage.Tokens{Input: 119, Output: 4, Reasoning: 8, CacheRead: 24, CacheWrite: 36}}
	today := usage.Usage{Cost: lathe.Dollars(2), Steps: 4, Tokens: usage.Tokens{Input: 112, Output: 4, Reasoning: 8, CacheRead: 24, CacheWrite: 36}}
	later := usage.Usage{Cost: lathe.Dollars(2), Steps: 1, Tokens: usage.Tokens{Input: 7}}
	same(t, "figures", s.tally.Stats(), usage.Stats{
		Sessions: 2, Subagents: 1, Messages: 8, Prompts: 2, Answers: 4, Calls: 2, Days: 2,
		First: 1741600001000, Last: s.at, Usage: total, MedianTokens: (184 + 7) / 2,
		ByModel: []usage.Model{
			{Provider: "acme", Model: "big", Answers: 3, Usage: today},
			{Provider: "acme", Model: "old", Answers: 1, Errors: 1, Usage: later},
		},
		ByTool: []usage.Tool{
			{Name: "bash", Calls: 1, Errors: 1, Milliseconds: 50},
			{Name: "read", Calls: 1, Milliseconds: 100, OutputBytes: 4},
		},
		ByDay:     []usage.Day{{Date: "2025-03-10", Messages: 7, Usage: today}, {Date: "2025-03-11", Messages: 1, Usage: later}},
		ByProject: []usage.Project{{ID: "app", Sessions: 1, Messages: 7, Usage: today}, {ID: "other", Sessions: 1, Messages: 1, Usage: later}},
		Checks:    map[string]int{"todos": 1},
	})
}

func TestCounter_Nothing(t *testing.T) {
	got := begin(true).tally.Stats()
	if got.Messages != 0 || got.Harness == nil || got.Harness.Turns != 0 || got.TokensPerSession() != 0 {
		t.Errorf("%+v", got)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}

// Days are those of the place.
func TestCounter_Zone(t *testing.T) {
	s := &story{tally: usage.NewCounter(time.FixedZone("east", 14*60*60), false), at: 1741600000000} // 10 March, 9:46 in London
	s.in("ses_1", "", "app").prompt("hello")
	same(t, "day", s.tally.Stats().ByDay[0].Date, "2025-03-10")
	s = &story{tally: usage.NewCounter(time.FixedZone("east", 14*60*60+30*60), false), at: 1741600000000}
	s.in("ses_1", "", "app").prompt("hello")
	same(t, "day", s.tally.Stats().ByDay[0].Date, "2025-03-11")
}

// Absurd counts of old data do not wrap, and parents in a circle end.
func TestCounter_Hostile(t *testing.T) {
	s := begin(true)
	for range 3 {
		s.in("ses_a", "ses_b", "app").answer("stop", used(1e300, 1<<62, 1<<62, 1<<62))
		s.in("ses_b", "ses_a", "app").answer("stop", used(1e300, 1<<62, 1<<62, 1<<62))
	}
	got := s.tally.Stats()
	if got.Usage.Tokens.Total() < 1<<62 || got.Usage.Cost < 1<<62 || got.MedianTokens < 0 {
		t.Errorf("%+v", got.Usage)
	}
}

// The time of a tool leaves out how long a person was waited for.
func TestCounter_Waits(t *testing.T) {
	s := begin(false).in("ses_1", "", "p")
	s.answer("tool-calls", called("bash", `{}`, "", `{"waits":[[1020,1090]]}`))
	if tools := s.tally.Stats().ByTool; len(tools) != 1 || tools[0].Milliseconds != 30 {
		t.Errorf("%+v", tools)
	}
}
