package config

import (
	"regexp"
	"sync"
)

// agentTable is what may be said of an agent. Other keys are options for its provider.
var agentTable = sync.OnceValue(func() *spec {
	colour := choice("#rrggbb, or a colour of the theme", "primary", "secondary", "accent", "success", "warning", "error", "info")
	colour.match, colour.form = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`), `a colour like "#ff8800"`
	return object("",
		key("description", text("when to use it")),
		key("mode", choice("primary works for you, subagent for other agents; default: all", "subagent", "primary", "all")),
		key("model", modelName("the model, as provider/model; default: that of the session")),
		key("variant", text("the level of reasoning")),
		key("prompt", text("the system prompt")),
		key("temperature", num("of its model")),
		key("top_p", num("of its model")),
		key("steps", whole("how many steps before it must conclude", 1)),
		key("permission", permissionSpec()),
		key("fallback", list("models in place of one that cannot answer, as provider/model", modelName("")).needsTrust()),
		key("sandbox", sandboxSpec()),
		key("color", colour),
		key("hidden", toggle("not offered for @")),
		key("disable", toggle("as if there were none of this name")),
		key("options", dict("options for the provider of its model", anything("")).riskyIf(holdsAddress)),
		old("name", text(""), "the key is the name"),
		old("tools", toolsSpec(), "use permission"),
		old("maxSteps", whole("", 1), "use steps"),
	).with(anything("").riskyIf(holdsAddress))
})

func commandSpec() *spec {
	return object("",
		core("template", text("what is said; $1, $2 and $ARGUMENTS stand for arguments").riskyIf(runsShell)),
		key("description", text("what it is for")), key("agent", text("who does it; default: the agent of the session")),
		key("model", modelName("the model, as provider/model")), key("variant", text("the level of reasoning")), key("subtask", toggle("run it in a sub-agent")))
}

// permissionSpec: of a project, only rules that allow need trust; it may always forbid more.
func permissionSpec() *spec {
	action := choice("", "ask", "allow", "deny").riskyIf(is("allow"))
	rule := either("an action, or actions by pattern; the last that matches counts", action, dict("", action))
	var keys []entry
	for _, name := range []string{
		"read", "edit", "glob", "grep", "list", "bash", "task", "external_directory", "lsp", "skill", "webfetch", "websearch", "codesearch",
	} {
		keys = append(keys, key(name, rule))
	}
	for _, name := range []string{"todowrite", "todoread", "question", "doom_loop"} {
		keys = append(keys, key(name, action)) // these have no patterns
	}
	rules := object("permissions by name; the order counts", keys...).with(rule) // tools of others have any name
	rules.near = noPermission
	return either("one action for everything, or rules", action, rules)
}

const noPermission = "is no permission that lathe has; it counts for a tool of just that name"

// SuggestPermission says what is wrong with the name of a permission that is almost one of ours,
// "" of others: tools that plugins and MCP servers bring have any name.
func SuggestPermission(name string) string {
	rules := permissionSpec().any[1]
	if hint := nearest(name, rules.names()); hint != "" && hint != name {
		return Problem{Message: noPermission, Hint: hint}.text()
	}
	return ""
}

// toolsSpec: switching a tool on is the same as allowing it.
func toolsSpec() *spec { return dict("", toggle("").riskyIf(is("true"))) }
