package engine

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

//go:embed prompt/plan.md
var planPrompt string

//go:embed prompt/explore.md
var explorePrompt string

//go:embed prompt/general.md
var generalPrompt string

//go:embed prompt/summary.md
var summaryPrompt string

// The agents that the engine itself knows by name.
const (
	buildAgent = "build"
	planAgent  = "plan"
	titleAgent = "title"
)

// Folders are the places that the rules of built-in agents speak of, complete paths.
type Folders struct {
	Worktree string   // what the paths of rules are relative to
	Outputs  string   // long outputs of tools
	Plans    string   // plans of directories without a repository
	Open     []string // further ones that may be read unasked: of skills, of references, for temporary files
}

func ruleOf(action lathe.Action, permission, pattern string) lathe.Rule {
	return lathe.Rule{Permission: permission, Pattern: pattern, Action: action}
}

// DefaultRules are those every agent's list begins with.
func DefaultRules(f Folders) lathe.Ruleset {
	rules := lathe.Ruleset{
		ruleOf(lathe.Allow, "*", "*"), ruleOf(lathe.Ask, "doom_loop", "*"), ruleOf(lathe.Ask, sandboxPermission, "*"),
	}
	rules = append(rules, outsideRules(f)...)
	rules = append(rules, ruleOf(lathe.Deny, "question", "*"), ruleOf(lathe.Deny, "plan_enter", "*"), ruleOf(lathe.Deny, "plan_exit", "*"))
	return append(rules, readRules()...)
}

func outsideRules(f Folders) lathe.Ruleset {
	rules := lathe.Ruleset{ruleOf(lathe.Ask, "external_directory", "*")}
	for _, dir := range append([]string{f.Outputs}, f.Open...) {
		if dir != "" {
			rules = append(rules, ruleOf(lathe.Allow, "external_directory", below(dir)))
		}
	}
	return rules
}

func readRules() lathe.Ruleset {
	return lathe.Ruleset{
		ruleOf(lathe.Allow, "read", "*"), ruleOf(lathe.Ask, "read", "*.env"), ruleOf(lathe.Ask, "read", "*.env.*"), ruleOf(lathe.Allow, "read", "*.env.example"),
	}
}

func below(dir string) string { return filepath.ToSlash(filepath.Join(dir, "*")) }

// FinalRules go behind all others: what is too long for a model is in files that it must be
// able to read, unless that very folder is denied.
func FinalRules(f Folders, rules lathe.Ruleset) lathe.Ruleset {
	if f.Outputs == "" || slices.Contains(rules, ruleOf(lathe.Deny, "external_directory", below(f.Outputs))) {
		return nil
	}
	return lathe.Ruleset{ruleOf(lathe.Allow, "external_directory", below(f.Outputs))}
}

// BuiltinAgents are the agents that come with the program, with their rules; settings go on
// top of them. The one people begin with is the first, the others follow by name.
func BuiltinAgents(f Folders) []lathe.Agent {
	base, half := DefaultRules(f), 0.5
	with := func(own ...lathe.Rule) lathe.Ruleset { return slices.Concat(base, own) }
	nothing := with(ruleOf(lathe.Deny, "*", "*"))
	return []lathe.Agent{
		{
			Name: buildAgent, Mode: lathe.Primary, Native: lathe.Yes, Description: "Does the work: reads, changes files, runs commands",
			Rules: with(ruleOf(lathe.Allow, "question", "*"), ruleOf(lathe.Allow, "plan_enter", "*")),
		},
		{Name: "compaction", Mode: lathe.Primary, Native: lathe.Yes, Hidden: lathe.Yes, Rules: nothing},
		{
			Name: "explore", Mode: lathe.Subagent, Native: lathe.Yes, Prompt: strings.TrimSpace(explorePrompt), Rules: exploreRules(f, base),
			Description: "Searches the code and reports with places; changes nothing. Say what to find and how thoroughly.",
		},
		{
			Name: "general", Mode: lathe.Subagent, Native: lathe.Yes, Prompt: strings.TrimSpace(generalPrompt), Rules: with(ruleOf(lathe.Deny, "todowrite", "*")),
			Description: "Does a bounded piece of work in several steps, and may change the files its task names.",
		},
		{
			Name: planAgent, Mode: lathe.Primary, Native: lathe.Yes, Prompt: strings.TrimSpace(planPrompt), Rules: with(planRules(f)...),
			Description: "Plans a change and makes none",
		},
		{Name: "summary", Mode: lathe.Primary, Native: lathe.Yes, Hidden: lathe.Yes, Prompt: strings.TrimSpace(summaryPrompt), Rules: nothing},
		{Name: titleAgent, Mode: lathe.Primary, Native: lathe.Yes, Hidden: lathe.Yes, Prompt: strings.TrimSpace(titlePrompt), Temperature: &half, Rules: nothing},
	}
}

// exploreRules let it look. What must be asked about for everyone is asked about for it too.
func exploreRules(f Folders, base lathe.Ruleset) lathe.Ruleset {
	rules := append(slices.Clone(base), ruleOf(lathe.Deny, "*", "*"), ruleOf(lathe.Ask, "doom_loop", "*"))
	for _, name := range []string{"grep", "glob", "list", "bash", "webfetch", "websearch"} {
		rules = append(rules, ruleOf(lathe.Allow, name, "*"))
	}
	rules = append(rules, readRules()...)
	return append(rules, outsideRules(f)...)
}

// planRules let it write plans and nothing else.
func planRules(f Folders) lathe.Ruleset {
	rules := lathe.Ruleset{ruleOf(lathe.Allow, "question", "*"), ruleOf(lathe.Allow, "plan_exit", "*"), ruleOf(lathe.Deny, "task", "general")}
	if f.Plans != "" {
		rules = append(rules, ruleOf(lathe.Allow, "external_directory", below(f.Plans)))
	}
	rules = append(rules, ruleOf(lathe.Deny, "edit", "*"))
	for _, dir := range []string{".lathe", ".opencode"} {
		rules = append(rules, ruleOf(lathe.Allow, "edit", dir+"/plans/*.md"))
	}
	if f.Plans != "" && f.Worktree != "" {
		if rel, err := filepath.Rel(f.Worktree, f.Plans); err == nil {
			rules = append(rules, ruleOf(lathe.Allow, "edit", filepath.ToSlash(filepath.Join(rel, "*.md"))))
		}
	}
	return rules
}

// isOwnPrompt reports whether a prompt is one of ours, to which what a family of models wants
// is added. One of the user's stands alone.
func isOwnPrompt(prompt string) bool {
	return prompt == "" || slices.ContainsFunc([]string{planPrompt, explorePrompt, generalPrompt}, func(own string) bool {
		return prompt == strings.TrimSpace(own)
	})
}

// Ordered puts the default agent first and the others behind it by name, as clients list them.
func (s *Settings) Ordered() []lathe.Agent {
	first := ""
	if a, err := s.agent(""); err == nil {
		first = a.Name
	}
	out := make([]lathe.Agent, len(s.Agents))
	for i, a := range s.Agents {
		out[i] = a.Agent
	}
	slices.SortStableFunc(out, func(a, b lathe.Agent) int {
		if (a.Name == first) != (b.Name == first) {
			if a.Name == first {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
