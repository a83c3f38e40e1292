package openai

// Dialect is a server's deviations from the protocol. The zero value suits most servers. Package
// provider sets the rest by vendor and model.
type Dialect struct {
	Azure Azure

	MaxTokens string // field that limits the answer; "" means max_tokens
	NoUsage   bool   // the server rejects a request for the usage

	// Reasoning is the message field that sends reasoning back, also an empty one. "" means the
	// field in which the server sent it, if any. In Responses any value means that the model
	// reasons, so that its encrypted reasoning is requested.
	Reasoning string
	// NoReasoning is for servers that send reasoning and reject it in requests.
	NoReasoning bool
	// Effort is the name of the object with the field effort; "" means reasoning_effort.
	Effort string

	Noop     bool   // the server rejects calls in the history of a request without tools
	Required string // its word for a mandatory call; "" means required
	ShortIDs bool   // call IDs have nine letters or digits, and no user message follows a tool

	// Cache is the place of a prompt cache breakpoint: "content" for the last piece of a message's
	// content, another name for a field of the message, "" for none.
	Cache string
	// Costs trusts the cost that the server reports, for models without a known price.
	Costs bool
	// Custom offers free-form tools as custom tools, in Responses.
	Custom bool
	// Instructions is for servers of Responses that want the system prompt in a field of that name and
	// reject a limit of the answer.
	Instructions bool
}

// Azure is the addressing of Azure's servers. The key is in the endpoint's header api-key, and the
// model's name is that of a deployment.
type Azure struct {
	Version     string // api-version; "" omits it
	Deployments bool   // use the older paths, which name the deployment
}

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
