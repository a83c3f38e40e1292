package harness

import (
	"time"

	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/subagent"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/model/catalog"
)

// childShare is the default share of its parent's budget that a child may use.
const childShare = 0.5

// bound converts a limit of the config for the engine: 0 means the default, negative no limit.
func bound(l config.Limit) time.Duration {
	if l.Off {
		return -1
	}
	return time.Duration(l.Milliseconds) * time.Millisecond
}

func retryOf(r config.Retry) engine.Retry {
	return engine.Retry{MaxWait: bound(r.MaxWait), Attempts: limit(r.Attempts)}
}

// limit converts a number of the config for the engine: 0 means the default, negative no limit.
func limit(n *int) int {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	}
	return *n
}

// CompactionOf returns the compaction options of the config. A 0 in the config means none to the engine.
func CompactionOf(c config.Compaction) compact.Settings {
	return compact.Settings{
		Off: c.Auto != nil && !*c.Auto, Prune: c.Prune != nil && *c.Prune,
		Reserved: limit(c.Reserved), TailTurns: limit(c.TailTurns), TailTokens: limit(c.PreserveRecentTokens),
	}
}

func BudgetOf(b config.Budget) lathe.Budget {
	out := lathe.Budget{Session: spendingOf(b.Session), Day: spendingOf(b.Day), Project: spendingOf(b.Project), Share: b.Share}
	if out.Share <= 0 || out.Share > 1 {
		out.Share = childShare
	}
	return out
}

func spendingOf(s config.Spending) lathe.Spending {
	return lathe.Spending{Cost: max(lathe.Dollars(s.Cost), 0), Tokens: int64(s.Tokens), Steps: int64(s.Steps), Time: time.Duration(s.Time) * time.Millisecond}
}

// modelRefs parses names of models. It skips invalid ones, which the check of the config has reported.
func modelRefs(names []string) (out []lathe.ModelRef) {
	for _, name := range names {
		if vendor, id, err := catalog.Split(name); err == nil {
			out = append(out, lathe.ModelRef{Provider: vendor, Model: id})
		}
	}
	return out
}

// imagesOf returns the engine's options for shrinking images.
func imagesOf(c config.ImageAttachment) prompt.Images {
	return prompt.Images{Off: c.AutoResize != nil && !*c.AutoResize, Width: c.MaxWidth, Height: c.MaxHeight, Bytes: c.MaxBase64Bytes}
}

// leastBrief is the default minimum of words in a task. A shorter one leaves the agent guessing.
const leastBrief = 40

// subagentsOf returns the options for subagents.
func subagentsOf(c config.Config) subagent.Limits {
	s := c.Subagents
	out := subagent.Limits{
		Depth: limit(c.SubagentDepth), Parallel: limit(s.Parallel), Writers: limit(s.Writers),
		MinBrief: leastBrief, Primary: c.Experimental.PrimaryTools, Background: s.Background == nil || *s.Background,
	}
	if s.Brief != nil {
		out.MinBrief = *s.Brief
	}
	return out
}
