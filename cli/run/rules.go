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

// ruleFlag is --allow or --deny: they go into one list, because the last rule that matches counts.
type ruleFlag struct {
	rules  *lathe.Ruleset
	action lathe.Action
}

// Set reads PERMISSION or PERMISSION:PATTERN.
func (f ruleFlag) Set(text string) error {
	name, pattern, narrowed := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	if name == "" || narrowed && strings.TrimSpace(pattern) == "" || strings.ContainsAny(name, " \t/") {
		return cli.Usagef("write a permission, or permission:pattern: edit, 'bash:git *'")
	}
	if !narrowed {
		pattern = "*"
	}
	*f.rules = append(*f.rules, lathe.Rule{Permission: name, Pattern: pattern, Action: f.action})
	return nil
}

func (f ruleFlag) String() string { return "" }

// Type is what the help calls a value.
func (f ruleFlag) Type() string { return "RULE" }

// sessionRules are those of the flags that the session must have: what is denied, and behind a deny
// what is not meant by it. That is asked about, and answered here: a rule of a session counts
// before those of the settings, and must not allow what they deny.
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

// hasExceptions reports whether rules hold something to ask about.
func hasExceptions(rules lathe.Ruleset) bool {
	return slices.ContainsFunc(rules, func(r lathe.Rule) bool { return r.Action == lathe.Ask })
}

// ruled is what the flags say of a request: allowed is one whose every pattern is. The settings are
// asked too: what a flag brought into question must not be what they deny, and neither must what the
// text of a command leaves open.
func (r *runner) ruled(ctx context.Context, q lathe.PermissionRequest) lathe.Action {
	rules := r.flags.rules
	if len(rules) == 0 || len(q.Patterns) == 0 {
		return lathe.Ask
	}
	exceptions, open := hasExceptions(sessionRules(rules)), len(unknownOf(q)) > 0
	for _, a := range r.judges(ctx, q, exceptions || open) {
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

// permissionOf is a request with what its metadata say of how rules may be held against it.
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

// judges are the agents whose rules of the settings bind a request, if those are wanted: that of the
// turn, and that of the session which asks. One without a name, which denies all, stands for those that
// are not known.
func (r *runner) judges(ctx context.Context, q lathe.PermissionRequest, wanted bool) []engine.Agent {
	if !wanted {
		return nil
	}
	unknown := []engine.Agent{{Agent: lathe.Agent{Rules: lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Deny}}}}}
	s, err := r.turn.Engine.Get(ctx, q.Session)
	own, ok := r.turn.Engine.(*engine.Engine)
	if err != nil || r.flags.judge == nil || !ok {
		return unknown
	}
	at, err := own.Locate(ctx, s.Directory)
	if err != nil {
		return unknown
	}
	settings, err := r.flags.judge.Settings(ctx, at)
	if err != nil {
		return unknown
	}
	out := slices.DeleteFunc(slices.Clone(settings.Agents), func(a engine.Agent) bool { return a.Name != r.turn.Record.Agent && a.Name != s.Agent })
	if len(out) == 0 {
		return unknown
	}
	return out
}

// ActionOf is what the rules of an agent say.
func ActionOf(a engine.Agent, permission, pattern string) lathe.Action {
	if a.Permissions != nil {
		return a.Permissions.Evaluate(permission, pattern).Action
	}
	return a.Rules.Evaluate(permission, pattern).Action
}

// withRules gives a session that is gone on with the rules of the flags while f runs. If the program
// dies, they stay: that is the stricter way.
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
