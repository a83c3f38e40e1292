// Package budget estimates the cost of a request to a model before it is sent, and writes the error for a
// reached budget. It is pure.
package budget

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/store"
)

const (
	// BytesPerToken is low: it is the worst case that is reserved.
	BytesPerToken = 3
	// minOutputTokens is the shortest answer worth asking for, in tokens.
	minOutputTokens = 4096
)

// Estimate is the expected cost of a request. Only its input is known.
type Estimate struct {
	input, output, thought int64
	inputCost              lathe.Money
	price                  model.Price
}

// New guesses from above what a request costs.
func New(r model.Request, p model.Price) Estimate {
	size, media := history.Size(r.Messages)
	for _, s := range r.System {
		size += len(s)
	}
	for _, t := range r.Tools {
		size += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	input := int64(size/BytesPerToken + media)
	// An input that was not in the cache may be written there.
	_, cost := model.Count(model.Usage{Input: input}, p)
	if _, dear := model.Count(model.Usage{Input: input, CacheWrite: input}, p); dear > cost {
		cost = dear
	}
	return Estimate{input: input, output: int64(r.MaxOutput), thought: thinkingTokens(r.Options), inputCost: cost, price: p}
}

// thinkingTokens is the thinking budget in a request's options; a provider may count them on
// top of the answer's.
func thinkingTokens(options map[string]json.RawMessage) (n int64) {
	for _, name := range []string{"thinking", "reasoningConfig", "thinkingConfig"} {
		var option struct {
			A int64 `json:"budgetTokens"`
			B int64 `json:"budget_tokens"`
			C int64 `json:"thinkingBudget"`
		}
		if json.Unmarshal(options[name], &option) == nil {
			n = max(n, option.A, option.B, option.C)
		}
	}
	return n
}

// Total is the cost of the request with an answer of so many tokens.
func (e Estimate) Total(output int64) lathe.Spending {
	_, cost := model.Count(model.Usage{Input: e.input, Output: output}, e.price)
	_, bare := model.Count(model.Usage{Input: e.input}, e.price)
	return lathe.Spending{Cost: e.inputCost.Add(cost).Add(-bare), Tokens: e.input + output, Steps: 1}
}

// maxOutput and minOutput are the longest and the shortest answer, thinking included.
func (e Estimate) maxOutput() int64 {
	if e.thought >= e.output {
		return e.thought + e.output
	}
	return e.output
}

func (e Estimate) minOutput() int64 { return min(e.maxOutput(), e.thought+minOutputTokens) }

// Reserve is the reservation that the request needs.
func (e Estimate) Reserve(slot, day string, b lathe.Budget) store.Reservation {
	sure := e.Total(0)
	sure.Steps = 0
	return store.Reservation{Slot: slot, Day: day, Max: e.Total(e.maxOutput()), Min: e.Total(e.minOutput()), Certain: sure, Budget: b}
}

// MaxOutput is the longest answer that the money allows: the limit to send to the provider.
func (e Estimate) MaxOutput(given lathe.Spending) int {
	most := min(e.maxOutput(), given.Tokens-e.input)
	if _, one := model.Count(model.Usage{Input: e.input, Output: 1e6}, e.price); one > 0 {
		_, bare := model.Count(model.Usage{Input: e.input}, e.price)
		if each := (one - bare) / 1e6; each > 0 {
			most = min(most, int64((given.Cost-e.inputCost)/each))
		}
	}
	if e.thought > 0 && most < e.maxOutput() {
		most -= e.thought
	}
	return int(max(min(most, e.output), 1))
}

// LimitError says what was spent, by what, and how to continue.
func LimitError(id lathe.SessionID, a lathe.Account, by store.Measure, want store.Reservation) error {
	whose, setting := "This session", "session"
	switch {
	case a.Kind == lathe.DayAccount:
		whose, setting = "The daily usage", "day"
	case a.Kind == lathe.ProjectAccount:
		whose, setting = "This project", "project"
	case a.Key != string(id):
		whose = "Parent session " + a.Key
	}
	spent, limit, flag, next := fmt.Sprint(a.Spent.Cost), fmt.Sprint(a.Limit.Cost), "--max-cost", "the next request may need "+formatCents(want.Min.Cost)
	switch by {
	case store.ByTokens:
		spent, limit, flag = fmt.Sprint(a.Spent.Tokens, " tokens"), fmt.Sprint(a.Limit.Tokens), "--max-tokens"
		next = fmt.Sprintf("the next request may need %d", (want.Min.Tokens+999)/1000*1000)
	case store.BySteps:
		spent, limit, flag, next = fmt.Sprint(a.Spent.Steps, " steps"), fmt.Sprint(a.Limit.Steps), "--max-steps", ""
	case store.ByTime:
		spent, limit, flag, next = a.Spent.Time.Round(time.Second).String(), a.Limit.Time.String(), "--max-time", ""
	case store.ByCost:
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s has reached its budget: %s of %s spent", whose, spent, limit)
	if next != "" {
		out.WriteString(", and " + next)
	}
	fmt.Fprintf(&out, ". Raise budget.%s.%s in the config", setting, by)
	if setting == "session" {
		fmt.Fprintf(&out, " or give this session more with lathe run -s %s %s", a.Key, flag)
	}
	out.WriteString(", then send the next prompt; nothing is lost.")
	return NewError(out.String())
}

// Ref marks an [lathe.UnknownFault] that ended a turn because the budget was reached: the wire
// has no name for it, and programs must not parse messages.
const Ref = "budget"

// NewError is the failure of a turn that ended for want of budget.
func NewError(words string) error {
	return &lathe.Error{Code: lathe.Denied, Message: words, Fault: &lathe.UnknownFault{Message: words, Ref: Ref}}
}

// formatCents rounds up: an estimate needs no more digits.
func formatCents(m lathe.Money) string {
	cent := lathe.Dollars(0.01)
	return ((m + cent - 1) / cent * cent).String()
}
