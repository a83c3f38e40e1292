package permission

import (
	"fmt"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// manyRules are ten thousand patterns as a user's script could write them.
func manyRules() lathe.Ruleset {
	rules := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Ask}}
	actions := []lathe.Action{lathe.Allow, lathe.Ask, lathe.Deny}
	for i := range 10_000 {
		rules = append(rules, lathe.Rule{Permission: "bash", Pattern: fmt.Sprintf("tool%d --flag *x* \"y\" *", i), Action: actions[i%3]})
	}
	return append(rules, lathe.Rule{Permission: "bash", Pattern: "git *", Action: lathe.Allow})
}

func manyRequest() tool.Permission {
	p := tool.Permission{Name: "bash"}
	for i := range 20 {
		text := fmt.Sprintf("git log --oneline -n %d -- 'some path/%d'", i, i)
		p.Patterns, p.Written = append(p.Patterns, text), append(p.Written, []string{"FOO=1 " + text})
		p.Also = append(p.Also, "FOO=1 "+text)
		p.Maybe = append(p.Maybe, fmt.Sprintf("git log --oneline -n * -- some path/%d", i))
	}
	return p
}

// BenchmarkJudge_ManyRules is a line of twenty commands against ten thousand rules.
func BenchmarkJudge_ManyRules(b *testing.B) {
	rules := manyRules()
	j, p := Evaluator{Chain: []Scope{{Agent: rules, Listed: rules}}}, manyRequest()
	for b.Loop() {
		if got, err := j.Decide(p); got != lathe.Allow || err != nil {
			b.Fatal(got, err)
		}
	}
}

// Ten thousand rules are judged by all that a rule says, and the last that matches still counts.
func TestJudge_ManyRules(t *testing.T) {
	rules := manyRules()
	j, p := Evaluator{Chain: []Scope{{Agent: rules, Listed: rules}}}, manyRequest()
	if got, err := j.Decide(p); got != lathe.Allow || err != nil {
		t.Errorf("%s %v", got, err)
	}
	p.Patterns = append(p.Patterns, `tool5 --flag axb "y" z`)
	if got, _ := j.Decide(p); got != lathe.Deny {
		t.Errorf("one that is denied: %s", got)
	}
}
