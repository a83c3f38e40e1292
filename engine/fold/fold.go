// Package fold turns the events of a step into facts: chunks of the model, and tools that
// start, report and end. It is pure: effects are returned as values, and the result does not
// depend on how a stream is cut.
//
// A Fold is for one goroutine. Start at Fold.Event and Fold.Take.
package fold

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// Fold turns the events of one attempt at a step into facts about its message and into the next
// actions. It has no side effects: each call brings the time, and the caller runs the actions
// and passes the outcome back. The result of a stream therefore does not depend
// on how it was split into chunks (I10).
type Fold struct {
	IDs         *lathe.IDs
	Message     lathe.Message // the answer, without its parts
	Price       model.Price
	Before      string            // the tree before the step, "" without snapshots
	Patched     bool              // the step changed files
	HasTextHook bool              // texts are shown to a hook before they end
	Prior       []*lathe.ToolCall // the calls of earlier steps of the turn
	Resolve     func(name, input string) (tool.Tool, json.RawMessage)
	Checker     *check.ResultChecker // looks at results; nil does not

	attempt
	out effects
}

// attempt is the state of one request to the model.
type attempt struct {
	Opened       bool                // the model has sent content
	Blocks       map[blockKey]*block // open texts and reasonings
	calls        map[string]*Call    // by the id the model uses
	Order        []*Call
	Created      []lathe.PartID // all parts of this attempt
	Usage        model.Usage
	End          *model.Finish
	ToolsStarted bool // so that the attempt cannot be made again
	// doubtful calls wait for the end of the answer: their arguments may be cut off.
	doubtful []StartTool
}

// effects are the results of an event: facts to commit, then texts that grow, then actions.
type effects struct {
	Facts   []lathe.Fact
	Grown   []growth
	Actions []Action
}

type growth struct {
	Part lathe.PartID
	Text string
}

// Action is something to do outside of fold. Sealed.
type Action interface{ action() }

type (
	// StartTool starts the tool of a call; asked first if it repeats itself.
	StartTool struct {
		Call     *Call
		Repeated int // how often it is asked about, with refusals right before it; 0 if it repeats nothing
	}
	// ShowText shows a text to the hook; completed brings it back.
	ShowText struct {
		Part lathe.PartID
		Text string
	}
)

func (StartTool) action() {}
func (ShowText) action()  {}

type blockKey struct {
	reasoning bool
	id        string // the model's
}

// block is an open text or reasoning.
type block struct {
	part lathe.Part
	key  blockKey
	text []byte
	meta model.Meta
}

// Call is a tool call of the step.
type Call struct {
	id   string // the model's
	Part lathe.Part
	Tool tool.Tool
	// Called says that its arguments are complete.
	Called bool
	input  string          // as the model wrote it
	waits  json.RawMessage // for the user; nil means none
}

func (c *Call) Body() *lathe.ToolCall { return c.Part.Body.(*lathe.ToolCall) }

// Reset begins another attempt.
func (f *Fold) Reset() { f.attempt = attempt{Blocks: map[blockKey]*block{}, calls: map[string]*Call{}} }

// Take returns the effects so far and resets them. They are valid until the next call.
func (f *Fold) Take() effects {
	out := f.out
	f.out = effects{Facts: out.Facts[:0], Grown: out.Grown[:0], Actions: out.Actions[:0]}
	return out
}

func (f *Fold) Fact(x lathe.Fact) { f.out.Facts = append(f.out.Facts, x) }

func (f *Fold) Put(p lathe.Part, at lathe.Time) {
	f.Fact(&lathe.PartChanged{Part: p, Time: at})
}

// NewPart makes a part of the message.
func (f *Fold) NewPart(b lathe.Body) lathe.Part {
	p := lathe.Part{ID: f.IDs.Part(), Session: f.Message.Session, Message: f.Message.ID, Body: b}
	f.Created = append(f.Created, p.ID)
	return p
}

// OpenStep opens the step with the first word of the model.
func (f *Fold) OpenStep(at lathe.Time) {
	if !f.Opened {
		f.Opened = true
		f.Put(f.NewPart(&lathe.StepStart{Snapshot: f.Before}), at)
	}
}

// Event handles an event of the model. An error is one of the answer itself.
func (f *Fold) Event(at lathe.Time, ev model.Event) error {
	f.OpenStep(at)
	switch e := ev.(type) {
	case model.Start, model.Source: // nothing we keep
	case model.TextStart:
		f.open(blockKey{false, e.ID}, &lathe.Text{Time: &lathe.Span{Start: at}}, nil, at)
	case model.TextDelta:
		f.grow(blockKey{false, e.ID}, e.Text, nil)
	case model.TextEnd:
		f.closeText(f.Blocks[blockKey{false, e.ID}], e.Meta, at)
	case model.ReasoningStart:
		f.open(blockKey{true, e.ID}, &lathe.Reasoning{Time: lathe.Span{Start: at}, Metadata: e.Meta}, e.Meta, at)
	case model.ReasoningDelta:
		f.grow(blockKey{true, e.ID}, e.Text, e.Meta)
	case model.ReasoningEnd:
		f.closeReasoning(f.Blocks[blockKey{true, e.ID}], e.Meta, at)
	case model.InputStart:
		return f.inputStart(at, e)
	case model.InputDelta, model.InputEnd: // the whole call brings the arguments
	case model.ToolCall:
		return f.toolCall(at, e)
	case model.ToolResult:
		f.settleExecuted(at, e)
	case model.UsageUpdate:
		f.Usage = e.Usage
	case model.Finish:
		if e.Reason == model.FinishError {
			return brokenEnd(e)
		}
		f.finish(at, e)
	}
	return nil
}

