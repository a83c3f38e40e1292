package lathe_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

func TestWildcard(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{"*", []string{"", "a", "a/b", "a\nb", "é"}, nil},
		{"**", []string{"", "a/b/c"}, nil},
		{"", []string{""}, []string{"a", " "}},
		{"bash", []string{"bash"}, []string{"", "bas", "bashh", "Bash", " bash"}},
		{"?", []string{"a", "é", "😀", "\n", "/"}, []string{"", "ab"}},
		{"a?c", []string{"abc", "aéc", "a漢c"}, []string{"ac", "abbc"}},
		{"??", []string{"ab", "é😀"}, []string{"é", "abc"}},
		{"*?", []string{"a", "é", "ab"}, []string{""}},
		{"*??", []string{"ab", "漢字"}, []string{"a", "漢"}},
		{"*???", []string{"abc", "😀😀😀"}, []string{"😀", "😀é"}},
		{"*??ab", []string{"漢字ab", "xxab"}, []string{"漢ab", "xab"}},
		{"*??é", []string{"abé", "xéaé"}, []string{"é", "aé"}},
		{"git *", []string{"git", "git ", "git status", "git push\norigin"}, []string{"gitk", "gi", " git", "agit x"}},
		{"git*", []string{"git", "gitk", "git status"}, []string{"gi"}},
		{"git push *", []string{"git push", "git push origin"}, []string{"git pushy", "git"}},
		{" *", []string{"", " ", " a"}, []string{"a"}},
		{"* *", []string{"", "a", "a b"}, nil},
		{"git * *", []string{"git a", "git a b", "git "}, []string{"gitk"}},
		{"src/**", []string{"src/", "src/a", "src/a/b.go"}, []string{"src", "asrc/b"}},
		{"src/*.go", []string{"src/a.go", "src/a/b.go"}, []string{"src/a.rs", "src/a.go2"}},
		{"*.env", []string{".env", "a/.env", `C:\x\.env`}, []string{".env.local", "env"}},
		{`C:\Users\*`, []string{`C:\Users\a`, "C:/Users/a/b"}, []string{`D:\Users\a`}},
		{"C:/Users/*", []string{`C:\Users\a`}, nil},
		{"a.b+c(d)[e]{f}^$|", []string{"a.b+c(d)[e]{f}^$|"}, []string{"axb+c(d)[e]{f}^$|"}},
		{"*a*b*c*", []string{"abc", "xaxbxcx"}, []string{"acb", "ab"}},
		{"mymcp_*", []string{"mymcp_", "mymcp_x"}, []string{"mymcp"}},
		{"\xff", []string{"\xff"}, []string{"\xfe", "\ufffd"}},
	} {
		for _, s := range tt.yes {
			if !lathe.Wildcard(tt.pattern, s) {
				t.Errorf("%q does not match %q", tt.pattern, s)
			}
		}
		for _, s := range tt.no {
			if lathe.Wildcard(tt.pattern, s) {
				t.Errorf("%q matches %q", tt.pattern, s)
			}
		}
	}
}

func TestWildcard_Random(t *testing.T) {
	piece := rapid.StringOfN(rapid.RuneFrom([]rune(`a *?/\😀`)), 0, 10, -1)
	rapid.Check(t, func(rt *rapid.T) {
		pattern, s := piece.Draw(rt, "pattern"), piece.Draw(rt, "s")
		if got, want := lathe.Wildcard(pattern, s), slowly([]rune(pattern), []rune(s)); got != want {
			rt.Fatalf("%q, %q: %v", pattern, s, got)
		}
		any := lathetest.Text(rt)
		if !lathe.Wildcard("*", any) || !lathe.Wildcard(strings.NewReplacer("*", "?").Replace(any), any) {
			rt.Fatalf("%q is not matched by itself", any)
		}
		lathe.Wildcard(any, s)
	})
}

// slowly is what Wildcard means, without care for time.
func slowly(pattern, s []rune) bool {
	var match func(p, s []rune) bool
	match = func(p, s []rune) bool {
		switch {
		case len(p) == 0:
			return len(s) == 0
		case p[0] == '*':
			return match(p[1:], s) || len(s) > 0 && match(p, s[1:])
		case len(s) == 0:
			return false
		case p[0] == '?' || p[0] == s[0] || strings.ContainsRune(`/\`, p[0]) && strings.ContainsRune(`/\`, s[0]):
			return match(p[1:], s[1:])
		default:
			return false
		}
	}
	// Only the last " *" is optional, as in OpenCode.
	if n := len(pattern); n >= 2 && string(pattern[n-2:]) == " *" && match(pattern[:n-2], s) {
		return true
	}
	return match(pattern, s)
}

// Backtracking would take until the end of time here.
func TestWildcard_Time(t *testing.T) {
	if lathe.Wildcard(strings.Repeat("*a", 50)+"b", strings.Repeat("a", 20_000)) {
		t.Error("matches")
	}
}

func TestEvaluate(t *testing.T) {
	rule := func(permission, pattern string, a lathe.Action) lathe.Rule {
		return lathe.Rule{Permission: permission, Pattern: pattern, Action: a}
	}
	rules := lathe.Ruleset{
		rule("*", "*", lathe.Allow),
		rule("bash", "*", lathe.Ask),
		rule("bash", "git *", lathe.Allow),
		rule("bash", "git push *", lathe.Deny),
		rule("edit", "*", lathe.Deny),
		rule("edit", "src/**", lathe.Allow),
		rule("mymcp_*", "*", lathe.Deny),
	}
	for _, tt := range []struct {
		permission, pattern string
		want                lathe.Rule
	}{
		{"read", "a.go", rules[0]},
		{"bash", "ls", rules[1]},
		{"bash", "git", rules[2]},
		{"bash", "git status", rules[2]},
		{"bash", "gitk", rules[1]},
		{"bash", "git push", rules[3]},
		{"bash", "git push --force", rules[3]},
		{"edit", "main.go", rules[4]},
		{"edit", "src/a/b.go", rules[5]},
		{"edit", `src\a.go`, rules[5]},
		{"mymcp_search", "", rules[6]},
	} {
		if got := rules.Evaluate(tt.permission, tt.pattern); got != tt.want {
			t.Errorf("%s %q: %+v, want %+v", tt.permission, tt.pattern, got, tt.want)
		}
	}

	// Nothing matches: ask.
	if got := (lathe.Ruleset{}).Evaluate("bash", "ls"); got != rule("bash", "*", lathe.Ask) {
		t.Errorf("without rules: %+v", got)
	}
	// Order is everything: there is no better match, only a later one.
	late := append(rules[:len(rules):len(rules)], rule("*", "*", lathe.Deny))
	if got := late.Evaluate("bash", "git status"); got.Action != lathe.Deny {
		t.Errorf("the last rule does not win: %+v", got)
	}
}

func TestRuleset_Check(t *testing.T) {
	for _, r := range []lathe.Rule{
		{Permission: "bash", Pattern: "*", Action: "maybe"},
		{Permission: "bash", Pattern: "*"},
		{Permission: "bash", Pattern: "*", Action: "Deny"},
		{Pattern: "*", Action: lathe.Deny},
	} {
		if err := (lathe.Ruleset{{Permission: "read", Pattern: "*", Action: lathe.Allow}, r}).Check(); lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, a := range []lathe.Action{lathe.Allow, lathe.Ask, lathe.Deny} {
		if err := (lathe.Ruleset{{Permission: "*", Pattern: "", Action: a}}).Check(); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
}
