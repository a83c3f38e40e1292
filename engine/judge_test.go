package engine

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

func bound(agent lathe.Ruleset, session ...lathe.Rule) bounds {
	return bounds{agent: agent, listed: agent, session: session}
}

func TestJudge_Verdict(t *testing.T) {
	wide := lathe.Ruleset{rule(lathe.Allow, "*", "*")}
	for _, tt := range []struct {
		name     string
		j        judge
		patterns []string
		want     lathe.Action
	}{
		{"no rule asks", judge{chain: []bounds{bound(nil)}}, []string{"ls"}, lathe.Ask},
		{"what nobody knows asks", judge{chain: []bounds{bound(wide, rule("maybe", "bash", "*"))}}, []string{"ls"}, lathe.Ask},
		{"and so does nothing", judge{chain: []bounds{bound(wide, rule("", "bash", "*"))}}, []string{"ls"}, lathe.Ask},
		{"nothing to judge is allowed", judge{chain: []bounds{bound(nil)}}, nil, lathe.Allow},
		{"the last rule that matches", judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Deny, "bash", "*"), rule(lathe.Allow, "bash", "ls")})}}, []string{"ls"}, lathe.Allow},
		{"order is everything", judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Allow, "bash", "ls"), rule(lathe.Deny, "bash", "*")})}}, []string{"ls"}, lathe.Deny},
		{"one denied pattern refuses all", judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Ask, "bash", "*"), rule(lathe.Deny, "bash", "rm *")})}}, []string{"ls", "rm x"}, lathe.Deny},
		{"the session over the agent", judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Deny, "bash", "*")}, rule(lathe.Allow, "bash", "*"))}}, []string{"ls"}, lathe.Allow},
		{"and the other way", judge{chain: []bounds{bound(wide, rule(lathe.Deny, "bash", "*"))}}, []string{"ls"}, lathe.Deny},
		{"an approval turns ask into allow", judge{chain: []bounds{bound(nil)}, approved: lathe.Ruleset{rule(lathe.Allow, "bash", "ls *")}}, []string{"ls -l"}, lathe.Allow},
		{"but never a deny", judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Deny, "bash", "*")})}, approved: lathe.Ruleset{rule(lathe.Allow, "bash", "*")}}, []string{"ls"}, lathe.Deny},
		{"half approved is asked", judge{chain: []bounds{bound(nil)}, approved: lathe.Ruleset{rule(lathe.Allow, "bash", "ls")}}, []string{"ls", "cat"}, lathe.Ask},
		{"a child is bound by its parent", judge{chain: []bounds{bound(wide), bound(lathe.Ruleset{rule(lathe.Deny, "bash", "*")})}}, []string{"ls"}, lathe.Deny},
		{"and by its grandparent's ask", judge{chain: []bounds{bound(wide), bound(wide), bound(nil)}}, []string{"ls"}, lathe.Ask},
	} {
		got, err := tt.j.verdict(tool.Permission{Name: "bash", Patterns: tt.patterns})
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
	j := judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Allow, "read", "*"), rule(lathe.Deny, "ba*", "git push*")})}}
	_, err := j.verdict(tool.Permission{Name: "bash", Patterns: []string{"git push -f"}})
	if err == nil || !strings.Contains(err.Error(), `"git push*"`) || !strings.Contains(err.Error(), `"git push -f"`) || strings.Contains(err.Error(), "read") {
		t.Errorf("refused with %v", err)
	}
}

func TestJudge_Hides(t *testing.T) {
	spec := tool.Spec{Name: "write", Permission: "edit"}
	for _, tt := range []struct {
		name string
		j    judge
		want bool
	}{
		{"shown", judge{chain: []bounds{bound(nil)}}, false},
		{"denied whole", judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Deny, "edit", "*")})}}, true},
		{"denied in part stays", judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Deny, "edit", "x")})}}, false},
		{"by the session, trap 106", judge{chain: []bounds{bound(nil, rule(lathe.Deny, "edit", "*"))}}, true},
		{"by the parent", judge{chain: []bounds{bound(nil), bound(nil, rule(lathe.Deny, "*", "*"))}}, true},
		{"by the prompt", judge{chain: []bounds{bound(nil)}, off: map[string]bool{"write": true}}, true},
		{"a prompt gives nothing", judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Deny, "edit", "*")})}, off: map[string]bool{"write": false}}, true},
	} {
		if got := tt.j.hide()(spec); got != tt.want {
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
		child := judge{chain: []bounds{bound(gen.Draw(t, "own agent"), gen.Draw(t, "own session")...), parent}}
		permission, pattern := rapid.SampledFrom([]string{"bash", "edit", "read"}).Draw(t, "asks"), rapid.SampledFrom([]string{"ab", "ac", "b"}).Draw(t, "for")
		if got, most := child.action(permission, pattern), parent.evaluate(permission, pattern).Action; rank[got] < rank[most] {
			t.Fatalf("the child may %s %s: %s, its parent %s", permission, pattern, got, most)
		}
	})
}

// Clients tell a refusal from a failure by these words.
func TestRefusal_WordsOfClients(t *testing.T) {
	j := judge{chain: []bounds{bound(lathe.Ruleset{rule(lathe.Deny, "bash", "*")})}}
	_, denied := j.verdict(tool.Permission{Name: "bash", Patterns: []string{"ls"}})
	hidden := (&stepping{}).allowed(tool.Spec{Name: "bash"}, j)
	for words, err := range map[string][]error{
		"specified a rule":    {denied, hidden},
		"rejected permission": {(&host{}).rejected(tool.Permission{}, answer{}), (&host{}).rejected(tool.Permission{}, answer{note: "not now"})},
	} {
		for _, err := range err {
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%v: does not say %q", err, words)
			}
		}
	}
}

// A refusal that no person gave does not blame the user, and says what to do without it.
func TestRefusal_Unattended(t *testing.T) {
	err := (&host{}).rejected(tool.Permission{Name: "external_directory", Patterns: []string{"/etc/*"}}, answer{unattended: true, note: "Ask later."})
	const want = `Not allowed here: /etc/* needs the permission "external_directory" and nobody is attached to give it. It was not run. Ask later. Work without it, and say at the end what is left.`
	if err.Error() != want || lathe.CodeOf(err) != lathe.Denied {
		t.Errorf("got %q, %s", err, lathe.CodeOf(err))
	}
}
