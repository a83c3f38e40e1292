package lathe

// SystemPrompt is what goes before the conversation of a session, as it was when it was sampled:
// the same bytes before every request, so that what providers keep of them stays good. It is
// kept beside the session and never on the wire.
type SystemPrompt struct {
	// A change of these fields makes a new system prompt.
	Agent     string   `json:"agent"`
	Model     ModelRef `json:"model"`
	Directory string   `json:"directory"`
	// Summary is the newest summary of the history then, "" if there was none: what prompts told
	// before it is no longer in view.
	Summary MessageID `json:"summary,omitempty"`

	Text string `json:"text"`
	// Sources are the instructions and the list of skills that the model knows by now, here or
	// from a prompt that told of their change.
	Sources []SystemPromptSource `json:"sources"`
}

// SystemPromptSource is one text of a system prompt by its name.
type SystemPromptSource struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}
