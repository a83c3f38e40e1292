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

// childShare is the part of its parent's budget a child may draw, where nothing else is said.
const childShare = 0.5

// bound is a limit of the settings as the engine takes it: 0 is its default, negative none.
func bound(l config.Limit) time.Duration {
	if l.Off {
		return -1
	}
	return time.Duration(l.Milliseconds) * time.Millisecond
}

func retryOf(r config.Retry) engine.Retry {
	return engine.Retry{MaxWait: bound(r.MaxWait), Attempts: limit(r.Attempts)}
}

// limit is a number of the settings as the engine takes it: 0 is its default, negative none.
func limit(n *int) int {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	}
	return *n
}

// CompactionOf is how the engine is to compress histories; a 0 of the settings is none to it.
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

// modelRefs reads names of models; what is no name was told when the settings were checked.
func modelRefs(names []string) (out []lathe.ModelRef) {
	for _, name := range names {
		if vendor, id, err := catalog.Split(name); err == nil {
			out = append(out, lathe.ModelRef{Provider: vendor, Model: id})
		}
	}
	return out
}

// imagesOf is how images are made smaller, as the engine has it.
func imagesOf(c config.ImageAttachment) prompt.Images {
	return prompt.Images{Off: c.AutoResize != nil && !*c.AutoResize, Width: c.MaxWidth, Height: c.MaxHeight, Bytes: c.MaxBase64Bytes}
}

// leastBrief is how many words a task has at least, where the settings say nothing: a shorter
// one leaves the agent guessing.
const leastBrief = 40

// subagentsOf is what the settings say of tasks for other agents.
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
