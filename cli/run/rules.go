package run

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/tool"
)

// ruleFlag is --allow or --deny. Both fill one list, because the last matching rule wins.
type ruleFlag struct {
	rules  *lathe.Ruleset
	action lathe.Action
}

// Set reads PERMISSION or PERMISSION:PATTERN.
func (f ruleFlag) Set(text string) error {
	name, pattern, narrowed := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	if name == "" || narrowed && strings.TrimSpace(pattern) == "" || strings.ContainsAny(name, " \t/") {
		return cli.Usagef("want a permission or permission:pattern, such as edit or 'bash:git *'")
	}
	if !narrowed {
		pattern = "*"
	}
	*f.rules = append(*f.rules, lathe.Rule{Permission: name, Pattern: pattern, Action: f.action})
	return nil
}

func (f ruleFlag) String() string { return "" }

// Type names the value in the help.
func (f ruleFlag) Type() string { return "RULE" }

// sessionRules returns the flag rules that the session must have: deny rules and the exceptions after them. An
// exception becomes Ask and is answered here: session rules override the config and must not allow what it denies.
func sessionRules(flags lathe.Ruleset) lathe.Ruleset {
	first := slices.IndexFunc(flags, func(r lathe.Rule) bool { return r.Action == lathe.Deny })
	if first < 0 {
		return nil
	}
	out := slices.Clone(flags[first:])
	for i := range out {
		if out[i].Action == lathe.Allow {
			out[i].Action = lathe.Ask
		}
	}
	return out
}

// hasExceptions reports whether any rule is Ask.
func hasExceptions(rules lathe.Ruleset) bool {
	return slices.ContainsFunc(rules, func(r lathe.Rule) bool { return r.Action == lathe.Ask })
}

// evaluate decides a request by the flags. It allows a request only if every pattern is allowed and the config denies
// neither the request nor the unknown parts of a command.
func (r *runner) evaluate(ctx context.Context, q lathe.PermissionRequest) lathe.Action {
	rules := r.flags.rules
	if len(rules) == 0 || len(q.Patterns) == 0 {
		return lathe.Ask
	}
	exceptions, open := hasExceptions(sessionRules(rules)), len(unknownOf(q)) > 0
	for _, a := range r.agentsOf(ctx, q, exceptions || open) {
		denied := func(pattern string) bool { return ActionOf(a, q.Permission, pattern) == lathe.Deny }
		switch {
		case exceptions && slices.ContainsFunc(q.Patterns, denied):
			return lathe.Deny
		case open && (a.Name == "" || slices.ContainsFunc(a.Rules, func(r lathe.Rule) bool { return isSpecificDeny(r, q.Permission) })):
			return lathe.Ask
		}
	}
	p := permissionOf(q)
	for i := range p.Patterns {
		if p.Evaluate(rules, i) != lathe.Allow {
			return lathe.Ask
		}
	}
	return lathe.Allow
}

// permissionOf converts a request, with the metadata that rules need.
func permissionOf(q lathe.PermissionRequest) tool.Permission {
	var meta struct {
		Spelled []string
		Written [][]string
	}
	_ = json.Unmarshal(q.Metadata, &meta) // other tools have metadata of their own
	return tool.Permission{Name: q.Permission, Patterns: q.Patterns, RequiredPrefix: meta.Spelled, Written: meta.Written}
}

func isSpecificDeny(r lathe.Rule, permission string) bool {
	return r.Action == lathe.Deny && r.Pattern != "*" && lathe.Wildcard(r.Permission, permission)
}

// agentsOf returns the agents whose config rules apply to a request: the agent of the turn and that of the asking
// session. An unnamed agent that denies everything stands for an unknown one.
func (r *runner) agentsOf(ctx context.Context, q lathe.PermissionRequest, wanted bool) []engine.Agent {
	if !wanted {
		return nil
	}
	unknown := []engine.Agent{{Agent: lathe.Agent{Rules: lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Deny}}}}}
	s, err := r.turn.Engine.Get(ctx, q.Session)
	own, ok := r.turn.Engine.(*engine.Engine)
	if err != nil || r.flags.environment == nil || !ok {
		return unknown
	}
	at, err := own.Locate(ctx, s.Directory)
	if err != nil {
		return unknown
	}
	settings, err := r.flags.environment.Settings(ctx, at)
	if err != nil {
		return unknown
	}
	out := slices.DeleteFunc(slices.Clone(settings.Agents), func(a engine.Agent) bool { return a.Name != r.turn.Record.Agent && a.Name != s.Agent })
	if len(out) == 0 {
		return unknown
	}
	return out
}

// ActionOf evaluates the rules of an agent.
func ActionOf(a engine.Agent, permission, pattern string) lathe.Action {
	if a.Permissions != nil {
		return a.Permissions.Evaluate(permission, pattern).Action
	}
	return a.Rules.Evaluate(permission, pattern).Action
}

// withRules adds the flag rules to an existing session while f runs. They stay if the program dies, because that is
// the stricter outcome.
func withRules(ctx context.Context, e api.Engine, s lathe.Session, flags lathe.Ruleset, f func() error) error {
	rules := sessionRules(flags)
	if len(rules) == 0 {
		return f()
	}
	if _, err := e.Update(ctx, s.ID, lathe.Edit{Rules: lathe.Some(append(slices.Clip(s.Rules), rules...))}); err != nil {
		return err
	}
	err := f()
	if _, failed := e.Update(context.WithoutCancel(ctx), s.ID, lathe.Edit{Rules: lathe.Some(s.Rules)}); err == nil && lathe.CodeOf(failed) != lathe.NotFound {
		err = failed
	}
	return err
}
