package fold

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
)

// inputStart opens a call before its arguments. A repeated start is the same call,
// unless the first has been called already.
func (f *Fold) inputStart(at lathe.Time, e model.InputStart) error {
	if err := f.mayCall(e.Name); err != nil {
		return err
	}
	if c := f.calls[e.ID]; c != nil && !c.Called {
		return nil
	}
	f.newCall(at, e.ID, e.Name, e.Executed)
	return nil
}

// mayCall refuses calls from a summary, which is asked for without tools.
func (f *Fold) mayCall(name string) error {
	if f.Message.Data.(*lathe.Assistant).Summary.On() {
		return &lathe.Error{Code: lathe.Refused, Message: "the model called the tool " + name + " instead of writing a summary", Err: ErrUnexpectedCall}
	}
	return nil
}

// newCall makes a pending call. Providers exist that use an id twice in one answer; the
// second call gets another one, or its result would be taken for the first's.
func (f *Fold) newCall(at lathe.Time, id, name string, executed bool) *Call {
	unique := id
	if unique == "" {
		unique = f.IDs.CallID()
	}
	isTaken := func(c *Call) bool { return c.Body().CallID == unique }
	for n := 2; slices.ContainsFunc(f.Order, isTaken); n++ {
		unique = id + "_" + strconv.Itoa(n)
	}
	body := &lathe.ToolCall{CallID: unique, Tool: name, State: &lathe.Pending{Input: json.RawMessage(`{}`)}}
	if executed {
		body.Metadata = history.WithMark(nil, "providerExecuted")
	}
	c := &Call{id: id, Part: f.NewPart(body)}
	f.calls[id] = c
	f.Order = append(f.Order, c)
	f.Put(c.Part, at)
	return c
}

// toolCall handles a complete call: it marks its part as running and starts its tool. The same call sent
// twice is one call; a different call with the same id is a second one.
func (f *Fold) toolCall(at lathe.Time, e model.ToolCall) error {
	if err := f.mayCall(e.Name); err != nil {
		return err
	}
	c := f.calls[e.ID]
	if c != nil && c.Called && c.input == e.Input && e.ID != "" {
		return nil
	}
	if c == nil || c.Called {
		c = f.newCall(at, e.ID, e.Name, e.Executed)
	}
	c.Called, c.input = true, e.Input
	name, input := e.Name, asObject(e.Input)
	if !e.Executed {
		c.Tool, input = f.Resolve(e.Name, e.Input)
		name = c.Tool.Spec().Name
	}
	repeated := 0
	if !e.Executed && (IsRepeated(f.earlierCalls(), name, input) || f.Checker.ContinuesCycle(f.settledActions(), name, input)) {
		repeated = 1 + refusedRepeats(f.earlierCalls(), name, input)
	}
	next, err := c.Body().Run(input, at)
	if err != nil {
		return err
	}
	next.Tool = name
	if e.Meta != nil {
		next.Metadata = e.Meta
		if e.Executed {
			next.Metadata = history.WithMark(e.Meta, "providerExecuted")
		}
	}
	c.Part.Body = next
	f.Put(c.Part, at)
	switch want := (StartTool{c, repeated}); {
	case e.Executed:
	case !isComplete(e.Input):
		f.doubtful = append(f.doubtful, want)
	default:
		f.out.Actions = append(f.out.Actions, want)
	}
	return nil
}

// isComplete reports whether arguments are certainly complete. Other arguments were repaired or are
// empty; only the end of the answer shows whether they were cut off.
func isComplete(input string) bool {
	input = strings.TrimSpace(input)
	return input != "" && input != "{}" && json.Valid([]byte(input))
}

// finish handles the end of the answer. Calls with repaired arguments run now, unless the answer was
// cut off, because their arguments may be incomplete.
func (f *Fold) finish(at lathe.Time, e model.Finish) {
	f.End = &e
	for _, want := range f.doubtful {
		isCut := !json.Valid([]byte(want.Call.input)) || want.Call == f.Order[len(f.Order)-1]
		if name := want.Call.Body().Tool; isCut && e.Reason == model.FinishLength && name != tool.Invalid().Spec().Name {
			f.fail(want.Call, "The answer reached its greatest length in the middle of this call of "+name+", so it was not run. Send it again with less in it: several small calls.", "", at)
			continue
		}
		f.out.Actions = append(f.out.Actions, want)
	}
	f.doubtful = nil
}

// earlierCalls lists the calls of the turn, oldest first.
func (f *Fold) earlierCalls() []*lathe.ToolCall {
	calls := slices.Clone(f.Prior)
	for _, c := range f.Order {
		calls = append(calls, c.Body())
	}
	return calls
}

// asObject is the input of a call as parts show it: always an object.
func asObject(input string) json.RawMessage {
	raw := json.RawMessage(strings.TrimSpace(input))
	switch {
	case len(raw) == 0:
		return json.RawMessage(`{}`)
	case !json.Valid(raw):
		raw = lathe.AppendJSONString(nil, input)
	case raw[0] == '{':
		return raw
	}
	return history.WithMember(nil, "value", raw)
}

// settleExecuted settles a call that the provider ran itself.
func (f *Fold) settleExecuted(at lathe.Time, e model.ToolResult) {
	c := f.calls[e.ID]
	if c == nil {
		return
	}
	if e.Failed {
		f.fail(c, string(e.Output), "", at)
		return
	}
	text, ok := lathe.UnquoteJSON(e.Output)
	if !ok {
		text = string(e.Output)
	}
	f.complete(c, tool.Result{Title: c.Body().Tool, Output: text}, at)
}

// Outcome is the result of a tool call.
type Outcome struct {
	Result tool.Result
	Err    error
	Waits  []lathe.Wait // for the user
}

