package config

import "sync"

// settings is the table of all config keys. It is built on first use, since many commands
// never read the config.
var settings = sync.OnceValue(func() *spec {
	keys := mainKeys()
	keys = append(keys, agentKeys()...)
	keys = append(keys, hookKeys()...)
	keys = append(keys, serverKeys()...)
	keys = append(keys, limitKeys()...)
	keys = append(keys, enduranceKeys()...)
	return object("Config file of lathe. OpenCode's config files have the same format.", append(keys, oldKeys()...)...)
})

// mainKeys are the keys at the top of a config file; other files of the package hold the larger groups.
func mainKeys() []entry {
	return []entry{
		key("$schema", text("URL or path of the JSON schema, for editors")),
		key("model", modelName("Model to use, as provider/model; default: the most recently used model, else a recommended one from a provider with an API key")),
		key("small_model", modelName("Model for titles, as provider/model; default: a small model from the same provider")),
		key("default_agent", text("Agent for new sessions; default: build")),
		key("username", text("Your name as shown in clients; default: the system user name")),
		key("shell", text("Shell that runs commands; default: $SHELL").needsTrust()),
		key("logLevel", choice("Log level; has no effect yet: use --log-level", "DEBUG", "INFO", "WARN", "ERROR")),
		key("snapshot", either("Record file states for undo; default: true", toggle("").riskyIf(equals("false")), object("",
			key("enabled", toggle("Whether to record snapshots; default: true").riskyIf(equals("false"))),
			key("max_days", whole("Days to keep snapshots for undo; default: 30", 1)),
			key("max_megabytes", whole("Maximum disk space for all snapshots, in MB; default: 1024", 1))))),
		key("worktree", object("Isolated trees for sessions (lathe run --worktree, isolation of agents)",
			key("link", list("Ignored files and folders that a worktree gets as copies, such as \"node_modules\", \".env\"", text(""))),
			key("setup", text("Command to run in a new worktree, in the sandbox").needsTrust()))),
		key("share", choice("Share sessions as web pages of lathe serve: on request, automatically, or never; default: manual", "manual", "auto", "disabled").riskyIf(equals("auto"))),
		key("autoupdate", either("Upgrade lathe by itself in the background (true), or only tell about a newer version (notify); default: false", toggle("").riskyIf(equals("true")), choice("", "notify"))),
		key("disabled_providers", list("Providers to disable", text(""))),
		key("enabled_providers", list("Providers to enable; all others are disabled", text(""))),
		key("instructions", list("Additional instruction files: paths, globs or URLs", text("").riskyIf(anyOf(isAddress, isOutside)))),
		key("plugin", list("Plugins: package names or paths, or [name, options] arrays", pluginSpec()).needsTrust()),
		key("watcher", object("File watcher; has no effect yet", key("ignore", list("Globs of files to ignore", text(""))))),
		key("skills", object("Additional skill locations",
			key("paths", list("Folders with skills", text("").riskyIf(isOutside))),
			key("urls", list("URLs of skill indexes", text("")).needsTrust()))),
		key("references", dict("Named folders and repositories to mention as @name", referenceSpec())),
	}
}

func agentKeys() []entry {
	return []entry{
		key("agent", dict("Agents by name", agentTable())),
		key("command", dict("Slash commands by name", commandSpec())),
		key("permission", permissionSpec()),
	}
}

// serverKeys configure providers, MCP servers and the HTTP server.
func serverKeys() []entry {
	return []entry{
		key("provider", dict("Providers by ID", providerSpec())),
		key("mcp", dict("MCP servers by name", mcpSpec())),
		key("formatter", either("Code formatters, all or by name; default: true", toggle(""), object("",
			key("scope", choice("Part of an edited file to format: edit keeps only changes that overlap the edit; default: edit", "edit", "file")),
		).with(formatterSpec())).needsTrust()),
		key("lsp", either("Language servers, all or by name; default: true", toggle(""), object("",
			key("install", toggle("Download missing servers with go or npm; default: false")),
			key("memory", whole("Maximum memory of a server process in MB; default: 2048", 64)),
		).with(lspSpec())).needsTrust()),
		key("server", object("Defaults for lathe serve; flags override them",
			key("port", whole("Port to listen on; default: 4096, or any free port", 1)), key("hostname", text("Address to listen on; default: 127.0.0.1")),
			key("mdns", toggle("Announce the server over mDNS and listen on 0.0.0.0 unless hostname is set; default: false")), key("mdnsDomain", text("mDNS domain name; default: opencode.local")),
			key("cors", list("Additional origins allowed to send requests", text(""))),
			key("auth", choice("Authentication; none requires no password and is limited to loopback; default: password", "none", "password")),
			key("metrics", toggle("Serve metrics at /lathe/metrics; default: false")),
			key("traces", toggle("Send traces to OTEL_EXPORTER_OTLP_ENDPOINT; default: false")),
			key("tls", choice("TLS certificate; auto makes one without an authority and renews it; default: none", "auto")),
			key("push", object("Notifications to paired devices",
				key("text", toggle("Include the session's title and words of the request; default: false"))))).needsTrust()),
		key("enterprise", object("Self-hosted share server; has no effect yet", key("url", text("URL of the share server").needsTrust()))),
	}
}

