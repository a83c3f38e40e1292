package tool

import (
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Conflict returns an objection of rules to a request beyond its patterns: Deny with the denied
// spelling, Ask, or Allow for none.
//
// Rules for everything, "*", speak of the patterns alone: another spelling of what a rule
// allows by name is allowed as well.
func (p Permission) Conflict(rules lathe.Ruleset) (lathe.Action, string) {
	for _, text := range p.Also {
		if p.denies(rules, text) {
			return lathe.Deny, text
		}
	}
	if p.Name == "bash" && slices.ContainsFunc(rules, func(r lathe.Rule) bool { return r.Action == lathe.Deny && isQuoted(r.Pattern) }) {
		for _, text := range p.Patterns { // rules see them as they are, but not without their own quotes
			if p.denies(rules, text) {
				return lathe.Deny, text
			}
		}
	}
	if p.Unparsed {
		return lathe.Ask, ""
	}
	for _, mask := range p.Maybe {
		if p.mayMeet(rules, mask) {
			return lathe.Ask, mask
		}
	}
	return lathe.Allow, ""
}

func (p Permission) denies(rules lathe.Ruleset, text string) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		r := rules[i]
		if !lathe.Wildcard(r.Permission, p.Name) || r.Pattern == "*" && r.Action == lathe.Deny {
			continue
		}
		if lathe.Wildcard(r.Pattern, text) || r.Action == lathe.Deny && beginsLike(r.Pattern, text) && isQuoted(r.Pattern) && lathe.Wildcard(withoutQuotes(r.Pattern), text) {
			return r.Action == lathe.Deny
		}
	}
	return false
}

func isQuoted(pattern string) bool { return strings.ContainsAny(pattern, `'"`) }

// beginsLike is false where a pattern cannot match because of how it begins. It is for many rules,
// most of which are about something else.
func beginsLike(pattern, text string) bool {
	for i := range min(len(pattern), len(text)) {
		switch c := pattern[i]; {
		case strings.IndexByte(`*?'"`, c) >= 0 || text[i] == '*':
			return true
		case c != text[i] && c != '\\' && c != '/':
			return false
		}
	}
	return true
}

// withoutQuotes takes quotes out of a pattern. A rule that denies something denies it however it is
// quoted, and without quotes is one of the spellings.
func withoutQuotes(pattern string) string {
	return strings.NewReplacer("'", "", `"`, "").Replace(pattern)
}

// EvaluateWritten evaluates rules for one of the patterns and all its spellings. said is their
// result for the pattern alone. What they deny stays denied.
func (p Permission) EvaluateWritten(rules lathe.Ruleset, i int, said lathe.Action) lathe.Action {
	if said == lathe.Deny || i >= len(p.Written) || len(p.Written[i]) == 0 {
		return said
	}
	at, out := p.last(rules, p.Patterns[i]), said
	for _, text := range p.Written[i] {
		n := p.last(rules, text)
		switch {
		case n <= at:
		case rules[n].Action == lathe.Allow:
			out = lathe.Allow
		case rules[n].Pattern != "*":
			return lathe.Ask
		}
	}
	return out
}

// HasRequiredPrefix reports whether a rule that allows one of the patterns spells out what it
// must: what is beside the commands, such as "> file", is not meant by a rule that begins with
// a wildcard.
func (p Permission) HasRequiredPrefix(r lathe.Rule, i int) bool {
	if r.Action == lathe.Allow && p.namesAnother(r) {
		return false
	}
	if r.Action != lathe.Allow || r.Pattern == "*" {
		return true
	}
	if strings.HasPrefix(r.Pattern, "*") && p.Name == "bash" && isExtraPattern(p.Patterns[i]) {
		return false
	}
	return i >= len(p.RequiredPrefix) || p.RequiredPrefix[i] == "" || strings.HasPrefix(literal(r.Pattern), p.RequiredPrefix[i])
}

// literal is a pattern up to its first wildcard.
func literal(pattern string) string {
	if end := strings.IndexAny(pattern, "*?"); end >= 0 {
		return pattern[:end]
	}
	return pattern
}

