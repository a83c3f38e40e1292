package tool

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
)

// A text that a rule matches and that a mask could come to is never missed.
func TestOverlap(t *testing.T) {
	pattern := rapid.StringOfN(rapid.SampledFrom([]rune(`ab *?/\é`)), 0, 6, -1)
	text := rapid.StringOfN(rapid.SampledFrom([]rune(`ab /\é`)), 0, 6, -1)
	met := 0
	rapid.Check(t, func(r *rapid.T) {
		rule, s := pattern.Draw(r, "rule"), text.Draw(r, "text")
		mask := []rune(s) // some of the text becomes unknown
		for i := range mask {
			if rapid.IntRange(0, 2).Draw(r, "unknown") == 0 {
				mask[i] = '*'
			}
		}
		if !lathe.Wildcard(rule, s) {
			return
		}
		met++
		if !beginsLike(rule, string(mask)) || !overlap(rule, string(mask)) {
			r.Fatalf("the rule %q matches %q, which %q could be", rule, s, string(mask))
		}
	})
	if met == 0 {
		t.Error("no rule matched anything")
	}
	for _, no := range [][2]string{{"rm *", "ls*"}, {"git push*", "git status *"}, {"a", "b*"}, {"", "a"}} {
		if overlap(no[0], no[1]) {
			t.Errorf("%q and %q have nothing in common", no[0], no[1])
		}
	}
}

// A rule for an MCP server allows no tool of another one whose name begins with its own; what it denies stays denied.
func TestPermission_Servers(t *testing.T) {
	servers := []string{"a", "a_b"}
	rule := func(permission string, action lathe.Action) lathe.Rule {
		return lathe.Rule{Permission: permission, Pattern: "*", Action: action}
	}
	for _, tt := range []struct {
		server, name string
		rules        lathe.Ruleset
		want         lathe.Action
	}{
		{"a", "a_x", lathe.Ruleset{rule("*", lathe.Ask), rule("a_*", lathe.Allow)}, lathe.Allow},
		{"a_b", "a_b_x", lathe.Ruleset{rule("*", lathe.Ask), rule("a_*", lathe.Allow)}, lathe.Ask},
		{"a_b", "a_b_x", lathe.Ruleset{rule("*", lathe.Ask), rule("a_b_*", lathe.Allow)}, lathe.Allow},
		{"a_b", "a_b_x", lathe.Ruleset{rule("*", lathe.Deny), rule("a_*", lathe.Allow)}, lathe.Deny},
		{"a_b", "a_b_x", lathe.Ruleset{rule("*", lathe.Allow), rule("a_*", lathe.Deny)}, lathe.Deny},
		{"a_b", "a_b_x", lathe.Ruleset{rule("*", lathe.Allow)}, lathe.Allow},
		{"a_b", "a_b_x", lathe.Ruleset{rule("*", lathe.Ask), rule("a*", lathe.Allow)}, lathe.Allow},
	} {
		p := Permission{Name: tt.name, Patterns: []string{"*"}, Server: tt.server, Servers: servers}
		if got := p.Evaluate(tt.rules, 0); got != tt.want {
			t.Errorf("%s under %v: %s, not %s", tt.name, tt.rules, got, tt.want)
		}
	}
}
