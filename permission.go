package lathe

import (
	"strings"
	"unicode/utf8"
)

// Action is what a rule says.
type Action string

// The actions of a rule.
const (
	Allow Action = "allow"
	Deny  Action = "deny"
	Ask   Action = "ask"
)

// Rule says what to do with requests for a permission whose pattern matches. Both may
// hold wildcards.
type Rule struct {
	Permission, Pattern string
	Action              Action
	Extra               Extra
}

// Ruleset is an ordered list of rules; the last that matches counts.
type Ruleset []Rule

func (r *Rule) fields(c *codec) {
	str(c, "permission", &r.Permission)
	str(c, "pattern", &r.Pattern)
	str(c, "action", &r.Action)
	c.rest(&r.Extra)
}

// Check refuses rules with an unknown action or without a permission.
func (rs Ruleset) Check() error {
	for _, r := range rs {
		switch {
		case r.Action != Allow && r.Action != Ask && r.Action != Deny:
			return Errorf(Invalid, "the action of a rule must be allow, ask or deny, not %q", r.Action)
		case r.Permission == "":
			return Errorf(Invalid, "a rule must name a permission such as bash, or * for all")
		}
	}
	return nil
}

// Evaluate returns the last rule that matches, or one that asks.
func (rs Ruleset) Evaluate(permission, pattern string) Rule {
	for i := len(rs) - 1; i >= 0; i-- {
		if r := rs[i]; Wildcard(r.Permission, permission) && Wildcard(r.Pattern, pattern) {
			return r
		}
	}
	return Rule{Permission: permission, Pattern: "*", Action: Ask}
}

// Wildcard reports whether the whole of s matches: * is any run of characters, ? any
// one, back-slashes are slashes, and a pattern that ends in " *" also matches without
// that tail ("git *" matches "git").
func Wildcard(pattern, s string) bool {
	if n := len(pattern); n >= 2 && pattern[n-2:] == " *" && wildcard(pattern[:n-2], s) {
		return true
	}
	return wildcard(pattern, s)
}

// wildcard remembers only the last star, so it never takes more than len(pattern) × len(s).
func wildcard(pattern, s string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(s) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, j
			i++
		case i < len(pattern) && pattern[i] == '?':
			i, j = i+1, j+width(s[j:])
		case i < len(pattern) && slash(pattern[i]) == slash(s[j]):
			i, j = i+1, j+1
		case star >= 0:
			mark += width(s[mark:])
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[i:], "*") == ""
}

// width is the length of the first character in bytes.
func width(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

func slash(c byte) byte {
	if c == '\\' {
		return '/'
	}
	return c
}
