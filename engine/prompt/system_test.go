package prompt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/web"
	"github.com/lathe-agent/lathe/workspace"
)

// What goes before a conversation may take so many tokens.
const (
	budgetCore        = 1500
	budgetFamily      = 300
	budgetSmall       = 900
	budgetEnvironment = 300
	budgetOverview    = 600
	budgetFresh       = 6000
	budgetTask        = 400 // of a tool that other packages bring
)

// tokens estimates as the budget of tools does: rather too many than too few.
func tokens(text string) int {
	return int(max(float64(len(text))/3.6, float64(len(strings.Fields(text)))*1.4) + 0.5)
}

// freshSystem is the system prompt of a new session with all that comes with the program.
func freshSystem(agent, model string) System {
	agents := Agents(permission.Folders{Worktree: "/home/dev/src/project", Outputs: "/o", Plans: "/p"})
	i := slices.IndexFunc(agents, func(a lathe.Agent) bool { return a.Name == agent })
	return System{
		Place: somewhere(), Agent: agents[i], Rules: agents[i].Rules, Confined: Confined{Mode: "workspace", Network: "no network"},
		Model: lathe.ModelRef{Provider: "provider", Model: model}, ModelName: model,
		Settings: Settings{
			Tools:     tool.NewSet(append(builtin.All(builtin.Config{Search: web.SearchConfig{Key: "k"}}), builtin.Skill(nil), builtin.PlanEnter(), builtin.PlanExit())...),
			ShellName: "bash",
		},
	}
}

func somewhere() workspace.Place {
	dir := "/home/dev/src/" + strings.Repeat("project/", 10)
	return workspace.Place{Directory: dir, Worktree: dir, Sandbox: dir, VCS: "git"}
}

// The words before a conversation, and the tools beside them, stay within their budgets for
// every agent and every family of models.
func TestSystem_Budget(t *testing.T) {
	for _, agent := range []string{"build", "plan", "general", "explore"} {
		for _, model := range []string{"claude-opus-4-6", "gpt-5.2-codex", "gpt-4.1", "gemini-3-pro", "qwen3-coder-480b", "qwen2.5-coder:7b"} {
			s := freshSystem(agent, model)
			p := s.Build(0)
			around := s.environment() + "\nDate: 2026-01-01"
			core, _, _ := strings.Cut(p.Text, "# Environment")
			family, fam := FamilyOf(model).Text(), FamilyOf(model)
			most := budgetCore
			if fam == SmallFamily {
				most = budgetSmall
			}
			if n := tokens(core); n > most || tokens(family) > budgetFamily || tokens(around) > budgetEnvironment {
				t.Errorf("%s %s: %d tokens before the environment of %d, %d of them of the family, then %d", agent, model, n, most, tokens(family), tokens(around))
			}
			defs := 0
			hide, unsuited := permission.Evaluator{Chain: []permission.Scope{{Agent: s.Rules, Listed: s.Agent.Rules}}}.Hide(), builtin.Unsuited(model)
			for _, x := range s.Tools.Visible(func(spec tool.Spec) bool { return hide(spec) || unsuited(spec) || fam.Hides(spec) }) {
				spec := x.Spec()
				defs += tokens(spec.Name + "\n" + spec.Description + "\n" + string(spec.Schema))
			}
			all := tokens(p.Text) + defs + budgetOverview + budgetTask + 2
			t.Logf("%-8s %-18s %4d core and family, %3d environment, %4d tools, %4d in all with %d for the survey and %d for task",
				agent, model, tokens(core), tokens(around), defs, all, budgetOverview, budgetTask)
			if all >= budgetFresh {
				t.Errorf("%s %s: a fresh session takes about %d tokens", agent, model, all)
			}
		}
	}
}

// The order is that of what stays the same the longest, and a user's own prompt stands alone.
func TestSystem_Order(t *testing.T) {
	s := freshSystem("build", "claude-x")
	s.Instructions = []Instruction{{"global", "Global."}, {"project", "Project."}}
	s.Skills = []lathe.Skill{{Name: "b", Description: "when b"}, {Name: "a", Description: "when a"}}
	text := s.Build(0).Text
	at := -1
	for _, part := range []string{"You are lathe", "# This model\nMake independent calls", "# Environment", "Model: provider/claude-x", "\nDate: ", "Instructions from: global\nGlobal.", "Instructions from: project", "<available_skills>\na — when a\nb — when b\n"} {
		next := strings.Index(text, part)
		if next <= at {
			t.Errorf("%q stands at %d, behind %d", part, next, at)
		}
		at = next
	}
	s.Agent.Prompt = "Mine."
	if text := s.Build(0).Text; !strings.HasPrefix(text, "Mine.\n\n# Environment") {
		t.Error(text[:100])
	}
}

