package wire

import (
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// BlockKind is the kind of a block.
type BlockKind int

// The kinds of blocks.
const (
	TextBlock BlockKind = iota
	ReasoningBlock
	InputBlock
)

// Block is a text, a reasoning or the input of a call on its way from a wire: it makes the
// events of its start, its deltas and its end. It is for one goroutine.
type Block struct {
	Kind     BlockKind
	ID, Name string     // of a call both are its own
	Executed bool       // the provider runs the call
	Meta     model.Meta // data to send back to the provider; reported at the end

	input  strings.Builder
	join   Joiner
	closed bool
}

// Start is the event that opens the block.
func (b *Block) Start() model.Event {
	switch b.Kind {
	case ReasoningBlock:
		return model.ReasoningStart{ID: b.ID, Meta: b.Meta}
	case InputBlock:
		return model.InputStart{ID: b.ID, Name: b.Name, Executed: b.Executed}
	default:
		return model.TextStart{ID: b.ID}
	}
}

// IsOpen reports whether the block takes more; nil does not.
func (b *Block) IsOpen() bool { return b != nil && !b.closed }

// Preset is input that came with the start, before any delta.
func (b *Block) Preset(input string) { b.input.WriteString(input) }

// Grow extends the block by a JSON string with its quotes. It returns nil where nothing came of
// it, like half of a surrogate pair; ok is false if the string is none.
func (b *Block) Grow(raw []byte) (e model.Event, ok bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	text, ok := b.join.Text(raw)
	return b.delta(text), ok
}

func (b *Block) delta(text string) model.Event {
	if text == "" {
		return nil
	}
	switch b.Kind {
	case ReasoningBlock:
		return model.ReasoningDelta{ID: b.ID, Text: text}
	case InputBlock:
		b.input.WriteString(text)
		return model.InputDelta{ID: b.ID, Text: text}
	default:
		return model.TextDelta{ID: b.ID, Text: text}
	}
}

// End closes the block, once. That of an input is followed by the call itself; a call without
// a word of input has an empty object.
func (b *Block) End() (out []model.Event) {
	if !b.IsOpen() {
		return nil
	}
	if e := b.delta(b.join.Flush()); e != nil {
		out = append(out, e)
	}
	b.closed = true
	switch b.Kind {
	case ReasoningBlock:
		return append(out, model.ReasoningEnd{ID: b.ID, Meta: b.Meta})
	case InputBlock:
		input := b.input.String()
		if strings.TrimSpace(input) == "" {
			input = "{}"
		}
		return append(out, model.InputEnd{ID: b.ID}, model.ToolCall{ID: b.ID, Name: b.Name, Input: input, Executed: b.Executed, Meta: b.Meta})
	default:
		return append(out, model.TextEnd{ID: b.ID, Meta: b.Meta})
	}
}

// CallIDs gives each call of an answer its own id: some servers send none, or one twice.
type CallIDs struct {
	create func() string
	taken  []string
}

// NewCallIDs returns those of one answer.
func NewCallIDs(ids *lathe.IDs) CallIDs {
	return CallIDs{create: func() string { return "call_" + ids.CallID() }}
}

// Take returns the id, or another one if that is missing or taken.
func (c *CallIDs) Take(id string) string {
	if id == "" || slices.Contains(c.taken, id) {
		id = c.create()
	}
	c.taken = append(c.taken, id)
	return id
}

// Opaque gathers the pieces of a field that a provider wants back unchanged, up to [model.MaxOpaque].
type Opaque struct{ data []byte }

// Add appends a piece. An error ends the answer.
func (o *Opaque) Add(piece string) error {
	if len(o.data)+len(piece) > model.MaxOpaque {
		return model.TooLongError("opaque data", model.MaxOpaque)
	}
	o.data = append(o.data, piece...)
	return nil
}

func (o *Opaque) String() string { return string(o.data) }
