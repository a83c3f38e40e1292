package config

import (
	"strings"

	"github.com/lathe-agent/lathe/config/claudecode"
)

// hookKeys configure hooks, and the variables that they share with commands.
func hookKeys() []entry {
	hook := object("",
		key("type", choice("Kind of hook", "command")),
		must("command", text("Command line for the shell, or a program if args is set")),
		key("args", list("Arguments of the program; no shell is used", text(""))),
		key("timeout", positive("Timeout in seconds; default: 60, for SessionEnd 5")),
		key("dir", text("Folder in CLAUDE_PROJECT_DIR; default: the top of the checkout")))
	group := object("",
		key("matcher", text("Tools to match, as Claude Code calls them, or the cause of the event: names separated by |, or a regular expression; default: all")),
		must("hooks", list("Hooks to run", hook)))
	return []entry{
		key("hooks", dict("Commands to run at points of a turn, by event: "+strings.Join(claudecode.HookEvents(), ", ")+". The format is Claude Code's", list("", group.needsTrust()))),
		key("disable_hooks", toggle("Disable hooks; a project disables only its own; default: false").riskyIf(equals("true"))),
		key("env", dict("Environment variables for commands, MCP servers and hooks; some names, such as PATH, are ignored", text("")).needsTrust()),
	}
}
