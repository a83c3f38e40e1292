package config

import "sync"

// settings is the table of everything a settings file may say. It is built when it is
// first needed, which is never for commands that need no settings.
var settings = sync.OnceValue(func() *spec {
	keys := mainKeys()
	keys = append(keys, agentKeys()...)
	keys = append(keys, serverKeys()...)
	keys = append(keys, limitKeys()...)
	keys = append(keys, enduranceKeys()...)
	return object("Settings of lathe. Files of OpenCode have the same form.", append(keys, oldKeys()...)...)
})

func mainKeys() []entry {
	return []entry{
		key("$schema", text("where editors find the schema of this file")),
		key("model", modelName("the model to use, as provider/model; default: the one used last, else a good one of the providers that have a key")),
		key("small_model", modelName("the model for titles, as provider/model; default: a small one of the same provider")),
		key("default_agent", text("the agent to begin with; default: build")),
		key("username", text("the name that clients show for you; default: that of the system")),
		key("shell", text("the shell that runs commands; default: $SHELL").needsTrust()),
		key("logLevel", choice("how much is logged; has no effect yet, --log-level has", "DEBUG", "INFO", "WARN", "ERROR")),
		key("snapshot", either("keep what files were, for undo; default: true", toggle("").riskyIf(is("false")), object("",
			key("enabled", toggle("whether it is kept; default: true").riskyIf(is("false"))),
			key("max_days", whole("how long something can be undone; default: 30", 1)),
			key("max_megabytes", whole("how large all of it may become; default: 1024", 1))))),
		key("share", choice("sharing of sessions as pages of a server (lathe serve): when asked, all of them, or never; default: manual", "manual", "auto", "disabled").riskyIf(is("auto"))),
		key("autoupdate", either("update by itself, or only tell; has no effect, lathe never does", toggle("").riskyIf(is("true")), choice("", "notify"))),
		key("disabled_providers", list("providers not to use", text(""))),
		key("enabled_providers", list("the only providers to use", text(""))),
		key("instructions", list("further instruction files: paths, patterns, addresses", text("").riskyIf(anyOf(isAddress, isOutside)))),
		key("plugin", list("plugins: packages or paths, with options in an array behind", pluginSpec()).needsTrust()),
		key("watcher", object("watching files; has no effect yet", key("ignore", list("patterns of files that are not watched", text(""))))),
		key("skills", object("further places of skills",
			key("paths", list("folders", text("").riskyIf(isOutside))),
			key("urls", list("addresses of skill indexes", text("")).needsTrust()))),
		key("references", dict("named folders and repositories for @name", referenceSpec())),
	}
}

func agentKeys() []entry {
	return []entry{
		key("agent", dict("agents by name", agentTable())),
		key("command", dict("slash commands by name", commandSpec())),
		key("permission", permissionSpec()),
	}
}

// serverKeys are the settings of what we run and whom we call.
func serverKeys() []entry {
	return []entry{
		key("provider", dict("providers by id", providerSpec())),
		key("mcp", dict("MCP servers by name", mcpSpec())),
		key("formatter", either("formatters: all built-in ones, or by name; has no effect yet", toggle(""), dict("", formatterSpec())).needsTrust()),
		key("lsp", either("language servers: all built-in ones, or by name; has no effect yet", toggle(""), dict("", lspSpec())).needsTrust()),
		key("server", object("defaults of the server; flags win",
			key("port", whole("where it listens; default: 4096, or any that is free", 1)), key("hostname", text("the address it listens on; default: 127.0.0.1")),
			key("mdns", toggle("announce it in the local network, and listen on 0.0.0.0 unless hostname is set; default: false")), key("mdnsDomain", text("the name it has there; default: opencode.local")),
			key("cors", list("further origins that may call", text(""))),
			key("auth", choice("none serves without a password, on loopback only; default: password", "none", "password")),
			key("metrics", toggle("tell figures at /lathe/metrics; default: false")),
			key("traces", toggle("send traces to OTEL_EXPORTER_OTLP_ENDPOINT; default: false"))).needsTrust()),
		key("enterprise", object("a share server of one's own; has no effect yet", key("url", text("its address").needsTrust()))),
	}
}

