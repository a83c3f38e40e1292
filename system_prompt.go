package lathe

// SystemPrompt is what goes before the conversation of a session, as it was when it was
// sampled: the same bytes before every request, so that what providers keep of them stays good.
// It is stored beside the session and never on the wire.
type SystemPrompt struct {
	// A change of these fields makes a new system prompt.
	Agent     string   `json:"agent"`
	Model     ModelRef `json:"model"`
	Directory string   `json:"directory"`
	// Summary is the newest summary of the history then, "" if there was none: notices in
	// earlier prompts are no longer in view.
	Summary MessageID `json:"summary,omitempty"`

	Text string `json:"text"`
	// Sources are the instructions and the list of skills that the model has seen so far, here
	// or in a prompt that announced a change.
	Sources []SystemPromptSource `json:"sources"`
}

// SystemPromptSource is one text of a system prompt by its name.
type SystemPromptSource struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}
