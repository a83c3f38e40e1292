package lathe

import (
	"encoding/json"
	"strings"
)

// Prompt is what a caller asks of a session. All but Parts may be left out.
type Prompt struct {
	ID       MessageID // sending the same prompt again changes nothing; "" makes one
	Agent    string
	Model    *ModelRef
	Variant  string
	System   string          // goes before the conversation, for this exchange
	Tools    map[string]bool // false switches a tool off, for this exchange
	Format   json.RawMessage // of the answer
	Delivery Delivery        // when it takes its place while a turn runs; "" is Steer
	NoReply  bool            // no answer is wanted
	Parts    []Part          // texts, files, agents and subtasks; their ids may be left out
}

func (p *Prompt) fields(c *codec) {
	optStr(c, "messageID", &p.ID)
	optObject(c, "model", &p.Model)
	optStr(c, "agent", &p.Agent)
	variant := p.Variant
	if variant == "" && p.Model != nil {
		variant = p.Model.Variant // a request has one place for it
	}
	if optStr(c, "variant", &variant); c.reading {
		p.Variant = variant
	}
	optBool(c, "noReply", &p.NoReply)
	optStr(c, "system", &p.System)
	optSwitches(c, "tools", &p.Tools)
	raw(c, "format", &p.Format)
	optStr(c, "delivery", &p.Delivery)
	list(c, "parts", &p.Parts)
}

// optBool leaves a false out.
func optBool(c *codec, key string, v *bool) {
	if c.reading || *v {
		boolean(c, key, v)
	}
}

// optSwitches leaves an empty map out.
func optSwitches(c *codec, key string, v *map[string]bool) {
	var value json.RawMessage
	if len(*v) > 0 {
		value, _ = json.Marshal(*v) // it never fails
	}
	raw(c, key, &value)
	if c.reading && json.Unmarshal(value, v) != nil && value != nil {
		c.failAt(key, "true or false by name")
	}
}

// MarshalJSON writes the prompt as a request has it: ids that are empty are left out.
func (p Prompt) MarshalJSON() ([]byte, error) { return encodeAs(nil, &p, form{request: true}), nil }

// CommandCall is a call of a slash command.
type CommandCall struct {
	Command   string
	Arguments string
	Message   MessageID // of the prompt that comes of it; "" makes one
	Agent     string
	Model     *ModelRef
	Variant   string
	Parts     []Part // files that the caller has attached
}

func (m *CommandCall) fields(c *codec) {
	optStr(c, "messageID", &m.Message)
	optStr(c, "agent", &m.Agent)
	var model string // as provider/model, other than everywhere else
	if m.Model != nil {
		model = m.Model.Provider + "/" + m.Model.Model
	}
	optStr(c, "model", &model)
	if c.reading && model != "" {
		provider, name, _ := strings.Cut(model, "/")
		m.Model = &ModelRef{Provider: provider, Model: name}
	}
	optStr(c, "variant", &m.Variant)
	str(c, "command", &m.Command)
	str(c, "arguments", &m.Arguments)
	optList(c, "parts", &m.Parts)
}

// MarshalJSON writes the call as a request has it: ids that are empty are left out.
func (m CommandCall) MarshalJSON() ([]byte, error) {
	return encodeAs(nil, &m, form{request: true}), nil
}

// ShellCommand is a shell command that the user typed.
type ShellCommand struct {
	Message MessageID `json:"messageID,omitempty"` // of the prompt that stands for it; "" makes one
	Agent   string    `json:"agent"`
	Model   *ModelRef `json:"model,omitempty"`
	Command string    `json:"command"`
	// Local says that the user typed it into the program that runs it, so that nothing confines it. No
	// request can say that.
	Local bool `json:"-"`
}

// NewSession is what a new session may be given. All of it may be left out.
type NewSession struct {
	ID        SessionID       `json:"-"` // chosen by the caller, for imports and tests
	Parent    SessionID       `json:"parentID,omitempty"`
	Title     string          `json:"title,omitempty"`
	Rules     Ruleset         `json:"permission,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Model     *SessionModel   `json:"model,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	Workspace WorkspaceID     `json:"workspaceID,omitempty"`
}

// CompactRequest asks for a session to be compacted.
type CompactRequest struct {
	Model *ModelRef // nil is the model of the session
	Auto  bool      // continue working afterwards
}

// Undo says how much of a session to undo or redo. Without a message, undo reverts the last exchange that stands, and
// redo restores the first reverted one. The tags doc and enum are for the description of the HTTP API.
type Undo struct {
	Message MessageID `json:"messageID,omitempty"`
	Part    PartID    `json:"partID,omitempty"` // "" is the whole message, and the prompt it answers
	All     bool      `json:"all,omitempty" doc:"of a redo: everything"`
	DryRun  bool      `json:"dryRun,omitempty" doc:"say what would be done, and do nothing"`
}

// Undone is what an undo or a redo did.
type Undone struct {
	Message MessageID    `json:"messageID,omitempty" doc:"from here on the session is undone; absent if nothing is"`
	Session Session      `json:"session"`
	Files   []UndoneFile `json:"files"`
}

// UndoneFile is what became of a file.
type UndoneFile struct {
	File     string `json:"file"` // absolute, with slashes
	Action   string `json:"action" enum:"create,remove,restore,conflict"`
	Conflict string `json:"conflict,omitempty" doc:"why the file was left alone"`
	Note     string `json:"note,omitempty"`
}
