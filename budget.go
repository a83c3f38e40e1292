package lathe

import "time"

// Spending is what work has used: money, tokens of all kinds, steps, and time in which the
// session was at work and did not wait for a person. As a limit, zero members mean none.
type Spending struct {
	Cost   Money
	Tokens int64
	Steps  int64
	Time   time.Duration
}

// Add returns the sum of both.
func (s Spending) Add(o Spending) Spending {
	return Spending{Cost: add(s.Cost, o.Cost), Tokens: add(s.Tokens, o.Tokens), Steps: add(s.Steps, o.Steps), Time: add(s.Time, o.Time)}
}

// IsZero reports whether nothing was used, or nothing is limited.
func (s Spending) IsZero() bool { return s == Spending{} }

// Budget is how much may be spent: by a session and all below it, in one day, in one project.
type Budget struct {
	Session, Day, Project Spending
	// Share is the part of its parent's limit that a child may draw, in (0, 1].
	Share float64
}

// Account is the spending on one thing, the possible cost of running requests, and the limit, if there is one.
type Account struct {
	Kind            AccountKind
	Key             string // a session, a day as 2006-01-02, a project
	Spent, Reserved Spending
	Limit           Spending
}

// AccountKind says what an account counts.
type AccountKind string

// The kinds of accounts.
const (
	SessionAccount AccountKind = "session" // with all sessions below it
	DayAccount     AccountKind = "day"
	ProjectAccount AccountKind = "project"
)

// TokensUsed counts all tokens of a request alike.
func TokensUsed(t Tokens) int64 {
	sum := add(add(t.Input, t.Output), t.Reasoning)
	return add(add(sum, t.Cache.Read), t.Cache.Write)
}
