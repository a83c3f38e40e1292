package explain

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

func user(id string, at lathe.Time, text string) lathe.Message {
	return lathe.Message{ID: lathe.MessageID(id), Created: at, Data: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: text}}}}
}

func answer(id string, from, to lathe.Time, parts ...lathe.Body) lathe.Message {
	m := lathe.Message{ID: lathe.MessageID(id), Created: from, Data: &lathe.Assistant{Model: lathe.ModelRef{Provider: "acme", Model: "m"}, Completed: to}}
	for _, b := range parts {
		m.Parts = append(m.Parts, lathe.Part{Body: b})
	}
	return m
}

func ran(tool string, from, to lathe.Time, output string, waits ...lathe.Wait) *lathe.ToolCall {
	meta := json.RawMessage(nil)
	if len(waits) > 0 {
		meta, _ = json.Marshal(map[string]any{"waits": waits})
	}
	return &lathe.ToolCall{Tool: tool, State: &lathe.Completed{Output: output, Title: tool + " x", Start: from, End: to, Metadata: meta}}
}

func failed(tool string, from, to lathe.Time, why string) *lathe.ToolCall {
	return &lathe.ToolCall{Tool: tool, State: &lathe.Failed{Error: why, Start: from, End: to}}
}

func finish(cost float64, input, output, read, write int64) *lathe.StepFinish {
	return &lathe.StepFinish{Cost: lathe.Dollars(cost), Tokens: lathe.Tokens{Input: input, Output: output, Cache: lathe.CacheTokens{Read: read, Write: write}}}
}

func TestSession_Time(t *testing.T) {
	for name, c := range map[string]struct {
		messages []lathe.Message
		want     api.TimeUse
	}{
		"nothing": {nil, api.TimeUse{}},
		"model":   {[]lathe.Message{user("u", 1000, "hi"), answer("a", 1000, 4000)}, api.TimeUse{Model: 3000}},
		"tools at the same time count once": {
			[]lathe.Message{user("u", 0, "hi"), answer("a", 0, 10_000, ran("bash", 1000, 5000, ""), ran("read", 2000, 6000, ""))},
			api.TimeUse{Model: 5000, Tools: 5000},
		},
		"waits are not the tool's": {
			[]lathe.Message{user("u", 0, "hi"), answer("a", 0, 10_000, ran("bash", 1000, 9000, "", lathe.Wait{2000, 8000}))},
			api.TimeUse{Model: 2000, Tools: 2000, Waiting: 6000},
		},
		"between prompts": {
			[]lathe.Message{user("u", 0, "hi"), answer("a", 0, 1000), user("v", 5000, "go on"), answer("b", 5000, 6000)},
			api.TimeUse{Model: 2000, Idle: 4000},
		},
		"compaction": {
			[]lathe.Message{user("u", 0, "hi"), summary(answer("a", 0, 1000))},
			api.TimeUse{Compaction: 1000},
		},
		"retries": {
			[]lathe.Message{user("u", 0, "hi"), answer("a", 0, 10_000, &lathe.Retry{Attempt: 1, Created: 3000}, &lathe.Retry{Attempt: 2, Created: 7000}, ran("bash", 8000, 9000, ""))},
			api.TimeUse{Model: 2000, Retries: 7000, Tools: 1000},
		},
		"a retry after the calls of a step": {
			[]lathe.Message{user("u", 0, "hi"), answer("a", 0, 4000, ran("bash", 1000, 3000, ""), &lathe.Retry{Attempt: 1, Created: 6000}), answer("b", 6000, 7000)},
			api.TimeUse{Model: 1000, Retries: 4000, Tools: 2000},
		},
		"a step that never ended": {
			[]lathe.Message{user("u", 0, "hi"), answer("a", 0, 0, ran("bash", 1000, 3000, ""))},
			api.TimeUse{Model: 1000, Tools: 2000},
		},
		"times that run backwards": {
			[]lathe.Message{user("u", 5000, "hi"), answer("a", 5000, 1000, ran("bash", 9000, 2000, ""))},
			api.TimeUse{},
		},
		"begins in the middle": {[]lathe.Message{answer("a", 0, 1000)}, api.TimeUse{Model: 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Session(lathe.Session{}, c.messages, api.CostLine{}).Time); d != "" {
				t.Error(d)
			}
		})
	}
}

func summary(m lathe.Message) lathe.Message {
	m.Data.(*lathe.Assistant).Summary = lathe.Yes
	return m
}

