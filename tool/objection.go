package tool

import (
	"strings"

	"github.com/lathe-agent/lathe"
)

// Objection is what rules have against a request beside what they say of its patterns: Deny
// with the spelling they deny, Ask, or Allow for nothing.
//
// Rules for everything, "*", speak of the patterns alone: another spelling of what a rule
// allows by name is allowed as well.
func (p Permission) Objection(rules lathe.Ruleset) (lathe.Action, string) {
	for _, text := range p.Also {
		if p.denies(rules, text) {
			return lathe.Deny, text
		}
	}
	if p.Unread {
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
		if lathe.Wildcard(r.Permission, p.Name) && lathe.Wildcard(r.Pattern, text) && (r.Pattern != "*" || r.Action != lathe.Deny) {
			return r.Action == lathe.Deny
		}
	}
	return false
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
		case r.Pattern != "*" && overlap(r.Pattern, mask):
			return true
		}
	}
	return false
}

// overlap reports whether a text matches both patterns. That it says yes too often does no
// harm: then somebody is asked.
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