// namesAnother reports whether a rule is one for another MCP server than that of the request: a_* is for
// server a, also where there is a server a_b.
func (p Permission) namesAnother(r lathe.Rule) bool {
	named, begin := "", literal(r.Permission)
	for _, s := range p.Servers {
		if strings.HasPrefix(begin, s+"_") && len(s) > len(named) {
			named = s
		}
	}
	return named != "" && named != p.Server
}

// isExtraPattern reports whether a pattern is no command: a file that is written, a variable that is
// set, an option, something unknown.
func isExtraPattern(pattern string) bool {
	name, _, ok := strings.Cut(pattern, "=")
	return strings.HasPrefix(pattern, "<") || strings.HasPrefix(pattern, ">") || ok && !strings.ContainsAny(name, " '/")
}

// EvaluateExplicit returns the action of the last rule that matches one of the patterns and has
// the required prefix.
func (p Permission) EvaluateExplicit(rules lathe.Ruleset, i int) lathe.Action {
	for _, r := range slices.Backward(rules) {
		if p.HasRequiredPrefix(r, i) && lathe.Wildcard(r.Permission, p.Name) && lathe.Wildcard(r.Pattern, p.Patterns[i]) {
			return r.Action
		}
	}
	return lathe.Ask
}

// Evaluate evaluates rules for one of the patterns.
func (p Permission) Evaluate(rules lathe.Ruleset, i int) lathe.Action {
	rule := rules.Evaluate(p.Name, p.Patterns[i])
	said := rule.Action
	if !p.HasRequiredPrefix(rule, i) {
		said = p.EvaluateExplicit(rules, i)
	}
	return p.EvaluateWritten(rules, i, said)
}

// last is the index of the last rule that matches; -1 means none.
func (p Permission) last(rules lathe.Ruleset, text string) int {
	for i := len(rules) - 1; i >= 0; i-- {
		if lathe.Wildcard(rules[i].Permission, p.Name) && lathe.Wildcard(rules[i].Pattern, text) {
			return i
		}
	}
	return -1
}

// mayMeet reports whether a text of which parts are unknown could be one that a rule denies or
// asks about, and no later rule allows however it comes out.
func (p Permission) mayMeet(rules lathe.Ruleset, mask string) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		r := rules[i]
		switch {
		case !lathe.Wildcard(r.Permission, p.Name):
		case r.Action == lathe.Allow:
			if !strings.Contains(r.Pattern, "?") && lathe.Wildcard(r.Pattern, mask) {
				return false
			}
		case r.Pattern != "*" && beginsLike(r.Pattern, mask) && overlap(withoutQuotes(r.Pattern), mask):
			return true
		}
	}
	return false
}

// overlap reports whether a text matches both patterns. A false yes does no harm: then the user
// is asked.
func overlap(rule, mask string) bool {
	if head, ok := strings.CutSuffix(rule, " *"); ok && common(head, mask) {
		return true
	}
	return common(rule, mask)
}

// common goes through both patterns at once: row j of the table says whether rule[:i] and
// mask[:j] have a text in common.
func common(rule, mask string) bool {
	row := make([]bool, len(mask)+1)
	row[0] = true
	for j := 1; j <= len(mask) && mask[j-1] == '*'; j++ {
		row[j] = true
	}
	for i := range len(rule) {
		next := make([]bool, len(mask)+1)
		next[0] = row[0] && rule[i] == '*'
		for j := range len(mask) {
			switch r, m := rule[i], mask[j]; {
			case r == '*' || m == '*':
				next[j+1] = next[j] || row[j+1] || row[j]
			case r == '?' || r >= 0x80 || m >= 0x80: // a character may have several bytes
				next[j+1] = row[j] || r >= 0x80 && row[j+1] || m >= 0x80 && next[j]
			case r == m || r == '\\' && m == '/' || r == '/' && m == '\\':
				next[j+1] = row[j]
			}
		}
		row = next
	}
	return row[len(mask)]
}
