package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/lathe-agent/lathe"
)

// Prompt is what someone wants of a session. All but Parts may be left out.
type Prompt struct {
	ID      lathe.MessageID // sending the same again changes nothing
	Agent   string
	Model   *lathe.ModelRef
	Variant string
	System  string
	Tools   map[string]bool
	Format  json.RawMessage
	NoReply bool
	// Delivery says when it takes its place while a turn runs: steer, which "" is too, or queue.
	Delivery lathe.Delivery
	Parts    []lathe.Part // their ids may be left out
}

type promptBody struct {
	Message lathe.MessageID `json:"messageID,omitempty"`
	Model   *modelBody      `json:"model,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Variant string          `json:"variant,omitempty"`
	NoReply bool            `json:"noReply,omitempty"`
	System  string          `json:"system,omitempty"`
	Tools   map[string]bool `json:"tools,omitempty"`
	Format  json.RawMessage `json:"format,omitempty"`

	Delivery lathe.Delivery `json:"delivery,omitempty"`
	Parts    []part         `json:"parts"`
}

type modelBody struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
}

func bodyOf(ref *lathe.ModelRef) *modelBody {
	if ref == nil {
		return nil
	}
	return &modelBody{ref.Provider, ref.Model}
}

// part is a part of a prompt, which has no place yet and often no id.
type part lathe.Part

// MarshalJSON leaves out ids that are empty: the reference takes no such id.
func (p part) MarshalJSON() ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(lathe.Part(p).AppendJSON(nil), &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"id", "sessionID", "messageID"} {
		if string(members[name]) == `""` {
			delete(members, name)
		}
	}
	return json.Marshal(members)
}

func (p Prompt) body() promptBody {
	b := promptBody{
		Message: p.ID, Model: bodyOf(p.Model), Agent: p.Agent, Variant: p.Variant, NoReply: p.NoReply,
		System: p.System, Tools: p.Tools, Format: p.Format, Delivery: p.Delivery, Parts: []part{},
	}
	for _, one := range p.Parts {
		b.Parts = append(b.Parts, part(one))
	}
	return b
}

// Prompt sends a prompt and waits until the session rests, however long that is. Giving up
// does not end the turn; Cancel does.
func (c *Client) Prompt(ctx context.Context, id lathe.SessionID, p Prompt) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "POST", path: in(id, "/message"), body: p.body(), to: &m, endless: true})
}

// Submit sends a prompt; it is safe when Submit returns.
func (c *Client) Submit(ctx context.Context, id lathe.SessionID, p Prompt) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "POST", path: own(id, "/prompt"), body: p.body(), to: &m})
}

// Wait waits until a session rests, however long that is, and returns its newest answer.
func (c *Client) Wait(ctx context.Context, id lathe.SessionID) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "POST", path: own(id, "/wait"), to: &m, endless: true})
}

// Cancel ends the turn of a session and of all below it.
func (c *Client) Cancel(ctx context.Context, id lathe.SessionID) error {
	return c.call(ctx, request{method: "POST", path: in(id, "/abort")})
}

// Resume goes on with a turn that was cut off.
func (c *Client) Resume(ctx context.Context, id lathe.SessionID) error {
	return c.call(ctx, request{method: "POST", path: own(id, "/resume")})
}

// Shell is a command that the user typed.
type Shell struct {
	Agent   string
	Model   *lathe.ModelRef
	Message lathe.MessageID
	Command string
}

// Shell runs a command of the user's and waits until it ends.
func (c *Client) Shell(ctx context.Context, id lathe.SessionID, s Shell) (m lathe.Message, err error) {
	body := struct {
		Message lathe.MessageID `json:"messageID,omitempty"`
		Agent   string          `json:"agent"`
		Model   *modelBody      `json:"model,omitempty"`
		Command string          `json:"command"`
	}{s.Message, s.Agent, bodyOf(s.Model), s.Command}
	return m, c.call(ctx, request{method: "POST", path: in(id, "/shell"), body: body, to: &m, endless: true})
}

// Command is the call of a slash command.
type Command struct {
	Command   string
	Arguments string
	Message   lathe.MessageID
	Agent     string
	Model     *lathe.ModelRef
	Variant   string
	Parts     []lathe.Part // files that go with it
}

type commandBody struct {
	Message   lathe.MessageID `json:"messageID,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Model     string          `json:"model,omitempty"`
	Variant   string          `json:"variant,omitempty"`
	Command   string          `json:"command"`
	Arguments string          `json:"arguments"`
	Parts     []part          `json:"parts,omitempty"`
}

