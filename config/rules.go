package config

import (
	"slices"

	"github.com/lathe-agent/lathe"
)

// Rules are the rules of the config for one agent. The general rules count before the agent's
// built-in ones, except where those deny: only agent.NAME.permission loosens such a deny.
type Rules struct {
	// User are the rules of the user and the administrator alone: no project allows what they deny.
	User lathe.Ruleset
	// All are the rules of every source: built-in ones, general ones, those of agent.NAME.permission.
	All lathe.Ruleset
	// Limits are the built-in rules of the agent without the defaults that every agent has.
	Limits lathe.Ruleset
	// Agent are the rules of agent.NAME.permission that may loosen Limits: all of them, or the
	// user's own if the project is not trusted.
	Agent lathe.Ruleset
	// Untrusted is set unless the user trusts the project. It has no rules that allow, but
	// even its others change the order of the user's, which must not turn an ask into less.
	Untrusted bool
}

// Rules returns the general rules of the config.
func (l *Loaded) Rules() Rules {
	return Rules{User: lathe.Ruleset(l.user.Permission), All: lathe.Ruleset(l.Config.Permission), Untrusted: !l.trusted}
}

// HasUserRules reports whether the user has chosen what is allowed: a mode, or their own rules.
func (l *Loaded) HasUserRules() bool {
	return l.user.PermissionMode != "" || len(l.user.Permission) > 0
}

// AgentRules returns the rules of an agent: the defaults of every agent, then what the agent has
// by itself, then the general rules of the config, then those of agent.NAME.permission.
func (l *Loaded) AgentRules(agent string, defaults, limits lathe.Ruleset) Rules {
	r := l.Rules()
	own, all := lathe.Ruleset(l.user.Agents[agent].Permission), lathe.Ruleset(l.Config.Agents[agent].Permission)
	r.User = slices.Concat(r.User, own)
	r.All = slices.Concat(defaults, limits, r.All, all)
	r.Limits, r.Agent = limits, all
	if r.Untrusted {
		r.Agent = own
	}
	return r
}

// Evaluate returns the rule that counts.
func (r Rules) Evaluate(permission, pattern string) lathe.Rule {
	if limit, ok := r.limit(permission, pattern); ok {
		return limit
	}
	rule := r.All.Evaluate(permission, pattern)
	own, ok := last(r.User, permission, pattern)
	if ok && (own.Action == lathe.Deny || r.Untrusted && own.Action == lathe.Ask && rule.Action == lathe.Allow) {
		return own
	}
	return rule
}

// Limit returns the rule by which the agent itself is denied a request, whatever the general
// rules or those of a session say.
func (r Rules) Limit(permission, pattern string) (lathe.Rule, bool) {
	if own, ok := last(r.Agent, permission, pattern); ok && own.Action == lathe.Deny {
		return own, true
	}
	return r.limit(permission, pattern)
}

// limit is the built-in deny that nothing in agent.NAME.permission loosens.
func (r Rules) limit(permission, pattern string) (lathe.Rule, bool) {
	rule, ok := last(r.Limits, permission, pattern)
	if !ok || rule.Action != lathe.Deny {
		return lathe.Rule{}, false
	}
	_, loosened := last(r.Agent, permission, pattern)
	return rule, !loosened
}

// last returns the last rule that matches.
func last(rules lathe.Ruleset, permission, pattern string) (lathe.Rule, bool) {
	for _, r := range slices.Backward(rules) {
		if lathe.Wildcard(r.Permission, permission) && lathe.Wildcard(r.Pattern, pattern) {
			return r, true
		}
	}
	return lathe.Rule{}, false
}

// AgentList returns the same rules as one list in which the last match counts, for clients and
// for the user: where a general rule would loosen a built-in deny, the built-in rules from the
// first deny on stand behind the general ones, and behind them what these say of the exceptions.
func (l *Loaded) AgentList(agent string, defaults, limits lathe.Ruleset) lathe.Ruleset {
	general, own := lathe.Ruleset(l.Config.Permission), lathe.Ruleset(l.user.Agents[agent].Permission)
	out := slices.Concat(defaults, limits, general)
	if loosens(general, limits) {
		first := slices.IndexFunc(limits, func(r lathe.Rule) bool { return r.Action == lathe.Deny })
		out = slices.Concat(defaults, limits[:first], general, limits[first:], onExceptions(limits[first:], general))
	}
	for _, r := range l.Config.Agents[agent].Permission {
		if l.trusted || slices.Contains(own, r) || !loosens(lathe.Ruleset{r}, limits) {
			out = append(out, r)
		}
	}
	return out
}

// loosens reports whether a rule of the one list that does not deny meets a deny of the other.
func loosens(rules, limits lathe.Ruleset) bool {
	return slices.ContainsFunc(rules, func(r lathe.Rule) bool {
		return r.Action != lathe.Deny && slices.ContainsFunc(limits, func(l lathe.Rule) bool {
			_, meet := both(l, r)
			return l.Action == lathe.Deny && meet
		})
	})
}

// onExceptions returns the rules for the exceptions to the limits' denies.
func onExceptions(limits, rules lathe.Ruleset) (out lathe.Ruleset) {
	for _, r := range rules {
		for i, exception := range limits {
			if exception.Action == lathe.Deny {
				continue
			}
			meant, ok := both(exception, r)
			// A wider exception before this one has the same effect.
			if ok && !slices.ContainsFunc(limits[:i], func(o lathe.Rule) bool {
				return o.Action != lathe.Deny && o.Permission == exception.Permission && o.Pattern == "*"
			}) {
				out = append(out, meant)
			}
		}
	}
	return out
}

// both is the rule r for what the other rule matches too, where one of the two includes the other.
func both(other, r lathe.Rule) (lathe.Rule, bool) {
	permission, ok := narrower(other.Permission, r.Permission)
	pattern, also := narrower(other.Pattern, r.Pattern)
	return lathe.Rule{Permission: permission, Pattern: pattern, Action: r.Action}, ok && also
}

func narrower(a, b string) (string, bool) {
	switch {
	case lathe.Wildcard(a, b):
		return b, true
	case lathe.Wildcard(b, a):
		return a, true
	}
	return "", false
}
