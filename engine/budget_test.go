package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
)

// An answer as long as the money given allows costs no more than that, whatever is thought.
func TestEstimate_PropLongestFitsWhatIsGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		price := model.Price{
			Input: model.PerMillion(rapid.Float64Range(0, 20).Draw(t, "in")), Output: model.PerMillion(rapid.Float64Range(0, 90).Draw(t, "out")),
			CacheWrite: model.PerMillion(rapid.Float64Range(0, 25).Draw(t, "write")),
		}
		r := model.Request{MaxOutput: rapid.IntRange(1, 64000).Draw(t, "output"), System: []string{strings.Repeat("x", rapid.IntRange(0, 1<<18).Draw(t, "size"))}}
		if n := rapid.IntRange(0, 70000).Draw(t, "thought"); n > 0 {
			r.Options = map[string]json.RawMessage{"thinking": json.RawMessage(`{"type":"enabled","budgetTokens":` + jsonInt(n) + `}`)}
		}
		e := estimated(r, price)
		if got := e.longest(e.total(e.most())); got != r.MaxOutput {
			t.Fatalf("with all that is wanted, %d of %d", got, r.MaxOutput)
		}
		tokens := rapid.Int64Range(e.least(), e.most()).Draw(t, "given")
		given := e.total(tokens)
		out := e.longest(given)
		worst := int64(out)
		if e.thought >= worst { // as providers count
			worst += e.thought
		}
		if cost := e.total(worst); out > 1 && (cost.Cost > given.Cost || cost.Tokens > given.Tokens) {
			t.Fatalf("an answer of %d costs %v of %v", out, cost, given)
		}
	})
}

func jsonInt(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestEstimate_CountsAllThatIsSent(t *testing.T) {
	t.Parallel()
	base := estimated(model.Request{}, model.Price{}).input
	long := strings.Repeat("x", 3000)
	for name, r := range map[string]model.Request{
		"system":    {System: []string{long}},
		"tool":      {Tools: []model.Tool{{Description: long}}},
		"text":      {Messages: []model.Message{{Content: []model.Content{model.TextContent{Text: long}}}}},
		"reasoning": {Messages: []model.Message{{Content: []model.Content{model.ReasoningContent{Text: long}}}}},
		"call":      {Messages: []model.Message{{Content: []model.Content{model.CallContent{Input: json.RawMessage(long)}}}}},
		"result":    {Messages: []model.Message{{Content: []model.Content{model.ResultContent{Text: long}}}}},
		"image":     {Messages: []model.Message{{Content: []model.Content{model.FileContent{Mime: "image/png"}}}}},
		"document":  {Messages: []model.Message{{Content: []model.Content{model.ResultContent{Media: []model.FileContent{{Mime: "application/pdf", Data: strings.Repeat(long, 100)}}}}}}},
	} {
		if got := estimated(r, model.Price{}).input - base; got < 1000 {
			t.Errorf("%s counts for %d tokens", name, got)
		}
	}
}

// A clock that stands while a person is waited for fires after the rest of its time.
func TestClock_Holds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fired := make(chan time.Time, 1)
		begin := time.Now()
		c := subagent.StartClock(10*time.Second, func() { fired <- time.Now() })
		defer c.End()
		<-time.After(4 * time.Second)
		c.Pause()
		c.Pause()
		<-time.After(time.Hour)
		c.Resume()
		<-time.After(time.Hour)
		if got := c.Read(); got != 4*time.Second {
			t.Errorf("it has run for %s", got)
		}
		c.Resume()
		<-time.After(7 * time.Second)
		if got := (<-fired).Sub(begin); got != 2*time.Hour+10*time.Second {
			t.Errorf("it fired after %s", got)
		}
		if got := c.Read(); got != 11*time.Second {
			t.Errorf("it has run for %s", got)
		}
	})
}

func TestDeadlines_Of(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d     Deadlines
		agent bool
		want  time.Duration
	}{
		{Deadlines{}, false, toolDeadline},
		{Deadlines{}, true, subagentDeadline},
		{Deadlines{Tool: time.Second, Subagent: time.Minute}, false, time.Second},
		{Deadlines{Tool: time.Second, Subagent: time.Minute}, true, time.Minute},
		{Deadlines{Tool: -1, Subagent: -1}, false, 0},
		{Deadlines{Tool: -1, Subagent: -1}, true, 0},
	} {
		if got, _ := tt.d.of(tool.Spec{Agent: tt.agent}); got != tt.want {
			t.Errorf("%+v, agent %v: %s, want %s", tt.d, tt.agent, got, tt.want)
		}
	}
}

func TestFallback_FallsBack(t *testing.T) {
	t.Parallel()
	for code, want := range map[lathe.Code]bool{
		lathe.Limited: true, lathe.Unavailable: true, lathe.NotFound: true,
		lathe.Unauthorized: false, lathe.Invalid: false, lathe.Overflow: false, lathe.Refused: false, lathe.Canceled: false, lathe.Denied: false,
	} {
		if got := (Fallback{}).fallsBack(lathe.Errorf(code, "x")); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
	if !(Fallback{Unauthorized: true}).fallsBack(lathe.Errorf(lathe.Unauthorized, "x")) {
		t.Error("a refused key does not fall back by setting")
	}
}
