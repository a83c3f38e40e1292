package usage

import (
	"cmp"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// Stats is what was counted, the lists with the largest first and days in their order. As JSON
// it is what `lathe stats --json` prints.
type Stats struct {
	Sessions  int `json:"sessions"`  // those that people began
	Subagents int `json:"subagents"` // those below them
	Messages  int `json:"messages"`
	Prompts   int `json:"prompts"`
	Answers   int `json:"answers"`
	Calls     int `json:"calls"`
	Days      int `json:"days"` // on which something was said

	First lathe.Time `json:"first,omitempty"`
	Last  lathe.Time `json:"last,omitempty"`

	Usage Usage `json:"usage"`
	// MedianTokens is that of the sessions people began, with the subagents of each.
	MedianTokens int64 `json:"medianTokensPerSession"`

	ByModel   []Model        `json:"byModel"`
	ByTool    []Tool         `json:"byTool"`
	ByDay     []Day          `json:"byDay"`
	ByProject []Project      `json:"byProject"`
	Checks    map[string]int `json:"checks"` // firings by name

	Harness *Harness `json:"harness,omitempty"`
}

// TokensPerSession is the mean.
func (f Stats) TokensPerSession() int64 { return f.Usage.Tokens.Total() / int64(max(f.Sessions, 1)) }

// Usage is what was used.
type Usage struct {
	Cost   lathe.Money
	Steps  int
	Tokens Tokens
}

// Tokens are counted as providers do: what came from a cache or went to one is no input.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
}

func tokensOf(t lathe.Tokens) Tokens {
	return Tokens{t.Input, t.Output, t.Reasoning, t.Cache.Read, t.Cache.Write}
}

// Total is the sum of all.
func (t Tokens) Total() int64 { return plus(t.Sent(), plus(t.Output, t.Reasoning)) }

// Sent is what was sent, from whatever place the provider took it.
func (t Tokens) Sent() int64 { return plus(t.Input, plus(t.CacheRead, t.CacheWrite)) }

func (t Tokens) add(u Tokens) Tokens {
	return Tokens{
		plus(t.Input, u.Input), plus(t.Output, u.Output), plus(t.Reasoning, u.Reasoning),
		plus(t.CacheRead, u.CacheRead), plus(t.CacheWrite, u.CacheWrite),
	}
}

// plus saturates instead of wrapping: old data holds absurd counts.
func plus(a, b int64) int64 { return int64(lathe.Money(a).Add(lathe.Money(b))) }

func (t Tokens) over(n int) Tokens {
	d := int64(max(n, 1))
	return Tokens{t.Input / d, t.Output / d, t.Reasoning / d, t.CacheRead / d, t.CacheWrite / d}
}

func (u Usage) add(v Usage) Usage {
	return Usage{u.Cost.Add(v.Cost), u.Steps + v.Steps, u.Tokens.add(v.Tokens)}
}

func (u Usage) compare(v Usage) int {
	return cmp.Or(cmp.Compare(u.Cost, v.Cost), cmp.Compare(u.Tokens.Total(), v.Tokens.Total()))
}

// MarshalJSON writes the cost in dollars and the sum of the tokens.
func (u Usage) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Cost   float64 `json:"cost"`
		Steps  int     `json:"steps"`
		Total  int64   `json:"tokensTotal"`
		Tokens Tokens  `json:"tokens"`
	}{u.Cost.Dollars(), u.Steps, u.Tokens.Total(), u.Tokens})
}

// Model is what one model did.
type Model struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
	Answers  int    `json:"answers"`
	Errors   int    `json:"errors"`
	Usage    Usage  `json:"usage"`
}

// Name is provider/model.
func (m Model) Name() string { return m.Provider + "/" + m.Model }

// Tool is what became of the calls of one tool.
type Tool struct {
	Name         string `json:"tool"`
	Calls        int    `json:"calls"`
	Errors       int    `json:"errors"`
	Milliseconds int64  `json:"milliseconds"` // calls at the same time count each
	OutputBytes  int64  `json:"outputBytes"`  // without values so large that they are files
}

// Day is what was used on one day.
type Day struct {
	Date     string `json:"date"` // 2006-01-02
	Messages int    `json:"messages"`
	Usage    Usage  `json:"usage"`
}

// Project is what was used in one project.
type Project struct {
	ID       string `json:"projectID"`
	Worktree string `json:"worktree,omitempty"` // for whoever knows it to fill in
	Sessions int    `json:"sessions"`
	Messages int    `json:"messages"`
	Usage    Usage  `json:"usage"`
}

// Rate is how many of how many.
type Rate struct{ Count, Of int }

// Share is between 0 and 1; of nothing it is 0.
func (r Rate) Share() float64 {
	if r.Of == 0 {
		return 0
	}
	return float64(r.Count) / float64(r.Of)
}

// MarshalJSON writes count, of and share.
func (r Rate) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Count int     `json:"count"`
		Of    int     `json:"of"`
		Share float64 `json:"share"`
	}{r.Count, r.Of, r.Share()})
}

func (r *Rate) note(yes bool) {
	r.Of++
	if yes {
		r.Count++
	}
}