// Settle settles a call when its tool has ended. One that is settled already stays as it is:
// late results are ignored.
func (f *Fold) Settle(c *Call, o Outcome, at lathe.Time) {
	var refused *permission.Refusal
	if len(o.Waits) > 0 {
		c.waits, _ = json.Marshal(o.Waits) // numbers always can be
	}
	switch {
	case o.Err == nil:
		f.complete(c, o.Result, at)
	case errors.As(o.Err, &refused):
		f.fail(c, refused.Text, refused.Mark, at)
	case lathe.CodeOf(o.Err) == lathe.Rejected: // a tool asked, and the answer was no
		f.fail(c, o.Err.Error(), history.RejectedMark, at)
	case lathe.CodeOf(o.Err) == lathe.Canceled:
		f.fail(c, AbortedText(c.Body()), history.InterruptedMark, at)
	default:
		f.fail(c, o.Err.Error(), "", at)
	}
}

func (f *Fold) complete(c *Call, r tool.Result, at lathe.Time) {
	res := lathe.Completed{Output: r.Output, Title: r.Title, Metadata: r.Metadata, End: at}
	if history.HasMark(history.MetadataOf(c.Body().State), history.DoomLoop) {
		res.Metadata = history.WithMark(res.Metadata, history.DoomLoop)
	}
	if c.waits != nil {
		res.Metadata = history.WithMember(res.Metadata, "waits", c.waits)
	}
	for _, file := range r.Attachments {
		res.Attachments = append(res.Attachments, lathe.Part{
			ID: f.IDs.Part(), Session: c.Part.Session, Message: c.Part.Message, Body: file,
		})
	}
	next, err := c.Body().Complete(res)
	if err == nil {
		res.Output, res.Metadata = check.WithNotes(res.Output, res.Metadata, f.checkIssues(c, next))
		next, err = c.Body().Complete(res)
	}
	f.setState(c, next, err, at)
}

// fail settles a call that has not ended, with a mark on its metadata if one is given.
func (f *Fold) fail(c *Call, text, mark string, at lathe.Time) {
	if c.Body().Settled() {
		return
	}
	meta := history.MetadataOf(c.Body().State)
	if mark != "" {
		meta = history.WithMark(meta, mark)
	}
	if c.waits != nil {
		meta = history.WithMember(meta, "waits", c.waits)
	}
	next, err := c.Body().Fail(text, meta, at)
	if err == nil {
		text, meta = check.WithNotes(text, meta, f.checkIssues(c, next))
		next, err = c.Body().Fail(text, meta, at)
	}
	f.setState(c, next, err, at)
}

// Progress shows what a running call is doing; "" and nil leave things as they are.
func (f *Fold) Progress(c *Call, title string, meta json.RawMessage, at lathe.Time) {
	r, ok := c.Body().State.(*lathe.Running)
	if !ok {
		return
	}
	if title == "" {
		title = r.Title
	}
	if meta == nil {
		meta = r.Metadata
	}
	if history.HasMark(r.Metadata, history.DoomLoop) {
		meta = history.WithMark(meta, history.DoomLoop)
	}
	next, err := c.Body().Progress(title, meta)
	f.setState(c, next, err, at)
}

// setState writes the next state of a call; a move that the states refuse comes late.
func (f *Fold) setState(c *Call, next *lathe.ToolCall, err error, at lathe.Time) {
	if err != nil {
		return
	}
	c.Part.Body = next
	f.Put(c.Part, at)
}

// StructuredTool is the tool that takes a structured answer; clients know it by this name.
const StructuredTool = "StructuredOutput"

// StructuredAnswer returns the first structured answer of the step that was valid.
func (f *Fold) StructuredAnswer() json.RawMessage {
	for _, c := range f.Order {
		if done, ok := c.Body().State.(*lathe.Completed); ok && c.Body().Tool == StructuredTool {
			return done.Input
		}
	}
	return nil
}

// ErrUnexpectedCall is why an answer fails that calls tools where a summary was asked for.
var ErrUnexpectedCall = errors.New("a call in a summary")

// checkIssues are the issues of a call that is about to settle. Refusals and cancels stay as
// they are.
func (f *Fold) checkIssues(c *Call, settled *lathe.ToolCall) []check.Issue {
	if f.Checker == nil || c.Tool == nil {
		return nil
	}
	now := check.ReadAction(settled)
	if now.Stopped || history.HasMark(history.MetadataOf(settled.State), history.InterruptedMark) {
		return nil
	}
	return f.Checker.Check(now, f.settledActions())
}

// settledActions are the calls of the step that have ended.
func (f *Fold) settledActions() (step []*check.Action) {
	if f.Checker == nil {
		return nil
	}
	for _, c := range f.Order {
		if c.Body().Settled() {
			step = append(step, check.ReadAction(c.Body()))
		}
	}
	return step
}

// ChildOf is the session that works for a call, "" if there is none.
func ChildOf(c *lathe.ToolCall) (id lathe.SessionID) {
	var meta struct {
		Session lathe.SessionID `json:"sessionId"`
	}
	if c.Tool == TaskTool && json.Unmarshal(history.MetadataOf(c.State), &meta) == nil {
		id = meta.Session
	}
	return id
}

// ResumeHint tells how to resume an interrupted task.
func ResumeHint(c *lathe.ToolCall) string {
	if id := ChildOf(c); id != "" {
		return " (task_id " + string(id) + " continues with what its agent has done)"
	}
	return ""
}

// AbortedText are the result of a call that was cut off.
func AbortedText(c *lathe.ToolCall) string { return "Tool execution aborted" + ResumeHint(c) }

// TaskTool is the tool that hands work to other agents.
const TaskTool = "task"
