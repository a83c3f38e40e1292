package engine

import (
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/workspace"
)

// harmless are the permissions that no mode asks about. What is not listed may change anything,
// as tools of MCP servers and plugins do.
func harmless() []string {
	return []string{"read", "glob", "grep", "list", "lsp", "webfetch", "websearch", "codesearch", "task", "skill", "todowrite", "todoread"}
}

// WithMode puts the rules of a mode into those of [DefaultRules], below all that are more specific.
// free says that commands may run unasked: they are confined, or the user wants them not to be.
func WithMode(defaults lathe.Ruleset, mode lathe.Mode, free bool) lathe.Ruleset {
	return slices.Concat(defaults[:1], modeRules(mode, free), defaults[1:])
}

func modeRules(mode lathe.Mode, free bool) (rules lathe.Ruleset) {
	if mode != lathe.AskMode && mode != lathe.ReadOnlyMode {
		if !free {
			rules = lathe.Ruleset{ruleOf(lathe.Ask, "bash", "*")}
		}
		return rules
	}
	rules = lathe.Ruleset{ruleOf(lathe.Ask, "*", "*")}
	for _, name := range harmless() {
		rules = append(rules, ruleOf(lathe.Allow, name, "*"))
	}
	if mode == lathe.AskMode {
		return rules
	}
	if free {
		rules = append(rules, ruleOf(lathe.Allow, "bash", "*"))
	}
	return append(rules, ModeDenies(mode)...)
}

// ModeDenies are what a mode denies: the user's own rules loosen it, no project does.
func ModeDenies(m lathe.Mode) lathe.Ruleset {
	if m != lathe.ReadOnlyMode {
		return nil
	}
	return lathe.Ruleset{ruleOf(lathe.Deny, "edit", "*")}
}

// rulesSource is a [Setup] that tells the agents of a directory without starting anything, so that
// a change of the rules counts from the next call on, and not only from the next step.
type rulesSource interface {
	Agents(at workspace.Place) ([]Agent, error)
}

// renewed is the judge with the rules that the agents have now. Approvals and switches are kept.
func renewed(j permission.Judge, agents []Agent) permission.Judge {
	j.Chain = slices.Clone(j.Chain)
	for i, b := range j.Chain {
		if at := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == b.Name }); at >= 0 {
			j.Chain[i].Agent, j.Chain[i].Listed = agents[at].judge(), agents[at].Rules
		}
	}
	return j
}

// renew takes rules that were changed during the step. Settings that cannot be read change nothing.
func (h *host) renew() {
	source, ok := h.step.engine.setup.(rulesSource)
	if !ok {
		return
	}
	if agents, err := source.Agents(h.step.place); err == nil {
		h.judge = renewed(h.judge, agents)
	}
}