// brokenEnd is the error of an answer that its provider ended without details: for example a
// call it could not parse, or a lost upstream server.
func brokenEnd(e model.Finish) error {
	return model.Failure{Type: "server_error", Message: "the provider ended its answer with an error: " + e.Raw}.Error()
}

// open begins a block. A second start of one that is open must not reset its text.
func (f *Fold) open(key blockKey, b lathe.Body, meta model.Meta, at lathe.Time) {
	if f.Blocks[key] != nil {
		return
	}
	p := f.NewPart(b)
	f.Blocks[key] = &block{part: p, key: key, meta: meta}
	f.Put(p, at)
}

// grow extends a block; a block that was not opened is ignored.
func (f *Fold) grow(key blockKey, text string, meta model.Meta) {
	b := f.Blocks[key]
	if b == nil {
		return
	}
	if meta != nil {
		b.meta = meta
	}
	if text != "" {
		b.text = append(b.text, text...)
		f.out.Grown = append(f.out.Grown, growth{b.part.ID, text})
	}
}

// closeText ends a text. Space at its end is trimmed, unless a signature covers it.
func (f *Fold) closeText(b *block, meta model.Meta, at lathe.Time) {
	if b == nil {
		return
	}
	if meta != nil {
		b.meta = meta
	}
	text := trimmed(b)
	if f.HasTextHook {
		b.text = []byte(text)
		f.out.Actions = append(f.out.Actions, ShowText{b.part.ID, text})
		return
	}
	f.endText(b, text, at)
}

// trimmed is the text of a block without the space at its end, unless a signature covers it.
func trimmed(b *block) string {
	if isSigned(b.meta) {
		return string(b.text)
	}
	return strings.TrimRightFunc(string(b.text), unicode.IsSpace)
}

// isSigned reports whether metadata holds a signature over the text it is beside: a changed
// text would be refused.
func isSigned(meta model.Meta) bool {
	return bytes.Contains(meta, []byte("ignature")) || bytes.Contains(meta, []byte("ncrypted"))
}

// Complete ends a text with the text of a hook.
func (f *Fold) Complete(part lathe.PartID, text string, at lathe.Time) {
	for _, b := range f.Blocks {
		if b.part.ID == part {
			f.endText(b, text, at)
			return
		}
	}
}

func (f *Fold) endText(b *block, text string, at lathe.Time) {
	delete(f.Blocks, b.key)
	t := *b.part.Body.(*lathe.Text)
	t.Text, t.Metadata = text, b.meta
	t.Time = &lathe.Span{Start: t.Time.Start, End: at}
	b.part.Body = &t
	f.Put(b.part, at)
}

func (f *Fold) closeReasoning(b *block, meta model.Meta, at lathe.Time) {
	if b == nil {
		return
	}
	if meta != nil {
		b.meta = meta
	}
	delete(f.Blocks, b.key)
	r := *b.part.Body.(*lathe.Reasoning)
	r.Text, r.Metadata, r.Time.End = trimmed(b), b.meta, at
	b.part.Body = &r
	f.Put(b.part, at)
}

// CloseBlocks ends what the model left open, in the order of birth.
func (f *Fold) CloseBlocks(at lathe.Time) {
	for _, id := range f.Created {
		for _, b := range f.Blocks {
			if b.part.ID != id {
				continue
			}
			if _, ok := b.part.Body.(*lathe.Text); ok {
				f.endText(b, trimmed(b), at) // no hook sees it: it may be what the step waited for
			} else {
				f.closeReasoning(b, nil, at)
			}
			break
		}
	}
}

// Finish closes the step: what it used and cost, the tree after it, what it changed.
func (f *Fold) Finish(at lathe.Time, p snapshot.Patch) {
	f.CloseBlocks(at)
	tokens, cost := model.Count(f.Usage, f.Price)
	a := *f.Message.Data.(*lathe.Assistant)
	a.Cost, a.Tokens, a.Finish = a.Cost.Add(cost), tokens, model.FinishUnknown
	if f.End != nil && f.End.Reason != "" {
		a.Finish = f.End.Reason
	}
	f.Message.Data = &a
	f.Put(f.NewPart(&lathe.StepFinish{Reason: a.Finish, Snapshot: p.After, Cost: cost, Tokens: tokens}), at)
	f.Fact(&lathe.MessageChanged{Info: f.Message})
	f.Patch(at, p)
}

// Patch notes what the step changed.
func (f *Fold) Patch(at lathe.Time, p snapshot.Patch) {
	if f.Patched = len(p.Files) > 0; f.Patched {
		f.Put(f.NewPart(&lathe.Patch{Hash: p.Before, Files: p.Files}), at)
	}
}

// Undo removes the parts of an attempt that failed, so that the next one does not repeat
// what they say.
func (f *Fold) Undo() {
	for _, id := range f.Created {
		f.Fact(&lathe.PartRemoved{Session: f.Message.Session, Message: f.Message.ID, Part: id})
	}
	f.Reset()
}

// Close ends the message; with an error if there is one. Nothing of it stays open.
func (f *Fold) Close(at lathe.Time, fault lathe.Fault) {
	f.CloseBlocks(at)
	for _, c := range f.Order {
		f.fail(c, AbortedText(c.Body()), history.InterruptedMark, at)
	}
	a := *f.Message.Data.(*lathe.Assistant)
	a.Completed = at
	if fault != nil {
		a.Error = fault
	}
	f.Message.Data = &a
	f.Fact(&lathe.MessageChanged{Info: f.Message})
}
