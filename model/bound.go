package model

import (
	"context"
	"fmt"
	"iter"

	"github.com/lathe-agent/lathe"
)

// Limits of one answer, so that an endless stream cannot fill the memory.
const (
	bytesPerToken = 16        // of text, reasoning and arguments; four are usual
	unknownText   = 32 << 20  // where the limit of the model is not known
	MaxOpaque     = 32 << 20  // signatures, encrypted reasoning, results and images of the provider's own
	defaultWire   = 512 << 20 // as it comes over the network
)

// TooLongError is the error of an answer beyond its limits. It is not retried, and the partial answer
// stays.
func TooLongError(what string, limit int) *lathe.Error {
	message := fmt.Sprintf("the provider sent more than %d KB of %s, beyond this model's limit; the partial answer is saved", limit>>10, what)
	return &lathe.Error{Code: lathe.Refused, Message: message, Fault: &lathe.APIFault{Message: message}}
}

// Bounded is a model whose answers end in an error beyond their limits. Output is the model's limit in
// tokens, 0 if unknown.
type Bounded struct {
	Model
	Output int
}

// Stream passes on the events of the model up to the limits.
func (b Bounded) Stream(ctx context.Context, r Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		limit := unknownText
		if b.Output > 0 {
			limit = bytesPerToken * max(b.Output, r.MaxOutput)
		}
		c := answerSize{limit: limit, inputs: map[string]int{}}
		for ev, err := range b.Model.Stream(ctx, r) {
			if err == nil {
				if err := c.add(ev); err != nil {
					yield(nil, err)
					return
				}
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// answerSize is how much of an answer has come, in bytes.
type answerSize struct {
	limit        int
	text, opaque int
	inputs       map[string]int // of calls, by their ids: the whole call repeats its pieces
}

// add counts an event and fails once an answer exceeds a limit, so that a broken provider cannot fill the memory.
func (c *answerSize) add(ev Event) error {
	switch e := ev.(type) {
	case TextDelta:
		c.text += len(e.Text)
	case ReasoningDelta:
		c.text += len(e.Text)
		if len(e.Meta) > MaxOpaque { // it replaces the one before
			return TooLongError("opaque data", MaxOpaque)
		}
	case InputDelta:
		c.text += len(e.Text)
		c.inputs[e.ID] += len(e.Text)
	case InputStart:
		c.text += len(e.ID) + len(e.Name)
	case ToolCall:
		c.text += max(0, len(e.Input)-c.inputs[e.ID]) + len(e.ID) + len(e.Name)
		delete(c.inputs, e.ID)
		c.opaque += len(e.Meta)
	case ToolResult:
		c.opaque += len(e.Output) + len(e.Meta)
	case TextEnd:
		c.opaque += len(e.Meta)
	case ReasoningStart:
		c.opaque += len(e.Meta)
	case ReasoningEnd:
		c.opaque += len(e.Meta)
	case Finish:
		c.opaque += len(e.Meta)
	case Start, TextStart, InputEnd, Source, UsageUpdate:
	}
	switch {
	case c.text > c.limit:
		return TooLongError("text", c.limit)
	case c.opaque > MaxOpaque:
		return TooLongError("opaque data", MaxOpaque)
	}
	return nil
}
