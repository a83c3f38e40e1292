package config

// limit is a time in milliseconds, or none.
func limit(doc string) *spec { return either(doc, whole("", 1), off()) }

func providerSpec() *spec {
	options := object("options of the provider",
		key("apiKey", text("its key, best as {env:NAME} or {file:path}").needsTrust()), key("baseURL", text("its address").needsTrust()),
		key("enterpriseUrl", text("the address of a GitHub of one's own, for Copilot").needsTrust()),
		key("setCacheKey", toggle("send the session as the key of the cache of prompts; default: what suits the provider")),
		key("timeout", limit("how long is waited for it, in milliseconds; default: 300000")),
		key("headerTimeout", limit("the same until it answers; default: timeout")),
		key("chunkTimeout", limit("the same between two pieces of an answer; default: timeout")),
	).with(anything("").needsTrust()) // headers, credentials: whatever a provider knows
	return object("",
		key("api", text("its address, where the options name none").needsTrust()), key("name", text("for people")),
		key("env", list("the variables that may hold its key", text("")).needsTrust()), key("id", text("has no effect; the key is the id")),
		key("npm", text("which protocol it speaks, by the name of a package: @ai-sdk/anthropic, @ai-sdk/openai-compatible and the like").needsTrust()),
		key("whitelist", list("the only models to offer", text(""))), key("blacklist", list("models not to offer", text(""))),
		key("options", options), key("models", dict("models by id", modelSpec())))
}

func modelSpec() *spec {
	price := func(more ...entry) *spec {
		return object("dollars per million tokens", append([]entry{
			must("input", num("what is sent")), must("output", num("what is answered")), key("cache_read", num("what is read from the cache")),
			key("cache_write", num("what is written to it")),
		}, more...)...)
	}
	modality := list("", choice("", "text", "audio", "image", "video", "pdf"))
	return object("",
		key("id", text("its id at the provider; default: the key")), key("name", text("for people")), key("family", text("which models it belongs to")),
		key("release_date", text("as 2026-01-31")), key("attachment", toggle("it reads attachments")), key("reasoning", toggle("it can think before it answers")),
		key("temperature", toggle("it takes a temperature")), key("tool_call", toggle("it can call tools")),
		key("interleaved", either("its thoughts are sent back to it, under which name", toggle(""), text(""), object("", must("field", text("the name"))))),
		key("cost", price(key("context_over_200k", price()), key("tiers", anything("prices by size of the request"))).needsTrust()), // a budget is counted with it
		key("limit", object("in tokens", must("context", num("the window, both together")), key("input", num("what may be sent")), must("output", num("what may be answered")))),
		key("modalities", object("what it takes and gives", key("input", modality), key("output", modality))),
		key("experimental", anything("modes of it that its maker calls so")), key("status", choice("how finished it is", "alpha", "beta", "deprecated", "active")),
		key("provider", object("where it differs from its provider", key("npm", text("the protocol").needsTrust()), key("api", text("the address").needsTrust()))),
		key("options", dict("options for the provider", anything("")).riskyIf(holdsAddress)),
		key("headers", dict("HTTP headers to send", text("")).needsTrust()),
		key("variants", dict("named sets of options", object("", key("disabled", toggle("not offered"))).with(anything("").riskyIf(holdsAddress)))))
}

// mcpSpec: an entry that only says enabled switches one of a lower source.
func mcpSpec() *spec {
	port := whole("of the page the browser is sent back to; default: any", 1)
	port.most = 65535
	oauth := object("", key("clientId", text("of a client that was registered by hand")), key("clientSecret", text("its secret")), key("scope", text("what is asked for")),
		key("callbackPort", port), key("redirectUri", text("where the browser is sent back to")))
	return either("",
		object("", must("type", choice("a program, or an address", "local")), must("command", list("the command with its arguments", text(""))),
			key("cwd", text("where it runs; default: the project")), key("environment", dict("variables it gets", text(""))),
			key("enabled", toggle("default: true")), key("timeout", whole("how long it may take, in milliseconds; default: 30000", 1)),
			key("sandbox", serverSandboxSpec())).needsTrust(),
		object("", must("type", choice("", "remote")), must("url", text("its address")), key("headers", dict("HTTP headers to send", text(""))),
			key("oauth", either("how to log in; false does not", oauth, off())), key("enabled", toggle("")), key("timeout", whole("milliseconds", 1))).needsTrust(),
		object("", must("enabled", toggle("").riskyIf(is("true")))))
}

// serverSandboxSpec: a server is no command line, so it has no patterns of them.
func serverSandboxSpec() *spec {
	modes := func() *spec {
		return choice("what the server may write: the project, nothing of it, or all; default: workspace where the kernel can", "workspace", "read-only", "off")
	}
	return either("how the server is confined", modes(), object("",
		key("mode", modes()),
		key("write", list("further folders that it may write", text(""))),
		key("read", list("places of credentials that it may read", text(""))),
		key("credentials", list("tools whose credentials it may read, as \"gh\"", toolName()))))
}

func formatterSpec() *spec {
	return object("", key("disabled", toggle("not used")), key("command", list("the command; the file stands for $FILE, or is appended", text(""))),
		key("environment", dict("variables it gets", text(""))), key("extensions", list("of files it formats", text(""))))
}

func lspSpec() *spec {
	return object("", key("command", list("the command with its arguments", text(""))), key("extensions", list("of files it knows", text(""))), key("disabled", toggle("not used")),
		key("env", dict("variables it gets", text(""))), key("initialization", dict("what it is told first", anything(""))))
}