// Command runs a slash command as a prompt and waits until the session rests.
func (c *Client) Command(ctx context.Context, id lathe.SessionID, cmd Command) (m lathe.Message, err error) {
	body := commandBody{Message: cmd.Message, Agent: cmd.Agent, Variant: cmd.Variant, Command: cmd.Command, Arguments: cmd.Arguments}
	if cmd.Model != nil {
		body.Model = cmd.Model.Provider + "/" + cmd.Model.Model
	}
	for _, one := range cmd.Parts {
		body.Parts = append(body.Parts, part(one))
	}
	return m, c.call(ctx, request{method: "POST", path: in(id, "/command"), body: body, to: &m, endless: true})
}

// Compact compresses the history of a session with a model, and returns when that is done.
func (c *Client) Compact(ctx context.Context, id lathe.SessionID, by lathe.ModelRef) error {
	return c.call(ctx, request{method: "POST", path: in(id, "/summarize"), body: bodyOf(&by), endless: true})
}

// Page is a part of a history, oldest first.
type Page struct {
	Messages []lathe.Message
	Next     string // leads to the older ones; "" if there are none
}

// Messages returns the newest messages, at most limit of them, or those older than what the page
// before led to. A limit of 0 has no limit.
func (c *Client) Messages(ctx context.Context, id lathe.SessionID, before string, limit int) (p Page, err error) {
	q := url.Values{}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	if before != "" {
		q.Set("before", before)
	}
	var h http.Header
	err = c.call(ctx, request{method: "GET", path: in(id, "/message"), query: q, to: &p.Messages, header: &h})
	p.Next = h.Get("X-Next-Cursor")
	return p, err
}

// Message returns one message with its parts.
func (c *Client) Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "GET", path: in(session, "/message/"+url.PathEscape(string(id))), to: &m})
}

// target is a point of a session.
type target struct {
	Message lathe.MessageID `json:"messageID,omitempty"`
	Part    lathe.PartID    `json:"partID,omitempty"`
}

// Revert undoes from a message, or a part of it, on; Unrevert takes that back. Undo and Redo
// also say what became of the files.
func (c *Client) Revert(ctx context.Context, id lathe.SessionID, m lathe.MessageID, p lathe.PartID) (s lathe.Session, err error) {
	return s, c.call(ctx, request{method: "POST", path: in(id, "/revert"), body: target{m, p}, to: &s})
}

// Unrevert takes an undo back.
func (c *Client) Unrevert(ctx context.Context, id lathe.SessionID) (s lathe.Session, err error) {
	return s, c.call(ctx, request{method: "POST", path: in(id, "/unrevert"), to: &s})
}

// Undo says how far. Without a message an undo is of the last exchange that stands, a redo of the
// first that does not.
type Undo struct {
	Message lathe.MessageID `json:"messageID,omitempty"`
	Part    lathe.PartID    `json:"partID,omitempty"`
	All     bool            `json:"all,omitempty"` // of a redo: everything
	DryRun  bool            `json:"dryRun,omitempty"`
}

// Undone is what an undo or a redo did.
type Undone struct {
	Message lathe.MessageID `json:"messageID"` // from here on the session is undone; "" if nothing is
	Session lathe.Session   `json:"session"`
	Files   []UndoneFile    `json:"files"`
}

// UndoneFile is what became of a file: create, remove, restore, or conflict.
type UndoneFile struct {
	File     string `json:"file"`
	Action   string `json:"action"`
	Conflict string `json:"conflict"` // why it was left alone
	Note     string `json:"note"`
}

// Undo takes back what a session did from a point on.
func (c *Client) Undo(ctx context.Context, id lathe.SessionID, u Undo) (out Undone, err error) {
	return out, c.call(ctx, request{method: "POST", path: own(id, "/undo"), body: u, to: &out})
}

// Redo brings back what was undone.
func (c *Client) Redo(ctx context.Context, id lathe.SessionID, u Undo) (out Undone, err error) {
	return out, c.call(ctx, request{method: "POST", path: own(id, "/redo"), body: u, to: &out})
}
