package permission

import (
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// Other spellings of a request, its possible effects and unparsed parts count beside its
// patterns, for the session and for each of its ancestors, and no approval takes it away.
func TestJudge_Objection(t *testing.T) {
	rule := func(a lathe.Action, pattern string) lathe.Rule {
		return lathe.Rule{Permission: "bash", Pattern: pattern, Action: a}
	}
	wide := lathe.Ruleset{rule(lathe.Allow, "*")}
	strict := append(lathe.Ruleset{rule(lathe.Allow, "*")}, rule(lathe.Deny, "rm *"))
	named := lathe.Ruleset{rule(lathe.Deny, "*"), rule(lathe.Allow, "ls *")}
	all := lathe.Ruleset{rule(lathe.Allow, "*")}
	for _, tt := range []struct {
		name     string
		chain    []lathe.Ruleset
		approved lathe.Ruleset
		p        tool.Permission
		want     lathe.Action
	}{
		{"another spelling is denied", []lathe.Ruleset{strict}, nil, tool.Permission{Patterns: []string{"./rm x"}, Also: []string{"rm x"}}, lathe.Deny},
		{"by an ancestor", []lathe.Ruleset{wide, strict}, nil, tool.Permission{Patterns: []string{"./rm x"}, Also: []string{"rm x"}}, lathe.Deny},
		{"it needs no rule that allows it", []lathe.Ruleset{named}, nil, tool.Permission{Patterns: []string{"ls"}, Also: []string{"env ls"}}, lathe.Allow},
		{"what it may be is denied", []lathe.Ruleset{strict}, nil, tool.Permission{Patterns: []string{"$X a"}, Maybe: []string{"*a"}}, lathe.Ask},
		{"what it may be is not", []lathe.Ruleset{strict}, nil, tool.Permission{Patterns: []string{"ls $X"}, Maybe: []string{"ls*"}}, lathe.Allow},
		{"nobody denies anything", []lathe.Ruleset{wide}, nil, tool.Permission{Patterns: []string{"$X a"}, Maybe: []string{"*"}}, lathe.Allow},
		{"no approval helps", []lathe.Ruleset{strict}, all, tool.Permission{Patterns: []string{"$X a"}, Maybe: []string{"*a"}}, lathe.Ask},
		{"nobody can read it", []lathe.Ruleset{wide}, all, tool.Permission{Patterns: []string{"echo 'x"}, Unparsed: true}, lathe.Ask},
	} {
		j := Evaluator{Approved: tt.approved}
		for _, rules := range tt.chain {
			j.Chain = append(j.Chain, Scope{Agent: rules, Listed: rules})
		}
		tt.p.Name = "bash"
		got, err := j.Decide(tt.p)
		if got != tt.want || (err != nil) != (got == lathe.Deny) {
			t.Errorf("%s: %s %v; want %s", tt.name, got, err, tt.want)
		}
		if tt.want != lathe.Allow && j.AllApproved(tt.p) {
			t.Errorf("%s: approvals alone allow it", tt.name)
		}
	}
}
