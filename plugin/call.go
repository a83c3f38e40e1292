package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// maxGrowth is by how many bytes a hook may lengthen its output.
const maxGrowth = 4 << 20

// Call runs a hook: each plugin that has it, in load order, gets the input and the output of the one
// before, and what the last returned is the result. An error ends it, names the plugin, and has the
// code denied where the plugin itself threw it and unavailable where the plugin failed. The input of
// the hook config is nil, and its output the settings.
func (c *Hub) Call(ctx context.Context, hook string, input, output json.RawMessage) (json.RawMessage, error) {
	if len(c.members) == 0 {
		return output, nil
	}
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	for _, m := range c.members {
		if !m.has(hook) {
			continue
		}
		var err error
		if output, err = m.call(ctx, hook, input, output); err != nil {
			return nil, err
		}
	}
	return output, nil
}

var errSlow = errors.New("out of time")

// call runs the hook of one plugin.
func (m *plugin) call(ctx context.Context, hook string, input, output json.RawMessage) (json.RawMessage, error) {
	limit := m.hub.opt.Timeouts.Hook
	timed, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	l, err := m.ready(timed)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, lathe.Errorf(lathe.Unavailable, "plugin %s: %s: %w", m.name, hook, err)
	}
	if len(input)+len(output) > maxMessage-1<<10 {
		return nil, m.problem(hook, fmt.Sprintf("%d bytes are too many to send to a plugin", len(input)+len(output)))
	}
	params := (&object{b: make([]byte, 0, len(input)+len(output)+len(hook)+64)}).num("plugin", m.index).str("name", hook).raw("input", input).raw("output", output).done()
	data, err := l.conn.Call(timed, "hook", params)
	if err != nil {
		return nil, m.failedCall(ctx, l, hook, err, fmt.Sprintf("no answer within %s", limit), lathe.Denied)
	}
	l.endSuspicion()
	changed, err := m.accept(output, data)
	if err != nil {
		return nil, m.fault(hook, err.Error())
	}
	m.well()
	return changed, nil
}

// failedCall sorts the ways in which a call of a hook or a tool fails.
// code is that of an error the plugin threw.
func (m *plugin) failedCall(ctx context.Context, l *process, doing string, err error, slow string, code lathe.Code) error {
	var thrown *jsonrpc.Error
	switch {
	case errors.As(err, &thrown) && thrown.Code == codeInvalidOutput:
		return m.fault(doing, phrase.Shorten(thrown.Message, messageMost))
	case errors.As(err, &thrown):
		m.well()
		return lathe.Errorf(code, "plugin %s: %s: %s", m.name, doing, phrase.Shorten(thrown.Message, messageMost))
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errSlow):
		if !l.suspect(m) {
			return m.problem(doing, slow)
		}
		return m.fault(doing, slow)
	case jsonrpc.IsClosed(err):
		if !l.blame(m) {
			return m.problem(doing, "its process ended during the call")
		}
		return m.fault(doing, "its process ended during the call")
	default: // too long, either way
		return m.fault(doing, err.Error())
	}
}

// codeInvalidOutput is the error code with which a host blames its plugin, as for an output that is
// not JSON. An error with any other code comes from the plugin itself.
const codeInvalidOutput = -32010

// messageMost is how much of a thrown message is passed on.
const messageMost = 8 << 10

// accept checks the output of a hook; null means that it left it as it was.
func (m *plugin) accept(before, data json.RawMessage) (json.RawMessage, error) {
	var answer struct {
		Output json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("its answer is not {\"output\": …}: %w", err)
	}
	after := answer.Output
	if len(after) == 0 || bytes.Equal(after, []byte("null")) {
		return before, nil
	}
	if len(after) > len(before)+maxGrowth {
		return nil, fmt.Errorf("it made %d bytes of %d; at most %d may be added", len(after), len(before), maxGrowth)
	}
	var was, is map[string]json.RawMessage
	if err := json.Unmarshal(after, &is); err != nil || is == nil {
		return nil, errors.New("its output is not a JSON object")
	}
	if json.Unmarshal(before, &was) != nil {
		return after, nil
	}
	for name, value := range was {
		if err := sameShape(name, value, is[name]); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// sameShape compares a member of an output with its old value: a list stays a list, and is
// still there.
func sameShape(name string, was, is json.RawMessage) error {
	a, b := shape(was), shape(is)
	switch {
	case a == "null" || a == b:
		return nil
	case b == "" || b == "null":
		if a == "list" || a == "object" {
			return fmt.Errorf("it took %s away from its output", name)
		}
		return nil
	default:
		return fmt.Errorf("it made a %s of %s, which is a %s", b, name, a)
	}
}

func shape(v json.RawMessage) string {
	if len(v) == 0 {
		return ""
	}
	switch v[0] {
	case '{':
		return "object"
	case '[':
		return "list"
	case '"':
		return "text"
	case 't', 'f':
		return "truth value"
	case 'n':
		return "null"
	default:
		return "number"
	}
}
