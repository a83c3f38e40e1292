package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
)

// readOnly are the built-in rules of an agent that looks and writes nothing but notes.
func readOnly() (defaults, limits lathe.Ruleset) {
	defaults = lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Allow}, {Permission: "question", Pattern: "*", Action: lathe.Deny}}
	return defaults, lathe.Ruleset{
		{Permission: "*", Pattern: "*", Action: lathe.Deny},
		{Permission: "bash", Pattern: "*", Action: lathe.Allow},
		{Permission: "edit", Pattern: "notes/*", Action: lathe.Allow},
	}
}

// The denies of an agent bind whatever general rules say; the rest of its rules gives way to them;
// only agent.NAME.permission loosens a deny, and that of a project only once it is trusted.
func TestRules_LimitsBind(t *testing.T) {
	defaults, limits := readOnly()
	for _, tt := range []struct {
		name, user, project string
		trusted             bool
		permission, pattern string
		want                lathe.Action
	}{
		{"nothing said", `{}`, `{}`, true, "edit", "a.go", lathe.Deny},
		{"a general ask", `{"permission": {"edit": "ask"}}`, `{}`, true, "edit", "a.go", lathe.Deny},
		{"a general allow of all", `{"permission": "allow"}`, `{}`, true, "edit", "a.go", lathe.Deny},
		{"the project's general allow", `{}`, `{"permission": {"edit": "allow"}}`, true, "edit", "a.go", lathe.Deny},
		{"an exception is asked about as all is", `{"permission": {"edit": "ask"}}`, `{}`, true, "edit", "notes/1", lathe.Ask},
		{"what it may, general rules restrict", `{"permission": {"bash": {"rm *": "deny"}}}`, `{}`, true, "bash", "rm x", lathe.Deny},
		{"and leave", `{"permission": {"bash": {"rm *": "deny"}}}`, `{}`, true, "bash", "ls", lathe.Allow},
		{"its own rules loosen", `{"agent": {"a": {"permission": {"edit": "ask"}}}}`, `{}`, true, "edit", "a.go", lathe.Ask},
		{"those of a trusted project too", `{}`, `{"agent": {"a": {"permission": {"edit": "allow"}}}}`, true, "edit", "a.go", lathe.Allow},
		{"not of one that is not trusted", `{}`, `{"agent": {"a": {"permission": {"edit": "ask"}}}}`, false, "edit", "a.go", lathe.Deny},
		{"of another agent they are nothing", `{"agent": {"b": {"permission": {"edit": "allow"}}}}`, `{}`, true, "edit", "a.go", lathe.Deny},
		{"a default is no limit", `{"permission": {"question": "allow"}, "agent": {"a": {"permission": {"question": "allow"}}}}`, `{}`, true, "question", "*", lathe.Allow},
	} {
		w := newFixture(t)
		w.write("home/.config/lathe/lathe.json", tt.user)
		w.write("top/lathe.json", tt.project)
		w.trust = func(string, string) bool { return tt.trusted }
		l := w.load()
		if got := l.AgentRules("a", defaults, limits).Evaluate(tt.permission, tt.pattern).Action; got != tt.want {
			t.Errorf("%s: %s, not %s", tt.name, got, tt.want)
		}
		if got := l.AgentList("a", defaults, limits).Evaluate(tt.permission, tt.pattern).Action; got != tt.want {
			t.Errorf("%s: listed as %s, not %s", tt.name, got, tt.want)
		}
	}
}

// The list that clients see says what the judge says, and never less.
func TestRules_ListIsTheOrderThatCounts(t *testing.T) {
	defaults, limits := readOnly()
	w := newFixture(t)
	w.trust = func(string, string) bool { return true }
	rapid.Check(t, func(rt *rapid.T) {
		w.write("home/.config/lathe/lathe.json", genRuleFile().Draw(rt, "user"))
		l := w.load()
		judge, list := l.AgentRules("a", defaults, limits), l.AgentList("a", defaults, limits)
		for _, permission := range []string{"bash", "edit", "read", "webfetch"} {
			for _, pattern := range []string{"git push", "git", "rm -r", "notes/x", "else"} {
				if got, want := list.Evaluate(permission, pattern).Action, judge.Evaluate(permission, pattern).Action; got != want {
					rt.Fatalf("%s %s is %s, listed as %s:\n%v", permission, pattern, want, got, list)
				}
			}
		}
	})
}

// An agent may deny itself everything, and rules may be many.
func TestRules_Many(t *testing.T) {
	var patterns []string
	for i := range 10_000 {
		patterns = append(patterns, fmt.Sprintf(`"cmd%d *": "allow"`, i))
	}
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"permission": {"bash": {`+strings.Join(patterns, ", ")+`}}, "agent": {"none": {"permission": "deny"}}}`)
	l := w.load()
	defaults, limits := readOnly()
	if got := l.AgentRules("none", defaults, nil).Evaluate("bash", "cmd7 x").Action; got != lathe.Deny {
		t.Errorf("an agent that denies itself everything: %s", got)
	}
	judge, list := l.AgentRules("a", defaults, limits), l.AgentList("a", defaults, limits)
	for _, command := range []string{"cmd0", "cmd9999 x", "other"} {
		if a, b := judge.Evaluate("bash", command).Action, list.Evaluate("bash", command).Action; a != lathe.Allow || b != lathe.Allow {
			t.Errorf("%s: %s, listed as %s", command, a, b)
		}
	}
	if judge.Evaluate("edit", "cmd0").Action != lathe.Deny || !slices.ContainsFunc(list, func(r lathe.Rule) bool { return r.Pattern == "cmd9999 *" }) {
		t.Error("rules are lost among many")
	}
}

// A project makes the permission mode stricter and never looser, trusted or not.
func TestLoad_PermissionMode(t *testing.T) {
	for _, c := range []struct{ user, project, want string }{
		{`{}`, `{}`, ""},
		{`{"permission_mode": "ask"}`, `{}`, "ask"},
		{`{}`, `{"permission_mode": "read-only"}`, "read-only"},
		{`{"permission_mode": "ask"}`, `{"permission_mode": "sandbox"}`, "ask"},
		{`{"permission_mode": "sandbox"}`, `{"permission_mode": "ask"}`, "ask"},
		{`{"permission_mode": "read-only"}`, `{"permission_mode": "ask"}`, "read-only"},
	} {
		w := newFixture(t)
		w.write("home/.config/lathe/lathe.json", c.user)
		w.write("top/lathe.json", c.project)
		l := w.load()
		equal(t, l.Config.PermissionMode, c.want)
		equal(t, l.Untrusted, (*Untrusted)(nil))
	}
}
