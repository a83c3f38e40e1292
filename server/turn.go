package server

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// turnAPI answers for prompts, shell commands and undo.
type turnAPI struct {
	engine Engine
}

func (a turnAPI) routes() []row {
	missing, busy := []failure{failsBad, failsMissing}, []failure{failsBad, failsMissing, failsBusy}
	return []row{
		answer(route("POST /session/{sessionID}/message", "session.prompt", "session", mayAll,
			"Send a prompt and wait for the answer. Disconnecting does not stop the turn", missing, withoutCompression, in(anywhere)), a.prompt),
		answer(route("POST /session/{sessionID}/prompt_async", "session.prompt_async", "session", mayAll,
			"Send a prompt; the answer arrives on the event stream", missing, withoutCompression, in(atPlaceOr)), a.promptAsync),
		answer(route("POST /session/{sessionID}/shell", "session.shell", "session", mayAll,
			"Run the user's shell command in an idle session", busy, withoutCompression), ofSession(a.shell)),
		answer(route("POST /session/{sessionID}/abort", "session.abort", "session", mayAnswer,
			"Stop the turn of a session and its child sessions", []failure{failsBad}, in(anywhere)), a.abort),
		answer(route("POST /session/{sessionID}/revert", "session.revert", "session", mayAll,
			"Undo messages and file changes from a message on", busy), ofSession(a.revert)),
		answer(route("POST /session/{sessionID}/unrevert", "session.unrevert", "session", mayAll,
			"Redo everything that was undone", busy), ofSession(a.unrevert)),
	}
}

