package budget

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/model"
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
		e := New(r, price)
		if got := e.MaxOutput(e.Total(e.maxOutput())); got != r.MaxOutput {
			t.Fatalf("with all that is wanted, %d of %d", got, r.MaxOutput)
		}
		tokens := rapid.Int64Range(e.minOutput(), e.maxOutput()).Draw(t, "given")
		given := e.Total(tokens)
		out := e.MaxOutput(given)
		worst := int64(out)
		if e.thought >= worst { // as providers count
			worst += e.thought
		}
		if cost := e.Total(worst); out > 1 && (cost.Cost > given.Cost || cost.Tokens > given.Tokens) {
			t.Fatalf("an answer of %d costs %v of %v", out, cost, given)
		}
	})
}

func jsonInt(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestEstimate_CountsAllThatIsSent(t *testing.T) {
	t.Parallel()
	base := New(model.Request{}, model.Price{}).input
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
		if got := New(r, model.Price{}).input - base; got < 1000 {
			t.Errorf("%s counts for %d tokens", name, got)
		}
	}
}
