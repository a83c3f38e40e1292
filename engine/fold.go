package engine

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// fold turns what happens in one attempt at a step into facts about its message, and into
// what must be done next. It has no effects: time comes with each call, and what it wants
// is carried out by others, who tell it the outcome. So what a stream says does not depend
// on how it was cut into pieces (I10).
type fold struct {
	ids     *lathe.IDs
	message lathe.Message // the answer, without its parts
	price   model.Price
	before  string            // the tree before the step, "" without snapshots
	patched bool              // the step changed files
	hooked  bool              // texts are shown to a hook before they end
	prior   []*lathe.ToolCall // the calls of earlier steps of the turn
	resolve func(name, input string) (tool.Tool, json.RawMessage)

	begun   bool
	blocks  map[blockKey]*block // open texts and reasonings
	calls   map[string]*call    // by the id the model uses
	order   []*call
	born    []lathe.PartID // all parts of this attempt
	usage   model.Usage
	end     *model.Finish
	started bool // a tool has started, so that the attempt cannot be made again
	// doubtful calls wait for the end of the answer: their arguments may be cut off.
	doubtful []wantTool
	watch    *check.ResultChecker // looks at results; nil does not
	out      effects
}

// effects are what a happening leads to: facts to commit, then texts that grow, then things
// to do.
type effects struct {
	facts []lathe.Fact
	grown []growth
	wants []want
}

type growth struct {
	part lathe.PartID
	text string
}

// want is something to do outside of fold. Sealed.
type want interface{ want() }

type (
	// wantTool starts the tool of a call; asked first if it repeats itself.
	wantTool struct {
		call     *call
		repeated int // how often it is asked about, refusals right before it included; 0 is that it repeats nothing
	}
	// wantText shows a text to the hook; completed brings it back.
	wantText struct {
		part lathe.PartID
		text string
	}
)

func (wantTool) want() {}
func (wantText) want() {}

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

// call is a tool call of the step.
type call struct {
	id   string // the model's
	part lathe.Part
	tool tool.Tool
	// called says that its arguments are complete.
	called bool
	input  string          // as the model wrote it
	waits  json.RawMessage // for a person; nil is none
}

func (c *call) body() *lathe.ToolCall { return c.part.Body.(*lathe.ToolCall) }

func (f *fold) reset() {
	f.begun, f.started, f.end, f.usage = false, false, nil, model.Usage{}
	f.blocks, f.calls, f.order, f.born = map[blockKey]*block{}, map[string]*call{}, nil, nil
	f.doubtful = nil
}

// take returns the effects so far and begins anew. They are valid until the next call.
func (f *fold) take() effects {
	out := f.out
	f.out = effects{facts: out.facts[:0], grown: out.grown[:0], wants: out.wants[:0]}
	return out
}

func (f *fold) fact(x lathe.Fact) { f.out.facts = append(f.out.facts, x) }

func (f *fold) put(p lathe.Part, at lathe.Time) {
	f.fact(&lathe.PartChanged{Part: p, Time: at})
}

// newPart makes a part of the message.
func (f *fold) newPart(b lathe.Body) lathe.Part {
	p := lathe.Part{ID: f.ids.Part(), Session: f.message.Session, Message: f.message.ID, Body: b}
	f.born = append(f.born, p.ID)
	return p
}

// begin opens the step with the first word of the model.
func (f *fold) begin(at lathe.Time) {
	if !f.begun {
		f.begun = true
		f.put(f.newPart(&lathe.StepStart{Snapshot: f.before}), at)
	}
}

// event takes in what the model said. An error is one of the answer itself.
func (f *fold) event(at lathe.Time, ev model.Event) error {
	f.begin(at)
	switch e := ev.(type) {
	case model.Start, model.Source: // nothing we keep
	case model.TextStart:
		f.open(blockKey{false, e.ID}, &lathe.Text{Time: &lathe.Span{Start: at}}, nil, at)
	case model.TextDelta:
		f.grow(blockKey{false, e.ID}, e.Text, nil)
	case model.TextEnd:
		f.closeText(f.blocks[blockKey{false, e.ID}], e.Meta, at)
	case model.ReasoningStart:
		f.open(blockKey{true, e.ID}, &lathe.Reasoning{Time: lathe.Span{Start: at}, Metadata: e.Meta}, e.Meta, at)
	case model.ReasoningDelta:
		f.grow(blockKey{true, e.ID}, e.Text, e.Meta)
	case model.ReasoningEnd:
		f.closeReasoning(f.blocks[blockKey{true, e.ID}], e.Meta, at)
	case model.InputStart:
		return f.inputStart(at, e)
	case model.InputDelta, model.InputEnd: // the whole call brings the arguments
	case model.ToolCall:
		return f.toolCall(at, e)
	case model.ToolResult:
		f.executed(at, e)
	case model.Used:
		f.usage = e.Usage
	case model.Finish:
		if e.Reason == model.FinishError {
			return brokenEnd(e)
		}
		f.finished(at, e)
	}
	return nil
}

