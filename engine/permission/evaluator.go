// Package permission decides whether a call may run: by the rules of the session and its agent,
// the rules of its parent sessions, and the user's approvals. An approval turns an ask into an
// allow, never a deny.
//
// It is pure: the engine asks the user. Start at Evaluator.Decide.
package permission

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// Evaluator decides on permissions for one step: its inputs are loaded at the start of the step.
type Evaluator struct {
	Chain    []Scope // the session's own first, then those of its ancestors
	Approved lathe.Ruleset
	Off      map[string]bool // tools the prompt switched off
}

// Scope holds the rules of one session: its own, then its agent's. No rule of a session loosens
// what the agent itself is denied.
type Scope struct {
	Name    string // of the agent
	Session lathe.Ruleset
	Agent   Rules
	Listed  lathe.Ruleset // the agent's, as a list
}

// Evaluate returns the rule that counts.
func (b Scope) Evaluate(permission, pattern string) lathe.Rule {
	for _, r := range slices.Backward(b.Session) {
		if !lathe.Wildcard(r.Permission, permission) || !lathe.Wildcard(r.Pattern, pattern) {
			continue
		}
		if own, ok := b.Agent.(limiter); ok && r.Action != lathe.Deny {
			if limit, denied := own.Limit(permission, pattern); denied {
				return limit
			}
		}
		return r
	}
	return b.Agent.Evaluate(permission, pattern)
}

// all lists the rules in their order.
func (b Scope) all() lathe.Ruleset {
	if len(b.Session) == 0 {
		return b.Listed
	}
	return append(slices.Clip(b.Listed), b.Session...)
}

// Action is the strictest answer of the session and its ancestors.
func (j Evaluator) Action(permission, pattern string) lathe.Action {
	worst := lathe.Allow
	for _, b := range j.Chain {
		switch b.Evaluate(permission, pattern).Action {
		case lathe.Allow:
		case lathe.Deny:
			return lathe.Deny
		default: // also an unknown action, as an import may have
			worst = lathe.Ask
		}
	}
	return worst
}

// patternAction is action for one pattern of a request, with the ways in which it is written.
func (j Evaluator) patternAction(p tool.Permission, i int) lathe.Action {
	worst := lathe.Allow
	for _, b := range j.Chain {
		rule := b.Evaluate(p.Name, p.Patterns[i])
		said := rule.Action
		if !p.HasRequiredPrefix(rule, i) {
			said = p.EvaluateExplicit(b.all(), i)
		}
		switch action := b.writtenAction(p, i, said); {
		case p.ExplicitOnly && rule.Pattern == "*", action == lathe.Allow:
		case action == lathe.Deny:
			return lathe.Deny
		default: // also an unknown action, as an import may have
			worst = lathe.Ask
		}
	}
	return worst
}

// writtenAction evaluates a pattern in its written forms. A written form that is allowed must meet
// the conditions of all rules, whatever their source.
func (b Scope) writtenAction(p tool.Permission, i int, said lathe.Action) lathe.Action {
	if i >= len(p.Written) || len(p.Written[i]) == 0 {
		return said
	}
	action := p.EvaluateWritten(b.all(), i, said)
	if action == lathe.Allow && said != lathe.Allow && !slices.ContainsFunc(p.Written[i], func(text string) bool { return b.Evaluate(p.Name, text).Action == lathe.Allow }) {
		return said
	}
	return action
}

// Decide says whether a request may continue. One pattern that is denied refuses all of it
// before anything is asked; an approval turns an ask into an allow, and never a deny.
func (j Evaluator) Decide(p tool.Permission) (lathe.Action, error) {
	ask := false
	for i, pattern := range p.Patterns {
		switch j.patternAction(p, i) {
		case lathe.Deny:
			return lathe.Deny, j.denyError(p, pattern)
		case lathe.Ask:
			ask = ask || !j.isApproved(p, i)
		}
	}
	switch action, spelling := j.extraCondition(p); {
	case action == lathe.Deny:
		return lathe.Deny, j.denyError(p, spelling)
	case action == lathe.Ask || ask:
		return lathe.Ask, nil
	}
	return lathe.Allow, nil
}

// extraCondition is the strictest that the session and its ancestors have against a request
// beside its patterns. No approval takes it away.
func (j Evaluator) extraCondition(p tool.Permission) (worst lathe.Action, spelling string) {
	worst = lathe.Allow
	if p.Name != "bash" && len(p.Also) == 0 && len(p.Maybe) == 0 && !p.Unparsed {
		return worst, ""
	}
	for _, b := range j.Chain {
		switch action, text := p.Conflict(b.all()); action {
		case lathe.Deny:
			return action, text
		case lathe.Ask:
			worst = action
		}
	}
	return worst, ""
}

// isApproved reports whether an approval covers a pattern. None covers the permission sandbox.
func (j Evaluator) isApproved(p tool.Permission, i int) bool {
	if p.Name == Sandbox {
		return false
	}
	rule := j.Approved.Evaluate(p.Name, p.Patterns[i])
	return rule.Action == lathe.Allow && (p.HasRequiredPrefix(rule, i) || p.EvaluateExplicit(j.Approved, i) == lathe.Allow)
}

// AllApproved reports whether approvals alone allow the request.
func (j Evaluator) AllApproved(p tool.Permission) bool {
	action, _ := j.extraCondition(p)
	for i := range p.Patterns {
		if !j.isApproved(p, i) {
			return false
		}
	}
	return action == lathe.Allow
}

// denyError is the refusal, with the rules that match the request.
func (j Evaluator) denyError(p tool.Permission, pattern string) error {
	var rules []json.RawMessage
	for _, b := range j.Chain {
		for _, r := range b.all() {
			if lathe.Wildcard(r.Permission, p.Name) {
				line, _ := json.Marshal(map[string]string{"permission": r.Permission, "pattern": r.Pattern, "action": string(r.Action)})
				rules = append(rules, line)
			}
		}
	}
	list, _ := json.Marshal(rules)
	return &Refusal{Code: lathe.Denied, Text: "The user has specified a rule that forbids this call: " + p.Name + " " + quoteList([]string{pattern}) +
		". It was not run. Rules for " + p.Name + ": " + string(list)}
}

// Hide says which tools the model is not shown.
func (j Evaluator) Hide() func(tool.Spec) bool {
	hidden := make([]func(tool.Spec) bool, len(j.Chain))
	for i, b := range j.Chain {
		hidden[i] = tool.Hidden(b.all())
	}
	return func(s tool.Spec) bool {
		return j.Off[s.Name] || slices.ContainsFunc(hidden, func(h func(tool.Spec) bool) bool { return h(s) })
	}
}

// Refusal is why a call was not run. Its text is for the model.
type Refusal struct {
	Code lathe.Code // Denied by a rule, Rejected by the user
	Text string
	// Mark is put on the call, if not "": with [rejectedMark] and [stoppedMark] the turn ends with this step.
	Mark string
}

func (r *Refusal) Error() string { return r.Text }

// Unwrap gives the refusal its code.
func (r *Refusal) Unwrap() error { return &lathe.Error{Code: r.Code, Message: r.Text} }

func quoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = string(lathe.AppendJSONString(nil, s))
	}
	return strings.Join(quoted, ", ")
}

// Rules evaluate requests: a [lathe.Ruleset], or rules that also know their source.
type Rules interface {
	Evaluate(permission, pattern string) lathe.Rule
}

// limiter is implemented by rules that know which denies are the agent's own: no rule of a
// session loosens these.
type limiter interface {
	Limit(permission, pattern string) (lathe.Rule, bool)
}
