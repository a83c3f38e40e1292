package openai

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// output is an item while it streams.
type output struct {
	index  number // its place in the response
	itemID string // of the wire
	kind   string
	phase  string // of a message: commentary or final answer

	id     string // of our block
	open   bool
	grew   bool // the block has words
	told   bool // some block of the item has
	ended  bool
	join   wire.Joiner
	name   string
	input  strings.Builder
	part   thoughtPart
	parts  int // thoughts so far
	locked string
}

// thoughtPart is which of the thoughts of an item a block holds.
type thoughtPart struct {
	index int
	raw   bool // the thoughts themselves, not their summary
}

// growth is a piece of an item.
type growth struct {
	kind  string // of the event
	item  []byte
	index number
	part  int
	delta []byte // a JSON string with its quotes
}

// find returns an item by its place, of several there the one with the id, else the last. Some
// gateways change ids with each event, some give all items one place.
func (d *responsesDecoder) find(index number, id []byte) (found *output) {
	for i := len(d.items) - 1; i >= 0; i-- {
		o := d.items[i]
		known := len(id) > 0 && o.itemID == string(id)
		switch {
		case known && (!index.Known || o.index == index):
			return o
		case index.Known && o.index == index && found == nil:
			found = o
		}
	}
	return found
}

// isOther reports whether an item on the wire is not the one that was found in its place.
func (o *output) isOther(w *wireItem) bool {
	return w.ID != "" && o.itemID != "" && w.ID != o.itemID
}

// added begins an item.
func (d *responsesDecoder) added(index number, raw json.RawMessage) error {
	w := readItem(raw)
	if o := d.find(index, []byte(w.ID)); o == nil || o.isOther(w) {
		d.begin(index, w)
	}
	return nil
}

func (d *responsesDecoder) begin(index number, w *wireItem) *output {
	o := &output{index: index, itemID: w.ID, kind: w.Type, phase: w.Phase, name: w.Name, locked: w.Encrypted}
	o.id = or(w.ID, "item-"+strconv.Itoa(len(d.items)))
	d.items = append(d.items, o)
	switch {
	case w.Type == "reasoning":
		d.openThought(o, thoughtPart{})
	case w.Type == functionCall || w.Type == customCall || wantsAnswer(w):
		d.called = true
		if o.id = w.CallID; o.id == "" || slices.ContainsFunc(d.items[:len(d.items)-1], func(other *output) bool { return other.id == w.CallID }) {
			o.id = d.callID()
		}
		o.open, o.name = true, or(o.name, d.nameless(w.Type))
		d.emit(model.InputStart{ID: o.id, Name: o.name})
	case isHosted(w.Type):
		o.open, o.name = true, w.Type
		d.emit(model.InputStart{ID: o.id, Name: o.name, Executed: true})
	}
	return o
}

// of is the kind of item that a piece belongs to.
func (g growth) of() string {
	switch g.kind {
	case "response.function_call_arguments.delta":
		return functionCall
	case "response.custom_tool_call_input.delta":
		return customCall
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return "reasoning"
	}
	return "message"
}

// grow extends an item.
func (d *responsesDecoder) grow(g growth) error {
	if len(g.delta) <= 2 || g.delta[0] != '"' {
		return nil
	}
	o := d.find(g.index, g.item)
	if o == nil || o.kind != g.of() { // only its pieces tell of it
		o = d.begin(g.index, &wireItem{Type: g.of(), ID: string(g.item)})
	}
	if o.ended {
		return nil
	}
	if o.kind == "reasoning" {
		d.turn(o, thoughtPart{g.part, g.kind == "response.reasoning_text.delta"})
	}
	text, ok := o.join.Text(g.delta)
	if !ok {
		return model.Failure{Provider: d.provider, Message: "the provider sent a broken text", Type: "server_error"}.Error()
	}
	if text != "" {
		d.append(o, text)
	}
	if g.kind == "response.refusal.delta" {
		d.refused = true
	}
	return nil
}

func (d *responsesDecoder) append(o *output, text string) {
	o.grew, o.told = true, true
	switch o.kind {
	case "message":
		if !o.open {
			o.open = true
			d.emit(model.TextStart{ID: o.id})
		}
		d.emit(model.TextDelta{ID: o.id, Text: text})
	case "reasoning":
		d.emit(model.ReasoningDelta{ID: o.id, Text: text})
	case functionCall:
		o.input.WriteString(text)
		d.emit(model.InputDelta{ID: o.id, Text: text})
	case customCall:
		d.appendCustom(o, text)
	}
}

// openThought begins a block for one of the thoughts of an item.
func (d *responsesDecoder) openThought(o *output, part thoughtPart) {
	o.id = or(o.itemID, "item-"+strconv.Itoa(int(o.index.N))) + ":" + strconv.Itoa(o.parts)
	o.part, o.open, o.grew = part, true, false
	o.parts++
	d.emit(model.ReasoningStart{ID: o.id, Meta: itemMeta{ItemID: o.itemID, Encrypted: o.locked}.encode()})
}

// turn goes over to another thought of the item, if it is another. Only the last one of them
// carries what is encrypted: it is of the whole item, and large.
func (d *responsesDecoder) turn(o *output, part thoughtPart) {
	if o.part == part || o.ended {
		return
	}
	if !o.grew {
		o.part = part // the block that began with the item
		return
	}
	d.endThought(o, "")
	d.openThought(o, part)
}