type promptBody struct {
	Message lathe.MessageID `json:"messageID,omitempty"`
	Model   *modelBody      `json:"model,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Variant string          `json:"variant,omitempty"`
	NoReply bool            `json:"noReply,omitempty"`
	System  string          `json:"system,omitempty"`
	Tools   map[string]bool `json:"tools,omitempty"`
	Format  object          `json:"format,omitempty"`
	Parts   []partInput     `json:"parts"`

	Delivery lathe.Delivery `json:"delivery,omitempty" enum:"steer,queue" doc:"of ours: while a turn runs, before its next step or behind it"`
}

type modelBody struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
}

func (m *modelBody) ref() *lathe.ModelRef {
	if m == nil {
		return nil
	}
	return &lathe.ModelRef{Provider: m.Provider, Model: m.Model}
}

// prompt checks the body and converts it for the engine.
func (b promptBody) prompt() (lathe.Prompt, error) {
	p := lathe.Prompt{
		ID: b.Message, Agent: b.Agent, Model: b.Model.ref(), Variant: b.Variant, System: b.System, Tools: b.Tools,
		Format: json.RawMessage(b.Format), NoReply: b.NoReply, Delivery: b.Delivery,
	}
	if err := checkMessage(b.Message); err != nil {
		return p, err
	}
	for _, part := range b.Parts {
		p.Parts = append(p.Parts, lathe.Part(part))
	}
	return p, nil
}

// partInput is a part of a prompt: a text, a file, an agent or a subtask.
type partInput lathe.Part

// needed are the members that a part of a prompt cannot do without.
func needed(kind string) []string {
	switch kind {
	case "text":
		return []string{"text"}
	case "file":
		return []string{"mime", "url"}
	case "agent":
		return []string{"name"}
	case "subtask":
		return []string{"prompt", "description", "agent"}
	default:
		return nil
	}
}

// MarshalJSON writes a part as it came.
func (p partInput) MarshalJSON() ([]byte, error) { return lathe.Part(p).AppendJSON(nil), nil }

// UnmarshalJSON reads a part and sees that nothing is missing.
func (p *partInput) UnmarshalJSON(data []byte) error {
	var have map[string]json.RawMessage
	if err := json.Unmarshal(data, &have); err != nil {
		return err
	}
	kind := ""
	_ = json.Unmarshal(have["type"], &kind) // another type is none
	members := needed(kind)
	if members == nil {
		return lathe.Errorf(lathe.Invalid, `parts: type is text, file, agent or subtask, not %s`, phrase.Shorten(string(have["type"]), 40))
	}
	for _, name := range members {
		if v, ok := have[name]; !ok || string(v) == "null" {
			return lathe.Errorf(lathe.Invalid, "Missing key at [%q] of a part of type %s", name, kind)
		}
	}
	var part lathe.Part
	if err := json.Unmarshal(data, &part); err != nil {
		return err
	}
	if part.ID != "" {
		if err := lathe.CheckID(lathe.PrefixPart, string(part.ID)); err != nil {
			return err
		}
	}
	*p = partInput(part)
	return nil
}

// readPrompt is the session that the path names and the prompt of the body.
func (c *call) readPrompt(in promptBody) (lathe.SessionID, lathe.Prompt, error) {
	rec, err := c.session()
	if err != nil {
		return "", lathe.Prompt{}, err
	}
	p, err := in.prompt()
	return rec.ID, p, err
}

// prompt responds when the session is idle. The turn continues if the client disconnects.
func (a turnAPI) prompt(c *call, _ none, in promptBody) (lathe.Message, error) {
	id, p, err := c.readPrompt(in)
	if err != nil {
		return lathe.Message{}, err
	}
	to, err := c.promptNode()
	if err != nil {
		return lathe.Message{}, err
	}
	var m lathe.Message
	if to != "" {
		m, err = c.submitAt(to, id, in)
	} else {
		m, err = a.engine.Submit(context.WithoutCancel(c.Context()), id, p)
	}
	if err != nil || p.NoReply {
		return m, err
	}
	return c.waitIdle(a.engine, id)
}

// promptNode returns the node that composes a prompt of the session, "" for this one.
func (c *call) promptNode() (string, error) {
	if c.server.node.Find == nil {
		return "", nil
	}
	rec, err := c.session()
	if err != nil {
		return "", err
	}
	return c.node(rec.Directory, atPlaceOr)
}

// waitIdle waits until a session is idle, and returns its newest answer.
func (c *call) waitIdle(turns Engine, id lathe.SessionID) (lathe.Message, error) {
	ctx, stop := c.longContext()
	defer stop()
	m, err := turns.Wait(ctx, id)
	if err == nil && m.Data == nil {
		err = lathe.Errorf(lathe.NotFound, "session %s has no messages", id)
	}
	return m, err
}

// promptAsync responds when the prompt is stored. A later failure, such as an unknown model, is
// published as session.error.
func (a turnAPI) promptAsync(c *call, _ none, in promptBody) (none, error) {
	id, p, err := c.readPrompt(in)
	if err != nil {
		return none{}, err
	}
	_, err = a.engine.Submit(context.WithoutCancel(c.Context()), id, p)
	switch lathe.CodeOf(err) {
	case lathe.Conflict, lathe.Unavailable, lathe.Internal:
		return none{}, err
	default:
		return none{}, nil
	}
}

type shellBody struct {
	Message lathe.MessageID `json:"messageID,omitempty"`
	Agent   string          `json:"agent"`
	Model   *modelBody      `json:"model,omitempty"`
	Command string          `json:"command"`
}

// shell responds when the command has ended. It continues if the client disconnects; abort stops it.
func (a turnAPI) shell(c *call, rec lathe.Session, _ none, in shellBody) (lathe.Message, error) {
	if err := checkMessage(in.Message); err != nil {
		return lathe.Message{}, err
	}
	return a.engine.Shell(context.WithoutCancel(c.Context()), rec.ID, lathe.ShellCommand{Agent: in.Agent, Model: in.Model.ref(), Message: in.Message, Command: in.Command})
}

// abort ignores an unknown session.
func (a turnAPI) abort(c *call, _, _ none) (bool, error) {
	id, err := c.sessionID()
	if err != nil {
		return false, err
	}
	err = a.engine.Cancel(context.WithoutCancel(c.Context()), id)
	if lathe.CodeOf(err) == lathe.NotFound {
		return true, nil
	}
	return true, err
}

type revertBody struct {
	Message lathe.MessageID `json:"messageID"`
	Part    lathe.PartID    `json:"partID,omitempty"`
}

// revert to an unknown message changes nothing.
func (a turnAPI) revert(c *call, rec lathe.Session, _ none, in revertBody) (lathe.Session, error) {
	if err := lathe.CheckID(lathe.PrefixMessage, string(in.Message)); err != nil {
		return rec, badRequest("Body", "messageID: %v", err)
	}
	done, err := a.engine.Revert(context.WithoutCancel(c.Context()), rec.ID, lathe.Undo{Message: in.Message, Part: in.Part})
	return done.Session, err
}

func (a turnAPI) unrevert(c *call, rec lathe.Session, _, _ none) (lathe.Session, error) {
	done, err := a.engine.Unrevert(context.WithoutCancel(c.Context()), rec.ID, lathe.Undo{})
	return done.Session, err
}