// limitKeys are the keys that bound sizes, depths and numbers.
func limitKeys() []entry {
	return []entry{
		key("subagent_depth", whole("Maximum nesting depth of subagents; default: 1", 0)),
		key("subagents", object("Limits for subagents",
			key("parallel", whole("Maximum number of subagents running at once per session, 0 for no limit; default: 3", 0)),
			key("writers", whole("Maximum number of them that can change files, 0 for no limit; default: 1", 0)),
			key("brief", whole("Minimum number of words in a task prompt; default: 40", 0)),
			key("background", toggle("Allow background tasks, which report when they finish; default: true")))),
		key("attachment", object("Attachments", key("image", object("Image limits",
			key("auto_resize", toggle("Resize large images; default: true")),
			key("max_width", whole("Maximum width in pixels; default: 2000", 1)),
			key("max_height", whole("Maximum height in pixels; default: 2000", 1)),
			key("max_base64_bytes", whole("Maximum base64 size in bytes; default: 5242880", 1)))))),
		key("tool_output", object("Limits on tool output sent to the model; the full output is saved to a file",
			key("max_lines", whole("Maximum number of lines; default: 2000", 1)),
			key("max_bytes", whole("Maximum size in bytes; default: 51200", 1)))),
		key("webfetch", object("Web requests of the webfetch tool",
			key("private", toggle("Allow loopback and private network addresses; default: false").riskyIf(equals("true"))),
			key("proxy", text("URL of an HTTP proxy for all requests").needsTrust()))),
		key("compaction", object("Compaction of long histories",
			key("auto", toggle("Compact automatically when the context window is full; default: true")),
			key("prune", toggle("Drop old tool output before compaction; default: false")),
			key("tail_turns", whole("Number of recent exchanges to leave uncompacted; default: as many as fit", 0)),
			key("preserve_recent_tokens", whole("Maximum tokens of those exchanges; default: a quarter of the window, 2000 to 15000", 0)),
			key("reserved", whole("Headroom in tokens for models with a separate input limit; default: 20000 at most", 0)))),
		key("experimental", object("Experimental options, subject to change",
			key("disable_paste_summary", toggle("Paste summaries; has no effect yet")), key("batch_tool", toggle("Batch tool; has no effect")), key("openTelemetry", toggle("OpenTelemetry; has no effect: use server.traces").riskyIf(equals("true"))),
			key("primary_tools", list("Tools available to primary agents only", text(""))),
			key("continue_loop_on_deny", toggle("Continue the turn after you reject a tool call; default: false")),
			key("mcp_timeout", whole("Timeout for MCP servers, in milliseconds; default: 30000", 1)),
			key("policies", list("Rules that allow or deny providers: objects with action (provider.use), effect (allow or deny) and resource (glob of provider IDs); the last match wins", object("",
				must("action", choice("", "provider.use")), must("effect", choice("", "allow", "deny")), must("resource", text(""))))))),
	}
}

// enduranceKeys control long turns: interruptions, retries, limits and budgets.
func enduranceKeys() []entry {
	models := func(doc string) *spec { return list(doc, modelName("")).needsTrust() } // fallback models receive the conversation
	spending := func(doc string) *spec {
		return object(doc, key("cost", positive("Dollars")), key("tokens", whole("Tokens of all kinds", 1)),
			key("steps", whole("Model requests", 1)), key("time", whole("Milliseconds of work, without the time spent waiting for you", 1)))
	}
	return []entry{
		key("sandbox", sandboxSpec()),
		key("checks", checksSpec()),
		key("resume", choice("Turns interrupted by a crash: ask shows them, auto resumes them, off ignores them; default: ask", "ask", "auto", "off").riskyIf(equals("auto"))),
		key("overview", toggle("Add a project overview to the first prompt of a session; default: true")),
		key("search", toggle("Index the text of sessions for lathe session search and /search; false removes the index; default: true").riskyIf(equals("false"))),
		key("retry", object("Retries of failed model requests",
			key("attempts", whole("Maximum number of retries; default: 5", 0)),
			key("max_wait", either("Longest wait a provider can request, in milliseconds or false; default: 600000", whole("", 1), off())))),
		key("prompt_cache", choice("Prompt cache lifetime at providers that charge for it; auto uses an hour for headless turns with slow tools if cheaper; default: auto", "auto", "5m", "1h", "off")),
		key("permission_mode", choice("Mode for requests that match no permission rule. sandbox: allow edits in the project, run commands sandboxed; ask: ask before edits, commands and external tools; read-only: change nothing. A project can only tighten it; default: sandbox", "sandbox", "ask", "read-only")),
		key("permission_unattended", choice("Permission requests in lathe serve: wait for an answer, or refuse so that the turn continues; default: wait", "wait", "refuse")),
		key("deadline", object("Timeouts in milliseconds, or false; for model requests see provider.*.options",
			key("tool", limit("Timeout for a tool call; default: 7200000")), key("subagent", limit("Timeout for a subagent task; default: 43200000")),
			key("ask", limit("Timeout for your answer to a question or permission request; default: false")))),
		key("fallback", either("Models to use when the chosen one fails", models(""), object("",
			key("models", models("Fallback models as provider/model, by preference")),
			key("unauthorized", toggle("Also fall back if the API key is missing or rejected; default: false").riskyIf(equals("true")))))),
		key("budget", object("Spending limits",
			key("session", spending("Limits per session, including its subagents")), key("day", spending("Limits per day")), key("project", spending("Limits per project")),
			key("share", num("Share of the remaining budget a subagent can use; default: 0.5"))).needsTrust()),
	}
}

