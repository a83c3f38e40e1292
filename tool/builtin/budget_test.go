package builtin_test

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/web"
)

// What every request pays for the definitions of the built-in tools, in tokens.
const (
	budgetAll   = 3500
	budgetOther = 250
)

func budgetOf(name string) int {
	switch name {
	case "bash":
		return 600
	case "edit", "apply_patch", "task":
		return 400
	default:
		return budgetOther
	}
}

// tokens estimates how many tokens a text has in o200k, rather too many than too few: English
// prose has about 4.5 bytes and 0.75 words a token there, JSON with short keys some 3.8 bytes.
func tokens(text string) int {
	return int(max(float64(len(text))/3.6, float64(len(strings.Fields(text)))*1.4) + 0.5)
}

// everyTool is each built-in tool, also those that need a setting.
func everyTool(t *testing.T) []tool.Tool {
	t.Helper()
	all := builtin.All(builtin.Config{Search: web.SearchConfig{Key: "k"}, Task: builtin.TaskConfig{Background: true}})
	return append(all, builtin.PlanExit(), builtin.PlanEnter(), builtin.Skill(nil))
}

// The definitions stay within their budgets, each and together, as a model is sent them.
func TestBuiltin_Budget(t *testing.T) {
	all, child := map[string]int{}, map[string]bool{} // a subagent has ask_parent, and neither question nor task
	for _, x := range everyTool(t) {
		s := x.Spec()
		child[s.Name] = s.Child
		all[s.Name] = tokens(s.Name + "\n" + s.Description + "\n" + string(s.Schema))
	}
	sum := 0
	for name, n := range all {
		t.Logf("%-12s %4d of %d", name, n, budgetOf(name))
		if !child[name] {
			sum += n
		}
		if n > budgetOf(name) {
			t.Errorf("%s has about %d tokens, and may have %d: shorten its text or the descriptions of its members", name, n, budgetOf(name))
		}
	}
	for _, name := range []string{"apply_patch", "ask_parent", "bash", "edit", "glob", "grep", "plan_enter", "plan_exit", "question", "read", "skill", "task", "todowrite", "webfetch", "websearch", "write"} {
		if all[name] == 0 {
			t.Errorf("%s was not counted", name)
		}
	}
	if t.Logf("%-12s %4d of %d", "all", sum, budgetAll); sum > budgetAll {
		t.Errorf("all together have about %d tokens, and may have %d", sum, budgetAll)
	}
}