func limitKeys() []entry {
	return []entry{
		key("subagent_depth", whole("how deep sub-agents may nest; default: 1", 0)),
		key("subagents", object("tasks that agents hand to others",
			key("parallel", whole("how many of a session may run at the same time; 0 has no limit, default: 3", 0)),
			key("writers", whole("how many of them may change files; 0 has no limit, default: 1", 0)),
			key("brief", whole("the fewest words of a task; default: 40", 0)),
			key("background", toggle("tasks that report when they are done; default: true")))),
		key("attachment", object("attachments; has no effect yet", key("image", object("images",
			key("auto_resize", toggle("make large images smaller; default: true")),
			key("max_width", whole("in pixels; default: 2000", 1)),
			key("max_height", whole("in pixels; default: 2000", 1)),
			key("max_base64_bytes", whole("the size as it is sent; default: 5242880", 1)))))),
		key("tool_output", object("how much of a tool's output a model sees",
			key("max_lines", whole("the rest is in a file; default: 2000", 1)),
			key("max_bytes", whole("the same in bytes; default: 51200", 1)))),
		key("webfetch", object("fetching pages",
			key("private", toggle("also from this machine and private networks; default: false").riskyIf(is("true"))),
			key("proxy", text("an address that all requests go through").needsTrust()))),
		key("compaction", object("compressing the history",
			key("auto", toggle("when the window is full; default: true")),
			key("prune", toggle("leave out old tool output; default: false")),
			key("tail_turns", whole("how many of the last exchanges stay as they are; default: as many as fit", 0)),
			key("preserve_recent_tokens", whole("how many tokens of them; default: a quarter of the window, 2000 to 15000", 0)),
			key("reserved", whole("head-room in tokens, for models with a limit of their own for the input; default: 20000 at most", 0)))),
		key("experimental", object("what may change",
			key("disable_paste_summary", toggle("has no effect yet")), key("batch_tool", toggle("has no effect")), key("openTelemetry", toggle("has no effect; see server.traces").riskyIf(is("true"))),
			key("primary_tools", list("tools only primary agents have", text(""))),
			key("continue_loop_on_deny", toggle("go on after a call that you rejected; default: false")),
			key("mcp_timeout", whole("how long MCP servers may take, in milliseconds; default: 30000", 1)),
			key("policies", list("which providers may be used: objects with action (provider.use), effect (allow or deny) and resource (a pattern of ids); the last that matches counts", object("",
				must("action", choice("", "provider.use")), must("effect", choice("", "allow", "deny")), must("resource", text(""))))))),
	}
}

// enduranceKeys are about turns that last: what interrupts them, and how much they may use.
func enduranceKeys() []entry {
	models := func(doc string) *spec { return list(doc, modelName("")).needsTrust() } // they see what is said
	spending := func(doc string) *spec {
		return object(doc, key("cost", positive("dollars")), key("tokens", whole("of all kinds", 1)),
			key("steps", whole("requests to a model", 1)), key("time", whole("milliseconds of work; waiting for you is none", 1)))
	}
	return []entry{
		key("sandbox", sandboxSpec()),
		key("checks", checksSpec()),
		key("resume", choice("a turn that a dead process left: ask shows it, auto goes on by itself; default: ask", "ask", "auto", "off").riskyIf(is("auto"))),
		key("survey", toggle("tell the first prompt of a session what is in the directory; default: true")),
		key("retry", object("requests to a model that failed",
			key("attempts", whole("further ones; default: 5", 0)),
			key("max_wait", either("the longest a provider may ask to wait; default: 600000", whole("", 1), off())))),
		key("prompt_cache", choice("how long providers that charge for it remember a prompt: auto is an hour for headless turns that wait long for tools, where that is cheaper; default: auto", "auto", "5m", "1h", "off")),
		key("permission_mode", choice("what is allowed where no rule of permission says otherwise: ask before edits, commands and tools of others, allow everything in the project with commands in the sandbox, or change nothing. A project only makes it stricter; default: sandbox", "sandbox", "ask", "read-only")),
		key("permission_unattended", choice("a permission request in lathe serve: wait for an answer, or refuse it at once so that the turn continues without; default: wait", "wait", "refuse")),
		key("deadline", object("how long is waited, in milliseconds or false; for a model's see provider.*.options",
			key("tool", limit("of a call of a tool; default: 7200000")), key("subagent", limit("of a task of a sub-agent; default: 43200000")),
			key("ask", limit("for you to answer; default: false")))),
		key("fallback", either("models in place of one that cannot answer", models(""), object("",
			key("models", models("as provider/model, in their order")),
			key("unauthorized", toggle("also when a key is missing or refused; default: false").riskyIf(is("true")))))),
		key("budget", object("how much may be spent",
			key("session", spending("by a session and all below it")), key("day", spending("in one day")), key("project", spending("in one project")),
			key("share", num("the part of its parent's that a child may draw; default: 0.5"))).needsTrust()),
	}
}

