package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
)

// inputStart opens a call whose arguments are to come. A repeated start is the same call,
// unless the first has been called already.
func (f *fold) inputStart(at lathe.Time, e model.InputStart) error {
	if err := f.mayCall(e.Name); err != nil {
		return err
	}
	if c := f.calls[e.ID]; c != nil && !c.called {
		return nil
	}
	f.newCall(at, e.ID, e.Name, e.Executed)
	return nil
}

// mayCall refuses calls from a summary, which is asked for without tools.
func (f *fold) mayCall(name string) error {
	if f.message.Said.(*lathe.Assistant).Summary.On() {
		return &lathe.Error{Code: lathe.Refused, Message: "the model called the tool " + name + " instead of writing a summary", Err: errStray}
	}
	return nil
}

// newCall makes a pending call. Providers exist that use an id twice in one answer; the
// second call gets another one, or its result would be taken for the first's.
func (f *fold) newCall(at lathe.Time, id, name string, executed bool) *call {
	unique := id
	if unique == "" {
		unique = f.ids.CallID()
	}
	for n := 2; f.isTaken(unique); n++ {
		unique = nth(id, n)
	}
	body := &lathe.ToolCall{CallID: unique, Tool: name, State: &lathe.Pending{Input: json.RawMessage(`{}`)}}
	if executed {
		body.Metadata = history.WithMark(nil, "providerExecuted")
	}
	c := &call{id: id, part: f.newPart(body)}
	f.calls[id] = c
	f.order = append(f.order, c)
	f.put(c.part, at)
	return c
}

func (f *fold) isTaken(id string) bool {
	for _, c := range f.order {
		if c.body().CallID == id {
			return true
		}
	}
	return false
}

// toolCall takes a whole call: its part runs, and its tool is wanted. The same call told
// twice is one; another one under the same id is a second.
func (f *fold) toolCall(at lathe.Time, e model.ToolCall) error {
	if err := f.mayCall(e.Name); err != nil {
		return err
	}
	c := f.calls[e.ID]
	if c != nil && c.called && c.input == e.Input && e.ID != "" {
		return nil
	}
	if c == nil || c.called {
		c = f.newCall(at, e.ID, e.Name, e.Executed)
	}
	c.called, c.input = true, e.Input
	name, input := e.Name, asObject(e.Input)
	if !e.Executed {
		c.tool, input = f.resolve(e.Name, e.Input)
		name = c.tool.Spec().Name
	}
	repeated := 0
	if !e.Executed && (isRepeated(f.earlier(), name, input) || f.watch.GoesOn(f.settled(), name, input)) {
		repeated = 1 + refusedRepeats(f.earlier(), name, input)
	}
	next, err := c.body().Run(input, at)
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
	c.part.Body = next
	f.put(c.part, at)
	switch want := (wantTool{c, repeated}); {
	case e.Executed:
	case !isWhole(e.Input):
		f.doubtful = append(f.doubtful, want)
	default:
		f.out.wants = append(f.out.wants, want)
	}
	return nil
}

// isWhole reports whether arguments surely came to their end. Others could be mended, or have
// not begun; whether they were cut off shows when the answer ends.
func isWhole(input string) bool {
	input = strings.TrimSpace(input)
	return input != "" && input != "{}" && json.Valid([]byte(input))
}

// finished takes the end of the answer in. Calls whose arguments had to be mended run now,
// unless the answer was cut off: nobody knows what else they were to say.
func (f *fold) finished(at lathe.Time, e model.Finish) {
	f.end = &e
	for _, want := range f.doubtful {
		isCut := !json.Valid([]byte(want.call.input)) || want.call == f.order[len(f.order)-1]
		if name := want.call.body().Tool; isCut && e.Reason == model.FinishLength && name != tool.Invalid().Spec().Name {
			f.fail(want.call, "The answer reached its greatest length in the middle of this call of "+name+", so it was not run. Send it again with less in it: several small calls.", "", at)
			continue
		}
		f.out.wants = append(f.out.wants, want)
	}
	f.doubtful = nil
}

// earlier lists the calls of the turn, oldest first.
func (f *fold) earlier() []*lathe.ToolCall {
	calls := slices.Clone(f.prior)
	for _, c := range f.order {
		calls = append(calls, c.body())
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

// executed settles a call that the provider ran itself.
func (f *fold) executed(at lathe.Time, e model.ToolResult) {
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
	f.complete(c, tool.Result{Title: c.body().Tool, Output: text}, at)
}

// outcome is what became of a tool.
type outcome struct {
	result tool.Result
	err    error
	waits  []lathe.Wait // for a person
}

// done settles a call when its tool has ended. One that is settled already stays as it is:
// late results are ignored.
func (f *fold) done(c *call, o outcome, at lathe.Time) {
	var refused *refusal
	if len(o.waits) > 0 {
		c.waits, _ = json.Marshal(o.waits) // numbers always can be
	}
	switch {
	case o.err == nil:
		f.complete(c, o.result, at)
	case errors.As(o.err, &refused):
		f.fail(c, refused.text, refused.mark, at)
	case lathe.CodeOf(o.err) == lathe.Rejected: // a tool asked, and the answer was no
		f.fail(c, o.err.Error(), history.RejectedMark, at)
	case lathe.CodeOf(o.err) == lathe.Canceled:
		f.fail(c, abortedWords(c.body()), history.InterruptedMark, at)
	default:
		f.fail(c, o.err.Error(), "", at)
	}
}

func (f *fold) complete(c *call, r tool.Result, at lathe.Time) {
	res := lathe.Completed{Output: r.Output, Title: r.Title, Metadata: r.Metadata, End: at}
	if history.HasMark(history.MetadataOf(c.body().State), history.DoomLoop) {
		res.Metadata = history.WithMark(res.Metadata, history.DoomLoop)
	}
	if c.waits != nil {
		res.Metadata = history.WithMember(res.Metadata, "waits", c.waits)
	}
	for _, file := range r.Attachments {
		res.Attachments = append(res.Attachments, lathe.Part{
			ID: f.ids.Part(), Session: c.part.Session, Message: c.part.Message, Body: file,
		})
	}
	next, err := c.body().Complete(res)
	if err == nil {
		res.Output, res.Metadata = check.WithNotes(res.Output, res.Metadata, f.noted(c, next))
		next, err = c.body().Complete(res)
	}
	f.move(c, next, err, at)
}

// fail settles a call that has not ended, with a mark on its metadata if one is given.
func (f *fold) fail(c *call, text, mark string, at lathe.Time) {
	if c.body().Settled() {
		return
	}
	meta := history.MetadataOf(c.body().State)
	if mark != "" {
		meta = history.WithMark(meta, mark)
	}
	if c.waits != nil {
		meta = history.WithMember(meta, "waits", c.waits)
	}
	next, err := c.body().Fail(text, meta, at)
	if err == nil {
		text, meta = check.WithNotes(text, meta, f.noted(c, next))
		next, err = c.body().Fail(text, meta, at)
	}
	f.move(c, next, err, at)
}

// progress shows what a running call is doing; "" and nil leave things as they are.
func (f *fold) progress(c *call, title string, meta json.RawMessage, at lathe.Time) {
	r, ok := c.body().State.(*lathe.Running)
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
	next, err := c.body().Progress(title, meta)
	f.move(c, next, err, at)
}

// move writes the next state of a call; a move that the states refuse comes late.
func (f *fold) move(c *call, next *lathe.ToolCall, err error, at lathe.Time) {
	if err != nil {
		return
	}
	c.part.Body = next
	f.put(c.part, at)
}
