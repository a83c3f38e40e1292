package usage

import (
	"cmp"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// Stats is the result of a count. Lists have the largest first, except days, which are sorted
// by date. As JSON it is the output of `lathe stats --json`.
type Stats struct {
	Sessions  int `json:"sessions"`  // started by users
	Subagents int `json:"subagents"` // sessions of subagents
	Messages  int `json:"messages"`
	Prompts   int `json:"prompts"`
	Answers   int `json:"answers"`
	Calls     int `json:"calls"`
	Days      int `json:"days"` // with at least one message

	First lathe.Time `json:"first,omitempty"`
	Last  lathe.Time `json:"last,omitempty"`

	Usage Usage `json:"usage"`
	// MedianTokens is the median of the sessions started by users, each including its subagents.
	MedianTokens int64 `json:"medianTokensPerSession"`

	ByModel   []Model        `json:"byModel"`
	ByTool    []Tool         `json:"byTool"`
	ByDay     []Day          `json:"byDay"`
	ByProject []Project      `json:"byProject"`
	Checks    map[string]int `json:"checks"` // how often each check fired

	Harness *Harness `json:"harness,omitempty"`
}

// TokensPerSession is the mean number of tokens per session started by a user.
func (f Stats) TokensPerSession() int64 { return f.Usage.Tokens.Total() / int64(max(f.Sessions, 1)) }

// Usage is the number of messages, cost and tokens.
type Usage struct {
	Cost   lathe.Money
	Steps  int
	Tokens Tokens
}

// Tokens are counted as providers do: cache reads and writes are not part of the input.
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

// Total is the sum of all tokens.
func (t Tokens) Total() int64 { return plus(t.Sent(), plus(t.Output, t.Reasoning)) }

// Sent is the number of tokens sent, cached or not.
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

// Model is the usage of one model.
type Model struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
	Answers  int    `json:"answers"`
	Errors   int    `json:"errors"`
	Usage    Usage  `json:"usage"`
}

// Name is provider/model.
func (m Model) Name() string { return m.Provider + "/" + m.Model }

// Tool is the number, failures, time and output of the calls of one tool.
type Tool struct {
	Name         string `json:"tool"`
	Calls        int    `json:"calls"`
	Errors       int    `json:"errors"`
	Milliseconds int64  `json:"milliseconds"` // concurrent calls all count
	OutputBytes  int64  `json:"outputBytes"`  // without large values, which are files
}

// Day is the usage of one day.
type Day struct {
	Date     string `json:"date"` // 2006-01-02
	Messages int    `json:"messages"`
	Usage    Usage  `json:"usage"`
}

// Project is the usage of one project.
type Project struct {
	ID       string `json:"projectID"`
	Worktree string `json:"worktree,omitempty"` // filled in by the caller
	Sessions int    `json:"sessions"`
	Messages int    `json:"messages"`
	Usage    Usage  `json:"usage"`
}

// Rate is a count out of a total.
type Rate struct{ Count, Of int }

// Share is between 0 and 1, and 0 for an empty total.
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
