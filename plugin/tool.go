package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

// Tool is a tool of a plugin.
type Tool struct {
	ID          string          `json:"id"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // of its arguments, an object
	Plugin      string          `json:"-"`      // the name of its plugin
}

// ToolContext says where a call of a tool comes from.
type ToolContext struct {
	Session   lathe.SessionID
	Message   lathe.MessageID
	Call      string // its id
	Agent     string
	Directory string
	Worktree  string
}

// ToolCallbacks are the calls that a running tool may make. Both may be called from other
// goroutines, and Ask several times at once; neither after Execute has returned, but for an Ask
// whose context has ended.
type ToolCallbacks struct {
	// Ask asks for a permission; an error refuses it, and its text goes to the plugin.
	Ask func(ctx context.Context, a PermissionRequest) error
	// Progress shows how far it is. It must not block.
	Progress func(Progress)
}

// PermissionRequest is a tool's request for a permission.
type PermissionRequest struct {
	Permission string          `json:"permission"`
	Patterns   []string        `json:"patterns"`
	Always     []string        `json:"always"`
	Metadata   json.RawMessage `json:"metadata"`
}

// Progress is the progress of a running tool.
type Progress struct {
	Title    string          `json:"title"`
	Metadata json.RawMessage `json:"metadata"`
}

// ToolResult is the result of a call.
type ToolResult struct {
	Title       string          `json:"title"`
	Output      string          `json:"output"`
	Metadata    json.RawMessage `json:"metadata"` // an object, or nil
	Attachments []Attachment    `json:"attachments"`
}

// Attachment is a file that a tool hands over.
type Attachment struct {
	Mime     string `json:"mime"`
	URL      string `json:"url"` // mostly data:
	Filename string `json:"filename"`
}

// toolCall is a call of a tool. Its time stands still while a person is asked.
type toolCall struct {
	back  ToolCallbacks
	ctx   context.Context
	limit time.Duration
	timer *time.Timer

	mu      sync.Mutex
	over    bool
	asking  int   // open permission requests
	refused error // the last answer that was no
}

func newToolCall(ctx context.Context, back ToolCallbacks, limit time.Duration) (*toolCall, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return &toolCall{back: back, ctx: ctx, limit: limit, timer: time.AfterFunc(limit, func() { cancel(errSlow) })}, cancel
}

// ask forwards a permission request, and stores the answer for the waiting call.
func (r *toolCall) ask(ctx context.Context, a PermissionRequest) error {
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return errors.New("the call has ended")
	}
	r.asking++
	r.timer.Stop()
	r.mu.Unlock()
	err := r.back.Ask(ctx, a)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asking--; r.asking == 0 && !r.over {
		r.timer.Reset(r.limit)
	}
	if err != nil {
		r.refused = err
	}
	return err
}

// show passes progress on, never after the call has ended.
func (r *toolCall) show(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over && r.back.Progress != nil {
		r.back.Progress(p)
	}
}

// end returns the answer that was no, if there was one.
func (r *toolCall) end() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.timer.Stop()
	return r.refused
}

// Tools are those of all plugins that were loaded, also of those that are down or switched off, so that
// the list does not change under a model; a later one replaces an earlier of the same name. It starts
// nothing: call [Hub.Start] first.
func (c *Hub) Tools() []Tool {
	var out []Tool
	at := map[string]int{}
	for _, m := range c.members {
		m.mu.Lock()
		for _, t := range m.offers.Tools {
			if i, ok := at[t.ID]; ok {
				out[i] = t
				continue
			}
			at[t.ID] = len(out)
			out = append(out, t)
		}
		m.mu.Unlock()
	}
	return out
}

// owner is the last plugin that has a tool.
func (c *Hub) owner(id string) *plugin {
	for _, m := range slices.Backward(c.members) {
		m.mu.Lock()
		has := slices.ContainsFunc(m.offers.Tools, func(t Tool) bool { return t.ID == id })
		m.mu.Unlock()
		if has {
			return m
		}
	}
	return nil
}

// Execute runs a tool of a plugin. Its errors are for the model to read; they name the plugin. A tool that
// fails after an Ask of it was refused fails with the error of that Ask. Its time does not run while it asks.
func (c *Hub) Execute(ctx context.Context, id string, args json.RawMessage, tc ToolContext, back ToolCallbacks) (ToolResult, error) {
	if err := c.Start(ctx); err != nil {
		return ToolResult{}, err
	}
	m := c.owner(id)
	if m == nil {
		return ToolResult{}, lathe.Errorf(lathe.NotFound, "no plugin has the tool %s", id)
	}
	if state, reason := m.stateNow(); state == Off || state == Failed {
		return ToolResult{}, lathe.Errorf(lathe.Unavailable, "the tool %s does not work: plugin %s: %s", id, m.name, reason)
	}
	limit := c.opt.Timeouts.Tool
	r, cancel := newToolCall(ctx, back, limit)
	defer cancel(nil)
	l, err := m.ready(r.ctx)
	if err != nil {
		_ = r.end()
		return ToolResult{}, lathe.Errorf(lathe.Unavailable, "the tool %s does not work now: %w", id, err)
	}
	n, done := l.begin(r)
	defer done()
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	params := (&object{}).num("plugin", m.index).str("id", id).raw("args", args).raw("context", tc.encode(n)).done()
	data, err := l.conn.Call(r.ctx, "tool.execute", params)
	refused := r.end()
	if err != nil {
		if thrown := (*jsonrpc.Error)(nil); refused != nil && errors.As(err, &thrown) {
			m.well()
			return ToolResult{}, refused // which is the likely cause, and names who refused
		}
		return ToolResult{}, m.failedCall(ctx, l, "the tool "+id, err, fmt.Sprintf("no answer within %s", limit), lathe.Invalid)
	}
	res, err := readResult(data)
	if err != nil {
		return ToolResult{}, m.fault("the tool "+id, err.Error())
	}
	m.well()
	return res, nil
}

// encode writes a context as plugins read it; the number is what they name in their own
// requests.
func (t ToolContext) encode(n int64) json.RawMessage {
	return (&object{}).num("call", int(n)).str("sessionID", string(t.Session)).str("messageID", string(t.Message)).
		str("callID", t.Call).str("agent", t.Agent).str("directory", t.Directory).str("worktree", t.Worktree).done()
}

// begin lets the plugin ask questions about a call until done is called.
func (l *process) begin(r *toolCall) (n int64, done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serial++
	n = l.serial
	l.calls[n] = r
	return n, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.calls, n)
	}
}

// readResult reads a text, or an object with the members of a [ToolResult].
func readResult(data json.RawMessage) (ToolResult, error) {
	var res ToolResult
	switch shape(data) {
	case "text":
		return res, json.Unmarshal(data, &res.Output)
	case "object":
		var o struct {
			ToolResult
			Output *string `json:"output"`
		}
		if err := json.Unmarshal(data, &o); err != nil {
			return res, fmt.Errorf("its result is not what the protocol says: %w", err)
		}
		if o.Output == nil {
			return res, errors.New("its result has no output")
		}
		res = o.ToolResult
		res.Output = *o.Output
		if s := shape(res.Metadata); s != "object" {
			res.Metadata = nil
		}
		return res, nil
	default:
		return res, fmt.Errorf("its result is neither a text nor an object with an output")
	}
}
