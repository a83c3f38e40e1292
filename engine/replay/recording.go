package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Recording is what the requests of a recorded run tell about it. A request repeats the calls and results before it, in
// the words of its provider, so that answers need not be read.
type Recording struct {
	Steps     []Step
	Directory string // where it ran; "" if no request says so
}

// maxCalls is how many calls of a recording are read.
const maxCalls = 100_000

// ReadRecording finds the calls in the bodies of requests. Other requests, such as those for a title, have none.
func ReadRecording(bodies []json.RawMessage) (out Recording) {
	var runs [][]Step // a conversation, a subagent's, or what followed a compaction
	for _, body := range bodies {
		if out.Directory == "" {
			out.Directory = directoryIn(body)
		}
		steps := stepsOf(body)
		if len(steps) == 0 {
			continue
		}
		i := slices.IndexFunc(runs, func(run []Step) bool { return continues(run, steps) })
		if i < 0 {
			runs = append(runs, steps)
			continue
		}
		runs[i] = append(runs[i], steps[len(runs[i]):]...) // the first result counts: a later request may have it cleared
	}
	for _, run := range runs {
		for _, s := range run {
			s.Number = len(out.Steps) + 1
			out.Steps = append(out.Steps, s)
		}
	}
	return out
}

// continues reports whether the steps of a request begin with those of an earlier one.
func continues(run, steps []Step) bool {
	return len(steps) >= len(run) && slices.EqualFunc(run, steps[:len(run)], func(a, b Step) bool {
		return slices.EqualFunc(a.Calls, b.Calls, func(x, y Call) bool {
			return x.ID == y.ID && x.Tool == y.Tool && bytes.Equal(x.Input, y.Input)
		})
	})
}

// directoryIn finds the working directory that the system prompt names.
func directoryIn(body json.RawMessage) string {
	const label = "Working directory: "
	_, rest, ok := bytes.Cut(body, []byte(label))
	if !ok {
		return ""
	}
	line, _, _ := bytes.Cut(rest, []byte(`\n`))
	var dir string
	if len(line) > 4096 || json.Unmarshal([]byte(`"`+string(line)+`"`), &dir) != nil {
		return ""
	}
	return dir
}

// block is a piece of a message in any of the formats of providers. Each has members of its own.
type block struct {
	Type, Role, ID, Name string
	Content              json.RawMessage
	Parts                []block
	chatBlock
	responsesBlock
	anthropicBlock
	geminiBlock
	bedrockBlock
}

// chatBlock has calls of an answer, or is a message with a result.
type chatBlock struct {
	ToolCalls []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// responsesBlock is an item.
type responsesBlock struct {
	CallID    string          `json:"call_id"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

// anthropicBlock is a block of a message.
type anthropicBlock struct {
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	IsError   bool   `json:"is_error"`
}

// geminiBlock is a part of a content.
type geminiBlock struct {
	FunctionCall *struct {
		ID, Name string
		Args     json.RawMessage
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID, Name string
		Response json.RawMessage
	} `json:"functionResponse"`
}

// bedrockBlock is a block of a message.
type bedrockBlock struct {
	ToolUse *struct {
		ID    string `json:"toolUseId"`
		Name  string
		Input json.RawMessage
	} `json:"toolUse"`
	ToolResult *struct {
		ID      string `json:"toolUseId"`
		Content json.RawMessage
		Status  string
	} `json:"toolResult"`
}

// stepsOf reads the calls of one request with their results. Calls without a result were not answered yet.
func stepsOf(body json.RawMessage) []Step {
	var request struct{ Messages, Input, Contents json.RawMessage }
	if json.Unmarshal(body, &request) != nil {
		return nil
	}
	r := &requestReader{open: true}
	for _, list := range []json.RawMessage{request.Messages, request.Input, request.Contents} {
		var blocks []block
		if json.Unmarshal(list, &blocks) == nil {
			r.read(blocks)
		}
	}
	for i, s := range r.steps { // only a step that was answered as a whole
		if slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Why == unanswered }) {
			return r.steps[:i]
		}
	}
	return r.steps
}

const unanswered = "the recording has no result"

// requestReader collects the steps of a request.
type requestReader struct {
	steps []Step
	open  bool // the next call begins a step
	calls int
}

func (r *requestReader) read(blocks []block) {
	for _, b := range blocks {
		for _, c := range b.ToolCalls {
			r.call(c.ID, c.Function.Name, json.RawMessage(c.Function.Arguments))
		}
		switch {
		case b.Role == "tool":
			r.result(b.ToolCallID, b.Content, false)
		case b.Type == "function_call":
			r.call(b.CallID, b.Name, json.RawMessage(b.Arguments))
		case b.Type == "function_call_output":
			r.result(b.CallID, b.Output, false)
		case b.Type == "tool_use":
			r.call(b.ID, b.Name, b.Input)
		case b.Type == "tool_result":
			r.result(b.ToolUseID, b.Content, b.IsError)
		case b.FunctionCall != nil:
			r.call(b.FunctionCall.ID, b.FunctionCall.Name, b.FunctionCall.Args)
		case b.FunctionResponse != nil:
			r.result(b.FunctionResponse.ID, b.FunctionResponse.Response, false)
		case b.ToolUse != nil:
			r.call(b.ToolUse.ID, b.ToolUse.Name, b.ToolUse.Input)
		case b.ToolResult != nil:
			r.result(b.ToolResult.ID, b.ToolResult.Content, b.ToolResult.Status == "error")
		case len(b.Parts) > 0:
			r.read(b.Parts)
		default:
			var inner []block
			if json.Unmarshal(b.Content, &inner) == nil {
				r.read(inner)
			}
		}
	}
}

func (r *requestReader) call(id, tool string, input json.RawMessage) {
	if r.calls++; r.calls > maxCalls {
		return
	}
	if r.open {
		r.steps, r.open = append(r.steps, Step{}), false
	}
	s := &r.steps[len(r.steps)-1]
	s.Calls = append(s.Calls, Call{ID: id, Tool: tool, Input: input, Why: unanswered, Kind: kindOf(tool, input)})
}

// result gives the first call of the step with that ID its result; without IDs they come in order.
func (r *requestReader) result(id string, content json.RawMessage, failed bool) {
	r.open = true
	if len(r.steps) == 0 {
		return
	}
	for i := range r.steps[len(r.steps)-1].Calls {
		c := &r.steps[len(r.steps)-1].Calls[i]
		if c.ID != id || c.Why != unanswered {
			continue
		}
		c.Recorded = Result{Output: textOf(content), Failed: failed, TextOnly: true}
		switch c.Why = c.Kind.because(c.Tool); {
		case strings.HasPrefix(c.Recorded.Output, "[Old tool result content cleared"):
			c.Why = "its output is no longer stored"
		case runsInBackground(c.Input):
			c.Why = "it ran in the background"
		}
		return
	}
}

// textOf reads the text of a result: a string, a list of texts, or an object that has one.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []struct{ Text string }
	if json.Unmarshal(raw, &list) == nil {
		var all []string
		for _, b := range list {
			all = append(all, b.Text)
		}
		return strings.Join(all, "\n")
	}
	var object map[string]json.RawMessage
	_ = json.Unmarshal(raw, &object) // else it has none of these
	for _, name := range []string{"output", "content", "result", "error", "name"} {
		if json.Unmarshal(object[name], &text) == nil {
			return text
		}
	}
	return string(raw)
}