func (d *responsesDecoder) endThought(o *output, encrypted string) {
	if rest := o.join.Flush(); rest != "" {
		d.emit(model.ReasoningDelta{ID: o.id, Text: rest})
	}
	d.emit(model.ReasoningEnd{ID: o.id, Meta: itemMeta{ItemID: o.itemID, Encrypted: encrypted, Raw: o.part.raw}.encode()})
	o.open = false
}

// settled ends an item with its final form. It sends now the text that did not come in deltas.
func (d *responsesDecoder) settled(index number, raw json.RawMessage) error {
	w := readItem(raw)
	o := d.find(index, []byte(w.ID))
	if o == nil || o.isOther(w) && (o.ended || o.kind != w.Type) {
		o = d.begin(index, w)
	}
	if o.ended {
		return nil
	}
	if w.ID != "" {
		o.itemID = w.ID // the last one is that which the gateway knows again
	}
	o.phase, o.name = or(w.Phase, o.phase), or(o.name, w.Name)
	if isHosted(o.kind) {
		d.endHosted(o, w, raw)
		return nil
	}
	if err := d.missing(o, w); err != nil {
		return err
	}
	if o.kind == w.Type && o.kind != functionCall && o.kind != customCall && wantsAnswer(w) {
		d.endForeign(o, raw)
		return nil
	}
	d.end(o, w)
	return nil
}

// messagePiece is a part of a message as a delta would have sent it.
func messagePiece(p wirePart) (kind string, part int, delta json.RawMessage) {
	if len(p.Refusal) > 2 {
		return "response.refusal.delta", 0, p.Refusal
	}
	return "response.output_text.delta", 0, p.Text
}

// missing sends the content of an item that did not come in deltas.
func (d *responsesDecoder) missing(o *output, w *wireItem) error {
	for _, p := range w.Content {
		for _, a := range p.Annotations {
			d.out = d.cite(d.out, a)
		}
	}
	if o.told {
		return nil
	}
	piece := func(kind string, part int, delta json.RawMessage) error {
		return d.grow(growth{kind: kind, item: []byte(o.itemID), index: o.index, part: part, delta: delta})
	}
	switch o.kind {
	case "message":
		for _, p := range w.Content {
			if err := piece(messagePiece(p)); err != nil {
				return err
			}
		}
	case "reasoning":
		for i, p := range w.Summary {
			if err := piece("response.reasoning_summary_text.delta", i, p.Text); err != nil {
				return err
			}
		}
		for i, p := range w.Content {
			if err := piece("response.reasoning_text.delta", i, p.Text); err != nil {
				return err
			}
		}
	case functionCall:
		return piece("response.function_call_arguments.delta", 0, w.Arguments)
	case customCall:
		return piece("response.custom_tool_call_input.delta", 0, w.Input)
	}
	return nil
}

// end closes an item.
func (d *responsesDecoder) end(o *output, w *wireItem) {
	if o.ended {
		return
	}
	o.ended = true
	switch o.kind {
	case "message":
		if rest := o.join.Flush(); rest != "" {
			d.append(o, rest)
		}
		if o.open {
			d.emit(model.TextEnd{ID: o.id, Meta: itemMeta{ItemID: o.itemID, Phase: o.phase}.encode()})
		}
	case "reasoning":
		d.endThought(o, or(w.Encrypted, o.locked))
	case functionCall:
		d.endCall(o, w)
	case customCall:
		d.endCustom(o)
	default:
		if o.open { // a hosted call whose end never came
			d.endHosted(o, w, nil)
		}
	}
}

func (d *responsesDecoder) endCall(o *output, w *wireItem) {
	if rest := o.join.Flush(); rest != "" {
		d.append(o, rest)
	}
	input := o.input.String()
	switch raw := w.Arguments; {
	case len(raw) > 0 && raw[0] == '{':
		input = string(raw)
	case len(raw) > 2 && raw[0] == '"':
		input = asText(raw)
	}
	if strings.TrimSpace(input) == "" {
		input = "{}"
	}
	d.emit(model.InputEnd{ID: o.id})
	d.emit(model.ToolCall{ID: o.id, Name: o.name, Input: input, Meta: itemMeta{ItemID: o.itemID}.encode()})
}

// endHosted emits a call that the provider ran, with its result: the item itself, which the
// provider expects back.
func (d *responsesDecoder) endHosted(o *output, w *wireItem, raw json.RawMessage) {
	o.ended = true
	meta := itemMeta{ItemID: o.itemID, Type: o.kind}.encode()
	d.emit(model.InputEnd{ID: o.id})
	d.emit(model.ToolCall{ID: o.id, Name: o.name, Input: hostedInput(w), Executed: true, Meta: meta})
	result := model.ToolResult{ID: o.id, Name: o.name, Output: withoutImage(o.kind, raw), Meta: meta}
	result.Failed = w.Status == "failed" || w.Status == "incomplete" || isSet(w.Error)
	d.emit(result)
}

// hostedInput is the input of the provider's tool, as far as known.
func hostedInput(w *wireItem) string {
	if args := asText(w.Arguments); json.Valid([]byte(args)) {
		return args
	}
	switch {
	case isSet(w.Action):
		return string(w.Action)
	case isSet(w.Code):
		return `{"code":` + string(w.Code) + `}`
	case isSet(w.Queries):
		return `{"queries":` + string(w.Queries) + `}`
	}
	return "{}"
}

// withoutImage leaves an image out of the item that made it: it would be megabytes of text in
// every request that follows.
func withoutImage(kind string, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	if kind != "image_generation_call" {
		return raw
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return json.RawMessage("{}")
	}
	delete(members, "result")
	out, _ := json.Marshal(members)
	return out
}
