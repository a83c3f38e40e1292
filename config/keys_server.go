package config

// limit is a time in milliseconds, or none.
func limit() *spec { return either("milliseconds, or false", whole("", 1), off()) }

func providerSpec() *spec {
	options := object("options of the provider",
		key("apiKey", text("").needsTrust()), key("baseURL", text("").needsTrust()), key("enterpriseUrl", text("").needsTrust()),
		key("setCacheKey", toggle("")), key("timeout", limit()), key("headerTimeout", limit()), key("chunkTimeout", limit()),
	).with(anything("").needsTrust()) // headers, credentials: whatever a provider knows
	return object("",
		key("api", text("its address").needsTrust()), key("name", text("")),
		key("env", list("the variables that may hold its key", text("")).needsTrust()), key("id", text("")),
		key("npm", text("which protocol it speaks").needsTrust()),
		key("whitelist", list("the only models to offer", text(""))), key("blacklist", list("models not to offer", text(""))),
		key("options", options), key("models", dict("models by id", modelSpec())))
}

func modelSpec() *spec {
	price := func(more ...entry) *spec {
		return object("dollars per million tokens", append([]entry{
			must("input", num("")), must("output", num("")), key("cache_read", num("")), key("cache_write", num("")),
		}, more...)...)
	}
	modality := list("", choice("", "text", "audio", "image", "video", "pdf"))
	return object("",
		key("id", text("its id at the provider")), key("name", text("")), key("family", text("")), key("release_date", text("")),
		key("attachment", toggle("")), key("reasoning", toggle("")), key("temperature", toggle("")), key("tool_call", toggle("")),
		key("interleaved", either("", toggle(""), text(""), object("", must("field", text(""))))),
		key("cost", price(key("context_over_200k", price()), key("tiers", anything(""))).needsTrust()), // a budget is counted with it
		key("limit", object("in tokens", must("context", num("")), key("input", num("")), must("output", num("")))),
		key("modalities", object("", key("input", modality), key("output", modality))),
		key("experimental", anything("")), key("status", choice("", "alpha", "beta", "deprecated", "active")),
		key("provider", object("", key("npm", text("").needsTrust()), key("api", text("").needsTrust()))),
		key("options", dict("options for the provider", anything("")).riskyIf(holdsAddress)),
		key("headers", dict("", text("")).needsTrust()),
		key("variants", dict("named sets of options", object("", key("disabled", toggle(""))).with(anything("").riskyIf(holdsAddress)))))
}

// mcpSpec: an entry that only says enabled switches one of a lower source.
func mcpSpec() *spec {
	port := whole("", 1)
	port.most = 65535
	oauth := object("", key("clientId", text("")), key("clientSecret", text("")), key("scope", text("")),
		key("callbackPort", port), key("redirectUri", text("")))
	return either("",
		object("", must("type", choice("", "local")), must("command", list("the command with its arguments", text(""))),
			key("cwd", text("")), key("environment", dict("", text(""))), key("enabled", toggle("")), key("timeout", whole("milliseconds", 1))).needsTrust(),
		object("", must("type", choice("", "remote")), must("url", text("")), key("headers", dict("", text(""))),
			key("oauth", either("", oauth, off())), key("enabled", toggle("")), key("timeout", whole("milliseconds", 1))).needsTrust(),
		object("", must("enabled", toggle("").riskyIf(is("true")))))
}

func formatterSpec() *spec {
	return object("", key("disabled", toggle("")), key("command", list("the command; the file stands for $FILE, or is appended", text(""))),
		key("environment", dict("", text(""))), key("extensions", list("", text(""))))
}

func lspSpec() *spec {
	return object("", key("command", list("", text(""))), key("extensions", list("", text(""))), key("disabled", toggle("")),
		key("env", dict("", text(""))), key("initialization", dict("", anything(""))))
}