func TestSession_Whole(t *testing.T) {
	got := Session(lathe.Session{ID: "ses_a", Title: "Fix"}, []lathe.Message{
		user("u", 1000, "  fix it\nplease"),
		answer("a", 1000, 5000, failed("edit", 2000, 2500, "no match\nmore"), ran("bash", 3000, 4000, strings.Repeat("x", 20_000)), finish(0.25, 100, 50, 0, 9000)),
		answer("b", 5000, 6000, failed("edit", 5100, 5200, "no match\nother"), finish(0.5, 9300, 20, 0, 0)),
	}, api.CostLine{Sessions: 2, Cost: 1})
	want := api.SessionUsage{
		Session: "ses_a", Title: "Fix", From: 1000, To: 6000,
		Time:      api.TimeUse{Model: 3400, Tools: 1600},
		Models:    []api.CostLine{{Name: "acme/m", Cost: 0.75, Requests: 2, Input: 9400, Output: 70, CacheWrite: 9000}},
		Subagents: api.CostLine{Sessions: 2, Cost: 1},
		Turns: []api.TurnUse{{
			Message: "u", Prompt: "fix it", At: 1000, Time: api.TimeUse{Model: 3400, Tools: 1600}, Cost: 0.75, Steps: 2, Calls: 3, Failed: 2, Sent: 18_400,
		}},
		Tools: []api.ToolUse{{Name: "bash", Calls: 1, Time: 1000, Bytes: 20_000}, {Name: "edit", Calls: 2, Failed: 2, Time: 600}},
		Events: []api.Finding{
			{Kind: "failure", Message: "b", Name: "edit", Detail: "no match", Count: 2},
			{Kind: "cache-miss", Message: "b", Name: "acme/m", Detail: "the cached beginning changed, or the provider dropped it", Count: 1, Tokens: 9100},
			{Kind: "result", Message: "a", Name: "bash", Detail: "bash x", Count: 1, Bytes: 20_000},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestSession_CacheMisses(t *testing.T) {
	for name, c := range map[string]struct {
		pause  lathe.Time
		change func(m *lathe.Message)
		read   int64
		want   string
	}{
		"hit":           {read: 9000},
		"changed":       {want: "the cached beginning changed, or the provider dropped it"},
		"pause":         {pause: 600_000, want: "the pause before was longer than most caches live"},
		"another model": {change: func(m *lathe.Message) { m.Data.(*lathe.Assistant).Model.Model = "n" }, want: "the model changed, from acme/m"},
	} {
		t.Run(name, func(t *testing.T) {
			second := answer("b", 2000+c.pause, 3000+c.pause, finish(0, 9500-c.read, 1, c.read, 0))
			if c.change != nil {
				c.change(&second)
			}
			got := Session(lathe.Session{}, []lathe.Message{user("u", 0, "hi"), answer("a", 0, 2000, finish(0, 0, 1, 0, 9000)), second}, api.CostLine{})
			why := ""
			for _, f := range got.Events {
				why += f.Detail
			}
			if why != c.want {
				t.Errorf("got %q, want %q", why, c.want)
			}
		})
	}
}

// Whatever the times are, the parts of a turn are never negative and never longer than the session.
func TestSession_OfAnyTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		when := rapid.Custom(func(t *rapid.T) lathe.Time { return lathe.Time(rapid.IntRange(0, 50_000).Draw(t, "at")) })
		var all []lathe.Message
		latest := lathe.Time(0)
		for i := range rapid.IntRange(0, 8).Draw(t, "messages") {
			at := when.Draw(t, "created")
			if rapid.Bool().Draw(t, "user") {
				all = append(all, user(fmt.Sprint(i), at, "hi"))
				latest = max(latest, at)
				continue
			}
			from, to, w1, w2, end := when.Draw(t, "from"), when.Draw(t, "to"), when.Draw(t, "w1"), when.Draw(t, "w2"), when.Draw(t, "end")
			again := when.Draw(t, "again")
			all = append(all, answer(fmt.Sprint(i), at, end, ran("bash", from, to, "", lathe.Wait{w1, w2}), &lathe.Retry{Created: again}))
			latest = max(latest, at, end, to, again)
		}
		got := Session(lathe.Session{}, all, api.CostLine{}).Time
		sum := int64(0)
		for _, n := range []int64{got.Model, got.Retries, got.Tools, got.Waiting, got.Compaction, got.Idle} {
			if sum += n; n < 0 {
				t.Fatalf("negative: %+v", got)
			}
		}
		if sum > int64(latest) {
			t.Fatalf("%d ms in a session of %v: %+v", sum, latest, got)
		}
	})
}

func TestSession_AbsurdValues(t *testing.T) {
	nan := lathe.Time(math.NaN())
	got := Session(lathe.Session{}, []lathe.Message{
		user("u", nan, strings.Repeat("é", 500)),
		answer("a", nan, nan, ran("bash", nan, nan, "", lathe.Wait{nan, nan}), finish(0, math.MaxInt64, math.MaxInt64, math.MaxInt64, -5)),
	}, api.CostLine{})
	if n := len([]rune(got.Turns[0].Prompt)); n != maxLine {
		t.Errorf("the prompt has %d characters", n)
	}
}