func TestSkillList_Bounded(t *testing.T) {
	s := freshSystem("build", "claude-x")
	for i := range 500 {
		s.Skills = append(s.Skills, lathe.Skill{Name: fmt.Sprintf("s%03d", i), Description: strings.Repeat("ä", 300)})
	}
	list := s.skillList()
	if tokens(list) > 2100 || !strings.Contains(list, " more\n</available_skills>") || strings.Contains(list, "\uFFFD") {
		t.Errorf("%d tokens: %s", tokens(list), list[len(list)-200:])
	}
	for _, line := range strings.Split(list, "\n") {
		if len(line) > skillBytes {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
}

func TestFamilyOf(t *testing.T) {
	for model, want := range map[string]Family{
		"claude-sonnet-4-5": ClaudeFamily, "anthropic/claude-3-haiku": ClaudeFamily, "eu.anthropic.claude-opus-4-6-v1:0": ClaudeFamily,
		"gpt-5": GPTFamily, "gpt-5.2-codex": GPTFamily, "codex-mini": GPTFamily, "openai/o3": GPTFamily, "o4-mini": GPTFamily,
		"gpt-4.1": GPT4Family, "openai/gpt-4o": GPT4Family, "gpt-3.5-turbo": GPT4Family, "chatgpt-4o-latest": GPT4Family,
		"gemini-2.5-pro": GeminiFamily, "models/gemini-3-flash": GeminiFamily,
		"gpt-oss-120b": OpenFamily, "qwen3-coder-480b-a35b": OpenFamily, "glm-4.7": OpenFamily, "kimi-k2": OpenFamily, "big-pickle": OpenFamily, "olmo-32b": OpenFamily,
		"qwen2.5-coder:7b": SmallFamily, "llama-3.1-8b-instruct": SmallFamily, "gemma3:4b": SmallFamily, "gemma-3n-e4b-it": SmallFamily, "deepseek-r1-distill-llama-8b": SmallFamily, "phi-4:14b": SmallFamily, "qwen3:0.6b": SmallFamily,
		"grok-4b1": OpenFamily,
	} {
		if got := FamilyOf(model); got != want {
			t.Errorf("%s is %s, not %s", model, got, want)
		}
	}
}

// The agents that come with the program may do what their tables say.
func TestAgents_Rules(t *testing.T) {
	at := permission.Folders{Worktree: "/w", Outputs: "/o", Plans: "/data/plans", Open: []string{"/skills/a"}}
	agents := map[string]lathe.Agent{}
	var names []string
	for _, a := range Agents(at) {
		agents[a.Name] = a
		names = append(names, fmt.Sprintf("%s %s %v", a.Name, a.Mode, a.Hidden.On()))
	}
	want := []string{"build primary false", "compaction primary true", "explore subagent false", "general subagent false", "plan primary false", "summary primary true", "title primary true"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	const allow, ask, deny = lathe.Allow, lathe.Ask, lathe.Deny
	for _, tt := range []struct {
		permission, pattern                  string
		build, plan, general, explore, title lathe.Action
	}{
		{"edit", "a.go", allow, deny, allow, deny, deny},
		{"edit", ".lathe/plans/1-a.md", allow, allow, allow, deny, deny},
		{"edit", ".opencode/plans/1-a.md", allow, allow, allow, deny, deny},
		{"edit", "../data/plans/1-a.md", allow, allow, allow, deny, deny},
		{"edit", ".lathe/plans/1-a.go", allow, deny, allow, deny, deny},
		{"bash", "make", allow, allow, allow, allow, deny},
		{"task", "general", allow, deny, allow, deny, deny},
		{"task", "explore", allow, allow, allow, deny, deny},
		{"todowrite", "*", allow, allow, deny, deny, deny},
		{"question", "*", allow, allow, deny, deny, deny},
		{"plan_enter", "*", allow, deny, deny, deny, deny},
		{"plan_exit", "*", deny, allow, deny, deny, deny},
		{"read", "a.go", allow, allow, allow, allow, deny},
		{"read", "x/.env", ask, ask, ask, ask, deny},
		{"read", "x/.env.example", allow, allow, allow, allow, deny},
		{"doom_loop", "*", ask, ask, ask, ask, deny},
		{"sandbox", "x", ask, ask, ask, deny, deny},
		{"external_directory", "/etc/*", ask, ask, ask, ask, deny},
		{"external_directory", "/o/*", allow, allow, allow, allow, deny},
		{"external_directory", "/skills/a/*", allow, allow, allow, allow, deny},
		{"external_directory", "/data/plans/*", ask, allow, ask, ask, deny},
	} {
		for name, want := range map[string]lathe.Action{"build": tt.build, "plan": tt.plan, "general": tt.general, "explore": tt.explore, "title": tt.title} {
			if got := agents[name].Rules.Evaluate(tt.permission, tt.pattern).Action; got != want {
				t.Errorf("%s: %s %s is %s, not %s", name, tt.permission, tt.pattern, got, want)
			}
		}
	}
	if diff := cmp.Diff(lathe.Ruleset{{Permission: "external_directory", Pattern: "/o/*", Action: allow}}, permission.FinalRules(at, nil)); diff != "" {
		t.Error(diff)
	}
	if got := permission.FinalRules(at, lathe.Ruleset{{Permission: "external_directory", Pattern: "/o/*", Action: deny}}); got != nil {
		t.Error(got)
	}
}
