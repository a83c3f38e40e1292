package config

import (
	"regexp"
	"sync"
)

// agentTable is the table of an agent's keys. Other keys are options for its provider.
var agentTable = sync.OnceValue(func() *spec {
	color := choice("Color as #rrggbb or a theme color", "primary", "secondary", "accent", "success", "warning", "error", "info")
	color.match, color.form = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`), `a color like "#ff8800"`
	return object("",
		key("description", text("When to use the agent")),
		key("mode", choice("Use as primary agent, as subagent, or both; default: all", "subagent", "primary", "all")),
		key("model", modelName("Model, as provider/model; default: the session's model")),
		key("variant", text("Reasoning level")),
		key("prompt", text("System prompt")),
		key("temperature", num("Sampling temperature")),
		key("top_p", num("Nucleus sampling (top_p)")),
		key("steps", whole("Maximum number of steps before it must finish", 1)),
		key("permission", permissionSpec()),
		key("allowed_tools", list("Tools the agent can use, such as \"read\" or \"github_*\"; all others are denied, and none is allowed without asking because of this list; default: all", text(""))),
		key("fallback", list("Models to use when the chosen one fails, as provider/model", modelName("")).needsTrust()),
		key("sandbox", sandboxSpec()),
		key("isolation", choice("Where its tasks work: in the directory of their parent, or in a worktree of their own; default: none", "none", "worktree")),
		key("color", color),
		key("hidden", toggle("Hide it from @ mentions")),
		key("disable", toggle("Disable the agent")),
		key("options", dict("Options for the model's provider", anything("")).riskyIf(holdsAddress)),
		old("name", text(""), "the key is the name"),
		old("tools", toolsSpec(), "use permission"),
		old("maxSteps", whole("", 1), "use steps"),
	).with(anything("").riskyIf(holdsAddress))
})

func commandSpec() *spec {
	return object("",
		core("template", text("Prompt template; $1, $2 and $ARGUMENTS are replaced by arguments").riskyIf(runsShell)),
		key("description", text("Description shown in lists")), key("agent", text("Agent that runs it; default: the session's agent")),
		key("model", modelName("Model, as provider/model")), key("variant", text("Reasoning level")), key("subtask", toggle("Run it in a subagent")))
}

// permissionSpec needs trust for rules that allow something; a project can always forbid more.
func permissionSpec() *spec {
	action := choice("", "ask", "allow", "deny").riskyIf(equals("allow"))
	rule := either("Action, or actions by pattern; the last match wins", action, dict("", action))
	var keys []entry
	for _, name := range []string{
		"read", "edit", "glob", "grep", "list", "bash", "task", "external_directory", "lsp", "skill", "webfetch", "websearch", "codesearch",
	} {
		keys = append(keys, key(name, rule))
	}
	for _, name := range []string{"todowrite", "todoread", "question", "doom_loop"} {
		keys = append(keys, key(name, action)) // these have no patterns
	}
	rules := object("Permissions by name; order matters", keys...).with(rule) // external tools have arbitrary names
	rules.near = noPermission
	return either("One action for everything, or rules by permission", action, rules)
}

const noPermission = "is not a built-in permission; it applies only to a tool with exactly this name"

// SuggestPermission explains a likely misspelled permission name. It returns "" for other names,
// since tools of plugins and MCP servers have arbitrary ones.
func SuggestPermission(name string) string {
	rules := permissionSpec().any[1]
	if hint := nearest(name, rules.names()); hint != "" && hint != name {
		return Problem{Message: noPermission, Hint: hint}.text()
	}
	return ""
}

// toolsSpec treats enabling a tool like allowing it.
func toolsSpec() *spec { return dict("", toggle("").riskyIf(equals("true"))) }
