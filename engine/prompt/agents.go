package prompt

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/permission"
)

var (
	//go:embed build.md
	buildText string
	//go:embed plan.md
	planText string
	//go:embed explore.md
	exploreText string
	//go:embed general.md
	generalText string
	//go:embed summary.md
	summaryText string
	//go:embed title.md
	titleText string
)

// The agents that the engine itself knows by name.
const (
	PlanAgent  = "plan"
	TitleAgent = "title"
)

// Agents are the built-in agents with their rules; settings add to them. The default one is the first, the
// others follow by name.
func Agents(f permission.Folders) []lathe.Agent {
	base, half := permission.DefaultRules(f), 0.5
	with := func(own ...lathe.Rule) lathe.Ruleset { return slices.Concat(base, own) }
	rule := func(action lathe.Action, name string) lathe.Rule {
		return lathe.Rule{Permission: name, Pattern: "*", Action: action}
	}
	nothing := with(rule(lathe.Deny, "*"))
	return []lathe.Agent{
		{
			Name: "build", Mode: lathe.Primary, Native: lathe.Yes, Description: "Does the work: reads, changes files, runs commands",
			Rules: with(rule(lathe.Allow, "question"), rule(lathe.Allow, "plan_enter")),
		},
		{Name: "compaction", Mode: lathe.Primary, Native: lathe.Yes, Hidden: lathe.Yes, Rules: nothing},
		{
			Name: "explore", Mode: lathe.Subagent, Native: lathe.Yes, Prompt: strings.TrimSpace(exploreText), Rules: permission.ExploreRules(f),
			Description: "Read-only code search that reports findings with path:line. Say what to find and how thoroughly.",
		},
		{
			Name: "general", Mode: lathe.Subagent, Native: lathe.Yes, Prompt: strings.TrimSpace(generalText), Rules: with(rule(lathe.Deny, "todowrite")),
			Description: "Does a bounded piece of work in several steps, and may change the files its task names.",
		},
		{
			Name: PlanAgent, Mode: lathe.Primary, Native: lathe.Yes, Prompt: strings.TrimSpace(planText), Rules: with(permission.PlanRules(f)...),
			Description: "Plans a change and makes none",
		},
		{Name: "summary", Mode: lathe.Primary, Native: lathe.Yes, Hidden: lathe.Yes, Prompt: strings.TrimSpace(summaryText), Rules: nothing},
		{Name: TitleAgent, Mode: lathe.Primary, Native: lathe.Yes, Hidden: lathe.Yes, Prompt: strings.TrimSpace(titleText), Temperature: &half, Rules: nothing},
	}
}

// isBuiltin reports whether a prompt is a built-in one, to which the text for a family of
// models is added. A prompt of the user's is used alone.
func isBuiltin(prompt string) bool {
	return prompt == "" || slices.ContainsFunc([]string{planText, exploreText, generalText}, func(own string) bool {
		return prompt == strings.TrimSpace(own)
	})
}

// TitleText is the system prompt of a request for a title.
func TitleText() string { return strings.TrimSpace(titleText) }