// checksSpec: what is looked at without a model's goodwill. Without a word a session with a
// person beside it has few of them, one that nobody watches all.
func checksSpec() *spec {
	on := func(name, doc string) entry { return key(name, toggle(doc)) }
	return object("what lathe looks at itself; true tells the model, false nobody. All are on where nobody watches (no terminal, --format json, CI); default: of the rest those marked *",
		on("syntax", "* a file that was written can be parsed"),
		on("todos", "open items on the list when the turn would end; * shown to you"),
		on("stale_todos", "* 12 calls and changed files since the list was written"),
		on("unverified", "code changed and no command ran after it"),
		on("empty_diff", "work is said to be done and no file changed"),
		on("checklist", "files changed: the prompt again, and four questions, before the turn ends"),
		on("leftovers", "stray files and processes that still run; * shown to you"),
		on("test_memory", "* remember the command that runs the tests of a project"),
		on("tests_edited", "* a test failed and only tests were changed"),
		on("loop", "* the same call with the same result, cycles, edits that fail one after the other"),
		on("no_progress", "15 calls that brought nothing new"),
		on("budget", "50, 80 and 95 % of steps, money or time are used"),
		on("cut_off", "* an answer that was cut off is continued"),
		on("empty_reply", "* an empty answer is asked for again"),
		on("said_not_done", "a call is announced and not made"))
}

// sandboxSpec: a project may confine more without trust, not less.
func sandboxSpec() *spec {
	looser := func(n *node) bool { return n.text != "read-only" }
	modes := func() *spec {
		return choice("what commands may write: the project, nothing of it, or all; default: workspace where the kernel can", "workspace", "read-only", "off").riskyIf(looser)
	}
	return either("how the commands of a model are confined", modes(), object("",
		key("mode", modes()),
		key("commands", dict("modes of commands by pattern, as {\"docker *\": \"off\"}; of those that match the strictest counts, and a weaker one only if every command of a line has it",
			choice("", "workspace", "read-only", "off")).needsTrust()),
		key("write", list("further folders that may be written", text("")).needsTrust()),
		key("read", list("places of credentials that commands may read, as \"~/.aws/config\"", text("")).needsTrust()),
		key("credentials", list("tools whose own command lines may read their credentials, as \"gh\", \"aws\"", toolName()).needsTrust()),
		key("ssh_agent", toggle("whether commands reach your SSH agent; default: lines of git and ssh only").riskyIf(is("true"))),
		key("network", networkSpec()),
		key("limits", object("of each process",
			key("memory", whole("bytes", 1)), key("processes", whole("of the user", 1)), key("file_size", whole("bytes", 1))).needsTrust())))
}

// oldKeys are understood, said otherwise now, and not suggested.
func oldKeys() []entry {
	tui := tuiTable()
	theme, _ := tui.find("theme")
	keybinds, _ := tui.find("keybinds")
	return []entry{
		old("mode", dict("", agentTable()), "use agent"),
		old("tools", toolsSpec(), "use permission"),
		old("reference", dict("", referenceSpec()), "use references"),
		old("autoshare", toggle("").riskyIf(is("true")), `use "share": "auto"`),
		old("layout", choice("", "auto", "stretch"), "it has no effect"),
		old("theme", theme.spec, "it belongs in tui.json"),
		old("keybinds", keybinds.spec, "it belongs in tui.json"),
		old("tui", tui, "it belongs in tui.json"),
	}
}

func pluginSpec() *spec {
	pair := list("", anything(""))
	pair.first = text("")
	return either("", text(""), pair)
}

func referenceSpec() *spec {
	return either("", text("a folder, if it begins with . / or ~; else a git repository, which has no effect yet").riskyIf(anyOf(isOutside, isRepository)),
		object("", must("path", text("a folder").riskyIf(isOutside)), key("description", text("what it is, for the model")), key("hidden", toggle("not offered to the model"))),
		object("", must("repository", text("a git repository; has no effect yet")), key("branch", text("its default branch if there is none")), key("description", text("what it is, for the model")),
			key("hidden", toggle("not offered to the model"))).needsTrust())
}
