package permission

import (
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Sandbox is the permission that lets a call out of the sandbox, or write files that other programs obey.
const Sandbox = "sandbox"

// Folders are the directories that the rules of built-in agents name, as complete paths.
type Folders struct {
	Worktree string   // base of relative paths in rules
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
		ruleOf(lathe.Allow, "*", "*"), ruleOf(lathe.Ask, "doom_loop", "*"), ruleOf(lathe.Ask, Sandbox, "*"),
	}
	rules = append(rules, outsideRules(f)...)
	rules = append(rules, ruleOf(lathe.Deny, "question", "*"), ruleOf(lathe.Deny, "plan_enter", "*"), ruleOf(lathe.Deny, "plan_exit", "*"))
	return append(rules, readRules()...)
}

func outsideRules(f Folders) lathe.Ruleset {
	rules := lathe.Ruleset{ruleOf(lathe.Ask, "external_directory", "*")}
	for _, dir := range append([]string{f.Outputs}, f.Open...) {
		if dir != "" {
			rules = append(rules, ruleOf(lathe.Allow, "external_directory", subtree(dir)))
		}
	}
	return rules
}

func readRules() lathe.Ruleset {
	return lathe.Ruleset{
		ruleOf(lathe.Allow, "read", "*"), ruleOf(lathe.Ask, "read", "*.env"), ruleOf(lathe.Ask, "read", "*.env.*"), ruleOf(lathe.Allow, "read", "*.env.example"),
	}
}

func subtree(dir string) string { return filepath.ToSlash(filepath.Join(dir, "*")) }

// FinalRules come after all others: long outputs are in files that the model must be able to
// read, unless that very folder is denied.
func FinalRules(f Folders, rules lathe.Ruleset) lathe.Ruleset {
	if f.Outputs == "" || slices.Contains(rules, ruleOf(lathe.Deny, "external_directory", subtree(f.Outputs))) {
		return nil
	}
	return lathe.Ruleset{ruleOf(lathe.Allow, "external_directory", subtree(f.Outputs))}
}

// ExploreRules are those of the agent that explores: it only reads, and asks wherever every agent must ask.
func ExploreRules(f Folders) lathe.Ruleset {
	rules := append(DefaultRules(f), ruleOf(lathe.Deny, "*", "*"), ruleOf(lathe.Ask, "doom_loop", "*"))
	for _, name := range []string{"grep", "glob", "list", "lsp", "bash", "webfetch", "websearch", "ask_parent"} {
		rules = append(rules, ruleOf(lathe.Allow, name, "*"))
	}
	rules = append(rules, readRules()...)
	return append(rules, outsideRules(f)...)
}

// PlanRules extend the default rules for the plan agent, which writes plans and nothing else.
func PlanRules(f Folders) lathe.Ruleset {
	rules := lathe.Ruleset{ruleOf(lathe.Allow, "question", "*"), ruleOf(lathe.Allow, "plan_exit", "*"), ruleOf(lathe.Deny, "task", "general")}
	if f.Plans != "" {
		rules = append(rules, ruleOf(lathe.Allow, "external_directory", subtree(f.Plans)))
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

// neverAsked are the permissions that no mode asks about. What is not listed may change anything,
// as tools of MCP servers and plugins do.
func neverAsked() []string {
	return []string{"read", "glob", "grep", "list", "lsp", "webfetch", "websearch", "codesearch", "task", "skill", "todowrite", "todoread", "ask_parent"}
}

// WithMode puts the rules of a mode into those of [DefaultRules], below all that are more specific.
// free says that commands may run unasked: they are confined, or the user wants them not to be.
func WithMode(defaults lathe.Ruleset, mode lathe.Mode, free bool) lathe.Ruleset {
	return slices.Concat(defaults[:1], modeRules(mode, free), defaults[1:])
}

func modeRules(mode lathe.Mode, free bool) (rules lathe.Ruleset) {
	if mode != lathe.AskMode && mode != lathe.ReadOnlyMode {
		if !free {
			rules = lathe.Ruleset{ruleOf(lathe.Ask, "bash", "*")}
		}
		return rules
	}
	rules = lathe.Ruleset{ruleOf(lathe.Ask, "*", "*")}
	for _, name := range neverAsked() {
		rules = append(rules, ruleOf(lathe.Allow, name, "*"))
	}
	if mode == lathe.AskMode {
		return rules
	}
	if free {
		rules = append(rules, ruleOf(lathe.Allow, "bash", "*"))
	}
	return append(rules, ModeDenies(mode)...)
}

// ModeDenies are the denies of a mode. The user's own rules can loosen them, a project's cannot.
func ModeDenies(m lathe.Mode) lathe.Ruleset {
	if m != lathe.ReadOnlyMode {
		return nil
	}
	return lathe.Ruleset{ruleOf(lathe.Deny, "edit", "*")}
}
