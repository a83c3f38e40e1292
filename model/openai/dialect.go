package openai

// Dialect is how a server's idea of the protocol differs. The zero value is what most servers
// take; the catalog has the rest as data, under the names of the tags.
type Dialect struct {
	Path  string `json:"path,omitempty"` // below the base address; "" means the protocol's own
	Azure Azure  `json:"azure,omitzero"`

	MaxTokens  string `json:"maxTokens,omitempty"`  // name of the field that bounds the answer; "" means max_tokens
	SystemRole string `json:"systemRole,omitempty"` // "" means system in Chat Completions, developer in Responses
	OneSystem  bool   `json:"oneSystem,omitempty"`  // takes one system message only: they are joined
	NoUsage    bool   `json:"noUsage,omitempty"`    // refuses to be asked for the usage
	TopK       bool   `json:"topK,omitempty"`       // takes top_k
	Flat       bool   `json:"flat,omitempty"`       // takes texts only as one string

	// Reasoning is the field in which a message gives its thoughts back, also when it has
	// none; "" means the field in which the server sent them, and none where it sent none. In
	// Responses any value says that the model reasons, so that its encrypted thoughts are asked for.
	Reasoning string `json:"reasoning,omitempty"`
	// NoReasoning is for servers that send thoughts and refuse to get them back.
	NoReasoning bool `json:"noReasoning,omitempty"`
	// Effort is where effort goes: "" means reasoning_effort, another name an object of
	// that name with a field effort.
	Effort string `json:"effort,omitempty"`

	NotStrict bool        `json:"notStrict,omitempty"` // is strict with tools unless told not to be
	NoChoice  bool        `json:"noChoice,omitempty"`  // knows no tool_choice
	Noop      bool        `json:"noop,omitempty"`      // refuses calls in the history of a request without tools
	Required  string      `json:"required,omitempty"`  // its word for a call that must be made; "" means required
	Parallel  bool        `json:"parallel,omitempty"`  // makes parallel calls only if asked to
	Schema    SchemaLevel `json:"schema,omitempty"`
	ShortIDs  bool        `json:"shortIDs,omitempty"` // ids of calls are nine letters or digits, and no user speaks right after a tool
	MaxID     int         `json:"maxID,omitempty"`    // bytes an id of a call may have; 0 means any number

	// Cache is where a breakpoint of the prompt cache is marked: "content" for the last
	// piece of a message's content, another name for a field of the message, "" for nowhere.
	Cache string `json:"cache,omitempty"`
	// Costs takes the amount the server puts on an answer for what it cost: for models
	// whose price nobody knows.
	Costs bool `json:"costs,omitempty"`
	// Custom offers tools with a free form as custom tools, in Responses.
	Custom bool `json:"custom,omitempty"`
	// Instructions puts the system texts into a field of their own, in Responses.
	Instructions bool `json:"instructions,omitempty"`
}

// Azure is how Azure's servers are reached. The key travels in the header api-key of the
// endpoint, the model's name is that of a deployment.
type Azure struct {
	Version     string `json:"version,omitempty"`     // api-version; "" leaves it out
	Deployments bool   `json:"deployments,omitempty"` // the older paths, which name the deployment
}

// SchemaLevel is how much of JSON schema a server takes in tools.
type SchemaLevel string

// The levels. Whatever the level, a schema that is none becomes that of an empty object.
const (
	SchemaFull  SchemaLevel = ""      // all of it
	SchemaPlain SchemaLevel = "plain" // no references, formats, defaults or bounds
)

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
