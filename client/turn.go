package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/lathe-agent/lathe"
)

// Prompt sends a prompt and waits, without a time limit, until the session is idle. Canceling the context does not end
// the turn; Cancel does.
func (c *Client) Prompt(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "POST", path: in(id, "/message"), body: p, to: &m, endless: true})
}

// Submit sends a prompt; it is safe when Submit returns.
func (c *Client) Submit(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "POST", path: own(id, "/prompt"), body: p, to: &m})
}

// Wait waits, without a time limit, until a session is idle and returns its newest answer.
func (c *Client) Wait(ctx context.Context, id lathe.SessionID) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "POST", path: own(id, "/wait"), to: &m, endless: true})
}

// Cancel ends the turn of a session and of all below it.
func (c *Client) Cancel(ctx context.Context, id lathe.SessionID) error {
	return c.call(ctx, request{method: "POST", path: in(id, "/abort")})
}

// Resume continues an interrupted turn.
func (c *Client) Resume(ctx context.Context, id lathe.SessionID) error {
	return c.call(ctx, request{method: "POST", path: own(id, "/resume")})
}

// Shell runs a command of the user's and waits until it ends. The server confines it, Local or not.
func (c *Client) Shell(ctx context.Context, id lathe.SessionID, s lathe.ShellCommand) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "POST", path: in(id, "/shell"), body: s, to: &m, endless: true})
}

// Command runs a slash command as a prompt and waits until the session is idle.
func (c *Client) Command(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "POST", path: in(id, "/command"), body: call, to: &m, endless: true})
}

// Compact compresses the history of a session with a model, and returns when that is done.
func (c *Client) Compact(ctx context.Context, id lathe.SessionID, req lathe.CompactRequest) error {
	var body struct {
		Provider string `json:"providerID"`
		Model    string `json:"modelID"`
		Auto     bool   `json:"auto,omitempty"`
	}
	if body.Auto = req.Auto; req.Model != nil {
		body.Provider, body.Model = req.Model.Provider, req.Model.Model
	}
	return c.call(ctx, request{method: "POST", path: in(id, "/summarize"), body: body, endless: true})
}

// Messages returns the newest messages before a place, at most limit of them. A limit of 0 has no limit.
func (c *Client) Messages(ctx context.Context, id lathe.SessionID, before lathe.Position, limit int) (p lathe.Page, err error) {
	q := url.Values{}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	if !before.IsZero() {
		q.Set("before", before.Token())
	}
	var h http.Header
	if err = c.call(ctx, request{method: "GET", path: in(id, "/message"), query: q, to: &p.Messages, header: &h}); err != nil {
		return p, err
	}
	if next := h.Get("X-Next-Cursor"); next != "" {
		p.More = true
		p.Next, err = lathe.ParsePosition(next)
	}
	return p, err
}

// Message returns one message with its parts.
func (c *Client) Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (m lathe.Message, err error) {
	return m, c.call(ctx, request{method: "GET", path: in(session, "/message/"+url.PathEscape(string(id))), to: &m})
}

// Undo reverts a session to a point.
func (c *Client) Undo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (out lathe.Undone, err error) {
	return out, c.call(ctx, request{method: "POST", path: own(id, "/undo"), body: u, to: &out})
}

// Steps lists steps of a session.
func (c *Client) Steps(ctx context.Context, id lathe.SessionID, q lathe.StepQuery) (out lathe.StepList, err error) {
	v := url.Values{}
	if q.Before != 0 {
		v.Set("before", strconv.Itoa(q.Before))
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return out, c.call(ctx, request{method: "GET", path: own(id, "/steps"), query: v, to: &out})
}

// Rewind brings a session to the end of a step.
func (c *Client) Rewind(ctx context.Context, id lathe.SessionID, in lathe.Rewind) (out lathe.Rewound, err error) {
	return out, c.call(ctx, request{method: "POST", path: own(id, "/rewind"), body: in, to: &out})
}

// Redo restores what Undo reverted.
func (c *Client) Redo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (out lathe.Undone, err error) {
	return out, c.call(ctx, request{method: "POST", path: own(id, "/redo"), body: u, to: &out})
}