// checksSpec lists the checks that lathe runs itself. Interactive sessions default to a few of them,
// unattended ones to all.
func checksSpec() *spec {
	on := func(name, doc string) entry { return key(name, toggle(doc)) }
	return object("Automatic checks that report to the model; default: all in unattended runs (no terminal, --format json, CI), else those marked *",
		on("syntax", "* Written files that do not parse"),
		on("todos", "Open todo items at the end of a turn; * shown to you"),
		on("stale_todos", "* Todo list not updated for 12 calls while files changed"),
		on("unverified", "Code changes with no command run afterwards"),
		on("empty_diff", "Work reported as done without any file change"),
		on("checklist", "Repeat the prompt and four questions before a turn that changed files ends"),
		on("leftovers", "Stray files and processes left running; * shown to you"),
		on("test_memory", "* Remember the command that runs a project's tests"),
		on("tests_edited", "* Failed test followed by changes to tests only"),
		on("loop", "* Repeated calls with the same result, cycles, consecutive failed edits"),
		on("no_progress", "15 calls in a row without new information"),
		on("budget", "50, 80 and 95 % of the step, cost or time limit used"),
		on("cut_off", "* Continue an answer that was cut off"),
		on("empty_reply", "* Ask again after an empty answer"),
		on("said_not_done", "Tool call announced but not made"),
		on("new_errors", "* Errors that language servers report after the last call of a turn"))
}

// sandboxSpec lets an untrusted project tighten the sandbox, not loosen it.
func sandboxSpec() *spec {
	looser := func(n *node) bool { return n.text != "read-only" }
	modes := func() *spec {
		return choice("Where commands can write: in the project, nowhere in it, or everywhere; default: workspace if the kernel supports it", "workspace", "read-only", "off").riskyIf(looser)
	}
	return either("Sandbox for the model's commands", modes(), object("",
		key("mode", modes()),
		key("commands", dict("Sandbox mode by command pattern, such as {\"docker *\": \"off\"}; the strictest match wins, a weaker mode needs a match for every command of the line",
			choice("", "workspace", "read-only", "off")).needsTrust()),
		key("write", list("Additional writable folders", text("")).needsTrust()),
		key("read", list("Credential files that commands can read, such as \"~/.aws/config\"", text("")).needsTrust()),
		key("credentials", list("Tools whose commands can read their own credentials, such as \"gh\", \"aws\"", toolName()).needsTrust()),
		key("ssh_agent", toggle("Let commands use your SSH agent; default: only git and ssh commands").riskyIf(equals("true"))),
		key("network", networkSpec()),
		key("limits", object("Resource limits per process",
			key("memory", whole("Memory in bytes", 1)), key("processes", whole("Processes of the user", 1)), key("file_size", whole("File size in bytes", 1))).needsTrust())))
}

// oldKeys still work, have a replacement and are not suggested.
func oldKeys() []entry {
	tui := tuiTable()
	theme, _ := tui.find("theme")
	keybinds, _ := tui.find("keybinds")
	editor, _ := tui.find("editor")
	return []entry{
		old("mode", dict("", agentTable()), "use agent"),
		old("tools", toolsSpec(), "use permission"),
		old("reference", dict("", referenceSpec()), "use references"),
		old("survey", toggle(""), "use overview"),
		old("autoshare", toggle("").riskyIf(equals("true")), `use "share": "auto"`),
		old("layout", choice("", "auto", "stretch"), "it has no effect"),
		old("theme", theme.spec, "it belongs in tui.json"),
		old("keybinds", keybinds.spec, "it belongs in tui.json"),
		old("editor", editor.spec, "it belongs in tui.json"),
		old("tui", tui, "it belongs in tui.json"),
	}
}

func pluginSpec() *spec {
	pair := list("", anything(""))
	pair.first = text("")
	return either("", text(""), pair)
}

func referenceSpec() *spec {
	return either("", text("Folder if it starts with . / or ~, else a Git repository, which is not supported yet").riskyIf(anyOf(isOutside, isRepository)),
		object("", must("path", text("Path of the folder").riskyIf(isOutside)), key("description", text("Description for the model")), key("hidden", toggle("Hide it from the model"))),
		object("", must("repository", text("Git repository; has no effect yet")), key("branch", text("Branch; default: the default branch of the repository")), key("description", text("Description for the model")),
			key("hidden", toggle("Hide it from the model"))).needsTrust())
}
