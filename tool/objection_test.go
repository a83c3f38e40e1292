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
