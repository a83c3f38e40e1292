package permission

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

func rule(action lathe.Action, permission, pattern string) lathe.Rule {
	return lathe.Rule{Action: action, Permission: permission, Pattern: pattern}
}

func bound(agent lathe.Ruleset, session ...lathe.Rule) Scope {
	return Scope{Agent: agent, Listed: agent, Session: session}
}

func TestJudge_Verdict(t *testing.T) {
	wide := lathe.Ruleset{rule(lathe.Allow, "*", "*")}
	for _, tt := range []struct {
		name     string
		j        Evaluator
		patterns []string
		want     lathe.Action
	}{
		{"no rule asks", Evaluator{Chain: []Scope{bound(nil)}}, []string{"ls"}, lathe.Ask},
		{"what nobody knows asks", Evaluator{Chain: []Scope{bound(wide, rule("maybe", "bash", "*"))}}, []string{"ls"}, lathe.Ask},
		{"and so does nothing", Evaluator{Chain: []Scope{bound(wide, rule("", "bash", "*"))}}, []string{"ls"}, lathe.Ask},
		{"nothing to judge is allowed", Evaluator{Chain: []Scope{bound(nil)}}, nil, lathe.Allow},
		{"the last rule that matches", Evaluator{Chain: []Scope{bound(lathe.Ruleset{rule(lathe.Deny, "bash", "*"), rule(lathe.Allow, "bash", "ls")})}}, []string{"ls"}, lathe.Allow},
		{"order is everything", Evaluator{Chain: []Scope{bound(lathe.Ruleset{rule(lathe.Allow, "bash", "ls"), rule(lathe.Deny, "bash", "*")})}}, []string{"ls"}, lathe.Deny},
		{"one denied pattern refuses all", Evaluator{Chain: []Scope{bound(lathe.Ruleset{rule(lathe.Ask, "bash", "*"), rule(lathe.Deny, "bash", "rm *")})}}, []string{"ls", "rm x"}, lathe.Deny},
		{"the session over the agent", Evaluator{Chain: []Scope{bound(lathe.Ruleset{rule(lathe.Deny, "bash", "*")}, rule(lathe.Allow, "bash", "*"))}}, []string{"ls"}, lathe.Allow},
		{"and the other way", Evaluator{Chain: []Scope{bound(wide, rule(lathe.Deny, "bash", "*"))}}, []string{"ls"}, lathe.Deny},
		{"an approval turns ask into allow", Evaluator{Chain: []Scope{bound(nil)}, Approved: lathe.Ruleset{rule(lathe.Allow, "bash", "ls *")}}, []string{"ls -l"}, lathe.Allow},
		{"but never a deny", Evaluator{Chain: []Scope{bound(lathe.Ruleset{rule(lathe.Deny, "bash", "*")})}, Approved: lathe.Ruleset{rule(lathe.Allow, "bash", "*")}}, []string{"ls"}, lathe.Deny},
		{"half approved is asked", Evaluator{Chain: []Scope{bound(nil)}, Approved: lathe.Ruleset{rule(lathe.Allow, "bash", "ls")}}, []string{"ls", "cat"}, lathe.Ask},
		{"a child is bound by its parent", Evaluator{Chain: []Scope{bound(wide), bound(lathe.Ruleset{rule(lathe.Deny, "bash", "*")})}}, []string{"ls"}, lathe.Deny},
		{"and by its grandparent's ask", Evaluator{Chain: []Scope{bound(wide), bound(wide), bound(nil)}}, []string{"ls"}, lathe.Ask},
	} {
		got, err := tt.j.Decide(tool.Permission{Name: "bash", Patterns: tt.patterns})
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if (err != nil) != (tt.want == lathe.Deny) || err != nil && lathe.CodeOf(err) != lathe.Denied {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}

// A refusal shows the model the rules that speak about it, and no others.
func TestJudge_DeniedNamesTheRules(t *testing.T) {
	j := Evaluator{Chain: []Scope{bound(lathe.Ruleset{rule(lathe.Allow, "read", "*"), rule(lathe.Deny, "ba*", "git push*")})}}
	_, err := j.Decide(tool.Permission{Name: "bash", Patterns: []string{"git push -f"}})
	if err == nil || !strings.Contains(err.Error(), `"git push*"`) || !strings.Contains(err.Error(), `"git push -f"`) || strings.Contains(err.Error(), "read") {
		t.Errorf("refused with %v", err)
	}
}

func TestJudge_Hides(t *testing.T) {
	spec := tool.Spec{Name: "write", Permission: "edit"}
	for _, tt := range []struct {
		name string
		j    Evaluator
		want bool
	}{
		{"shown", Evaluator{Chain: []Scope{bound(nil)}}, false},
		{"denied whole", Evaluator{Chain: []Scope{bound(lathe.Ruleset{rule(lathe.Deny, "edit", "*")})}}, true},
		{"denied in part stays", Evaluator{Chain: []Scope{bound(lathe.Ruleset{rule(lathe.Deny, "edit", "x")})}}, false},
		{"by the session, trap 106", Evaluator{Chain: []Scope{bound(nil, rule(lathe.Deny, "edit", "*"))}}, true},
		{"by the parent", Evaluator{Chain: []Scope{bound(nil), bound(nil, rule(lathe.Deny, "*", "*"))}}, true},
		{"by the prompt", Evaluator{Chain: []Scope{bound(nil)}, Off: map[string]bool{"write": true}}, true},
		{"a prompt gives nothing", Evaluator{Chain: []Scope{bound(lathe.Ruleset{rule(lathe.Deny, "edit", "*")})}, Off: map[string]bool{"write": false}}, true},
	} {
		if got := tt.j.Hide()(spec); got != tt.want {
			t.Errorf("%s: hidden %v", tt.name, got)
		}
	}
}

// No rules of a child allow what its parent's do not.
func TestJudge_ChildIsNeverWider(t *testing.T) {
	gen := rapid.Custom(func(t *rapid.T) lathe.Ruleset {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) lathe.Rule {
			return rule(rapid.SampledFrom([]lathe.Action{lathe.Allow, lathe.Ask, lathe.Deny}).Draw(t, "action"),
				rapid.SampledFrom([]string{"*", "bash", "edit"}).Draw(t, "permission"), rapid.SampledFrom([]string{"*", "a*", "ab"}).Draw(t, "pattern"))
		}), 0, 5).Draw(t, "rules")
	})
	rank := map[lathe.Action]int{lathe.Allow: 0, lathe.Ask: 1, lathe.Deny: 2}
	rapid.Check(t, func(t *rapid.T) {
		parent := bound(gen.Draw(t, "agent"), gen.Draw(t, "session")...)
		child := Evaluator{Chain: []Scope{bound(gen.Draw(t, "own agent"), gen.Draw(t, "own session")...), parent}}
		permission, pattern := rapid.SampledFrom([]string{"bash", "edit", "read"}).Draw(t, "asks"), rapid.SampledFrom([]string{"ab", "ac", "b"}).Draw(t, "for")
		if got, most := child.Action(permission, pattern), parent.Evaluate(permission, pattern).Action; rank[got] < rank[most] {
			t.Fatalf("the child may %s %s: %s, its parent %s", permission, pattern, got, most)
		}
	})
}