// brokenEnd is the error of an answer that its provider ended with one, and says nothing more
// about: a call it could not read, say, or a server behind it that went away.
func brokenEnd(e model.Finish) error {
	return model.Failure{Type: "server_error", Message: "the provider ended its answer with an error: " + e.Raw}.Error()
}

// open begins a block. A second start of one that is open must not reset its text.
func (f *fold) open(key blockKey, b lathe.Body, meta model.Meta, at lathe.Time) {
	if f.blocks[key] != nil {
		return
	}
	p := f.newPart(b)
	f.blocks[key] = &block{part: p, key: key, meta: meta}
	f.put(p, at)
}

// grow extends a block; one that nobody opened is ignored.
func (f *fold) grow(key blockKey, text string, meta model.Meta) {
	b := f.blocks[key]
	if b == nil {
		return
	}
	if meta != nil {
		b.meta = meta
	}
	if text != "" {
		b.text = append(b.text, text...)
		f.out.grown = append(f.out.grown, growth{b.part.ID, text})
	}
}

// closeText ends a text. Space at its end is trimmed, unless a signature covers it.
func (f *fold) closeText(b *block, meta model.Meta, at lathe.Time) {
	if b == nil {
		return
	}
	if meta != nil {
		b.meta = meta
	}
	text := trimmed(b)
	if f.hooked {
		b.text = []byte(text)
		f.out.wants = append(f.out.wants, wantText{b.part.ID, text})
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

// isSigned reports whether metadata holds a signature over the text it stands beside: a
// changed text would be refused.
func isSigned(meta model.Meta) bool {
	return bytes.Contains(meta, []byte("ignature")) || bytes.Contains(meta, []byte("ncrypted"))
}

// completed ends a text with what a hook made of it.
func (f *fold) completed(part lathe.PartID, text string, at lathe.Time) {
	for _, b := range f.blocks {
		if b.part.ID == part {
			f.endText(b, text, at)
			return
		}
	}
}

func (f *fold) endText(b *block, text string, at lathe.Time) {
	delete(f.blocks, b.key)
	t := *b.part.Body.(*lathe.Text)
	t.Text, t.Metadata = text, b.meta
	t.Time = &lathe.Span{Start: t.Time.Start, End: at}
	b.part.Body = &t
	f.put(b.part, at)
}

func (f *fold) closeReasoning(b *block, meta model.Meta, at lathe.Time) {
	if b == nil {
		return
	}
	if meta != nil {
		b.meta = meta
	}
	delete(f.blocks, b.key)
	r := *b.part.Body.(*lathe.Reasoning)
	r.Text, r.Metadata, r.Time.End = trimmed(b), b.meta, at
	b.part.Body = &r
	f.put(b.part, at)
}

// closeBlocks ends what the model left open, in the order of birth.
func (f *fold) closeBlocks(at lathe.Time) {
	for _, id := range f.born {
		for _, b := range f.blocks {
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

// finish closes the step: what it used and cost, the tree after it, what it changed.
func (f *fold) finish(at lathe.Time, p snapshot.Patch) {
	f.closeBlocks(at)
	tokens, cost := model.Count(f.usage, f.price)
	a := *f.message.Said.(*lathe.Assistant)
	a.Cost, a.Tokens, a.Finish = a.Cost.Add(cost), tokens, model.FinishUnknown
	if f.end != nil && f.end.Reason != "" {
		a.Finish = f.end.Reason
	}
	f.message.Said = &a
	f.put(f.newPart(&lathe.StepFinish{Reason: a.Finish, Snapshot: p.After, Cost: cost, Tokens: tokens}), at)
	f.fact(&lathe.MessageChanged{Info: f.message})
	f.patch(at, p)
}

// patch notes what the step changed.
func (f *fold) patch(at lathe.Time, p snapshot.Patch) {
	if f.patched = len(p.Files) > 0; f.patched {
		f.put(f.newPart(&lathe.Patch{Hash: p.Before, Files: p.Files}), at)
	}
}

// undo removes the parts of an attempt that failed, so that the next one does not repeat
// what they say.
func (f *fold) undo() {
	for _, id := range f.born {
		f.fact(&lathe.PartRemoved{Session: f.message.Session, Message: f.message.ID, Part: id})
	}
	f.reset()
}

// close ends the message; with an error if there is one. Nothing of it stays open.
func (f *fold) close(at lathe.Time, fault lathe.Fault) {
	f.closeBlocks(at)
	for _, c := range f.order {
		f.fail(c, abortedWords(c.body()), history.InterruptedMark, at)
	}
	a := *f.message.Said.(*lathe.Assistant)
	a.Completed = at
	if fault != nil {
		a.Error = fault
	}
	f.message.Said = &a
	f.fact(&lathe.MessageChanged{Info: f.message})
}

// nth makes another id for a call when a provider uses one twice.
func nth(id string, n int) string { return id + "_" + strconv.Itoa(n) }
