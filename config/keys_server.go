package config

// limit is a timeout in milliseconds, or false for none.
func limit(doc string) *spec { return either(doc, whole("", 1), off()) }

func providerSpec() *spec {
	options := object("Provider options",
		key("apiKey", text("API key, preferably as {env:NAME} or {file:path}").needsTrust()), key("baseURL", text("Base URL of the API").needsTrust()),
		key("enterpriseUrl", text("GitHub Enterprise URL, for Copilot").needsTrust()), key("setCacheKey", toggle("Send the session ID as prompt cache key; default: depends on the provider")),
		key("oauth", object("Login by OAuth, for lathe auth login; with tokenUrl, clientId, and authorizeUrl (in the browser) or deviceUrl (with a code)", key("authorizeUrl", text("Page where the user logs in")), key("deviceUrl", text("Endpoint for device codes")), key("tokenUrl", text("Endpoint for tokens")),
			key("clientId", text("Client ID of a public app")), key("scope", text("Scopes to ask for, separated by spaces")), key("label", text("Name of the login in menus"))).needsTrust()),
		key("timeout", limit("Timeout in milliseconds; default: 300000")), key("headerTimeout", limit("Timeout until the response starts; default: timeout")),
		key("chunkTimeout", limit("Timeout between two chunks of the response; default: timeout")),
	).with(anything("").needsTrust()) // headers, credentials and other provider-specific options
	return object("",
		key("api", text("Base URL if options.baseURL is not set").needsTrust()), key("name", text("Display name")),
		key("env", list("Environment variables to read the API key from", text("")).needsTrust()), key("id", text("Provider ID; has no effect: the key is the ID")),
		key("npm", text("Protocol, as an AI SDK package name such as @ai-sdk/anthropic or @ai-sdk/openai-compatible").needsTrust()),
		key("whitelist", list("Models to enable; all others are hidden", text(""))), key("blacklist", list("Models to hide", text(""))),
		key("options", options), key("models", dict("Models by ID", modelSpec())))
}

func modelSpec() *spec {
	price := func(more ...entry) *spec {
		return object("Prices in dollars per million tokens", append([]entry{
			must("input", num("Input tokens")), must("output", num("Output tokens")), key("cache_read", num("Cached input tokens")),
			key("cache_write", num("Tokens written to the cache")),
		}, more...)...)
	}
	modality := list("", choice("", "text", "audio", "image", "video", "pdf"))
	return object("",
		key("id", text("Model ID at the provider; default: the key")), key("name", text("Display name")), key("family", text("Model family")),
		key("release_date", text("Release date as YYYY-MM-DD")), key("attachment", toggle("Supports attachments")), key("reasoning", toggle("Supports reasoning")),
		key("temperature", toggle("Supports temperature")), key("tool_call", toggle("Supports tool calls")),
		key("interleaved", either("Send reasoning back to the model, optionally in the named field", toggle(""), text(""), object("", must("field", text("Field name"))))),
		key("cost", price(key("context_over_200k", price()), key("tiers", anything("Prices by request size"))).needsTrust()), // budgets are computed from it
		key("limit", object("Token limits", must("context", num("Context window")), key("input", num("Maximum input")), must("output", num("Maximum output")))),
		key("modalities", object("Input and output media types", key("input", modality), key("output", modality))),
		key("experimental", anything("Experimental modes of the vendor")), key("status", choice("Release status", "alpha", "beta", "deprecated", "active")),
		key("provider", object("Overrides of the provider's protocol and URL", key("npm", text("Protocol, as an AI SDK package name").needsTrust()), key("api", text("Base URL").needsTrust()))),
		key("options", dict("Options for the provider", anything("")).riskyIf(holdsAddress)),
		key("headers", dict("Additional HTTP headers", text("")).needsTrust()),
		key("variants", dict("Named sets of options", object("", key("disabled", toggle("Hide the variant"))).with(anything("").riskyIf(holdsAddress)))))
}

// mcpSpec accepts an entry with nothing but enabled, to turn a server of a lower source on or off.
func mcpSpec() *spec {
	port := whole("Port of the OAuth callback; default: any free port", 1)
	port.most = 65535
	oauth := object("", key("clientId", text("Client ID of a manually registered client")), key("clientSecret", text("Client secret")), key("scope", text("OAuth scopes to request")),
		key("callbackPort", port), key("redirectUri", text("OAuth redirect URI")))
	return either("",
		object("", must("type", choice("Local command or remote URL", "local")), must("command", list("Command and arguments", text(""))),
			key("cwd", text("Working directory; default: the project")), key("environment", dict("Environment variables", text(""))),
			key("enabled", toggle("Start the server; default: true")), key("timeout", whole("Timeout in milliseconds; default: 30000", 1)),
			key("sandbox", serverSandboxSpec())).needsTrust(),
		object("", must("type", choice("", "remote")), must("url", text("URL of the server")), key("headers", dict("Additional HTTP headers", text(""))),
			key("oauth", either("OAuth login; false disables it", oauth, off())), key("enabled", toggle("")), key("timeout", whole("Timeout in milliseconds", 1))).needsTrust(),
		object("", must("enabled", toggle("").riskyIf(equals("true")))))
}

// serverSandboxSpec has no command patterns, since a server is not a command line.
func serverSandboxSpec() *spec {
	modes := func() *spec {
		return choice("Where the server can write: in the project, nowhere in it, or everywhere; default: workspace if the kernel supports it", "workspace", "read-only", "off")
	}
	return either("Sandbox for the server", modes(), object("",
		key("mode", modes()),
		key("write", list("Additional writable folders", text(""))),
		key("read", list("Credential files the server can read", text(""))),
		key("credentials", list("Tools whose credentials the server can read, such as \"gh\"", toolName()))))
}

func formatterSpec() *spec {
	return object("", key("disabled", toggle("Disable it")), key("command", list("Command; $FILE is replaced by the file, which is appended otherwise", text(""))),
		key("environment", dict("Environment variables", text(""))), key("extensions", list("File extensions to format", text(""))))
}

func lspSpec() *spec {
	return object("", key("command", list("Command and arguments", text(""))), key("extensions", list("File extensions to handle", text(""))), key("disabled", toggle("Disable it")),
		key("env", dict("Environment variables", text(""))), key("initialization", dict("Initialization options", anything(""))))
}
