package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// chatDecoder turns the chunks of one answer into events. The wire has no blocks: a text or a
// reasoning begins with its first words and ends where something else does.
type chatDecoder struct {
	citing
	provider string
	callID   func() string
	costs    bool // trust the cost that the server reports

	out     []model.Event // of the chunk at hand
	started bool
	done    bool
	blocks  int // texts and reasonings so far; their ids count them
	words   block
	thought thought
	calls   []*toolCall
	settled int // calls before this one have ended
	usage   model.Usage
	counted bool
	billed  bool // a chunk carried the usage
	summed  bool // the last chunk did, for the first time, and said nothing else
	refused bool
	finish  string
	raw     string // the server's word for it
}

// block is text while it streams.
type block struct {
	id   string
	open bool
	join wire.Joiner
}

func (d *chatDecoder) emit(e model.Event) { d.out = append(d.out, e) }

// IsDone reports whether the answer has come to its end.
func (d *chatDecoder) IsDone() bool { return d.done }

// Decode reads one event of the wire.
func (d *chatDecoder) Decode(e sse.Event) ([]model.Event, error) {
	if d.started {
		if s, ok := scanChunk(e.Data); ok {
			d.out, d.summed = d.out[:0], false
			err := d.scanned(s)
			return d.out, err
		}
	}
	return d.general(e.Name, e.Data)
}

// general reads any chunk.
func (d *chatDecoder) general(name, data []byte) ([]model.Event, error) {
	d.out = d.out[:0]
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, nil
	}
	if string(data) == "[DONE]" {
		if !d.started {
			return nil, model.IncompleteError() // a gateway that lost its server says only this
		}
		d.close()
		return d.out, nil
	}
	var c chunk
	if err := wire.Unmarshal(data, &c); err != nil {
		d.summed = false
		return d.Terminate(wire.MalformedEvent(d.provider, data, err))
	}
	if c.failed() || string(name) == "error" {
		return nil, failure(model.Failure{Provider: d.provider, Body: bytes.Clone(data)})
	}
	err := d.chunk(&c)
	d.summed = c.hasUsage() && len(c.Choices) == 0 && !d.billed
	d.billed = d.billed || c.hasUsage()
	return d.out, err
}

func (d *chatDecoder) whole(data []byte) ([]model.Event, error) {
	out, err := d.Decode(sse.Event{Data: data})
	if err != nil || d.done {
		return out, err
	}
	if d.finish == "" && d.blocks == 0 && len(d.calls) == 0 {
		return nil, failure(model.Failure{Provider: d.provider, Body: data})
	}
	d.close()
	return d.out, nil
}

// Terminate ends an answer whose server only left out its last word: when it had said why it
// stopped, nothing is missing. The same holds when it reported the usage once, at the very end,
// and no call is open: such servers never send a finish reason.
func (d *chatDecoder) Terminate(cause error) ([]model.Event, error) {
	d.out = d.out[:0]
	complete := d.summed && d.blocks > 0 && d.settled == len(d.calls)
	if d.finish == "" && !complete {
		return nil, cause
	}
	d.close()
	return d.out, nil
}

// hasUsage reports whether a chunk has usage.
func (c *chunk) hasUsage() bool { return c.Usage != nil || c.Groq != nil && c.Groq.Usage != nil }

// failed reports whether the chunk is an error. One that has choices is not, whatever else
// it holds.
func (c *chunk) failed() bool {
	for _, ch := range c.Choices {
		if isSet(ch.Error) {
			return true
		}
	}
	if len(c.Choices) > 0 {
		return isSet(c.Error)
	}
	return isSet(c.Error) || c.Type == "error" || c.Object == "error" || isSet(c.Detail) || isSet(c.Code) && isSet(c.Message)
}

func (d *chatDecoder) chunk(c *chunk) error {
	if !d.started && (c.ID != "" || c.Model != "" || len(c.Choices) > 0) { // else it is not of the answer
		d.started = true
		d.emit(model.Start{ID: c.ID, Model: c.Model})
	}
	for i := range c.Choices {
		if err := d.choice(&c.Choices[i]); err != nil {
			return err
		}
	}
	for _, url := range c.Citations {
		d.out = d.cite(d.out, annotation{URL: url})
	}
	d.count(c)
	return nil
}

// choice reads one of the choices. Only one was asked for; servers that send several spread
// one answer over them.
func (d *chatDecoder) choice(c *choice) error {
	said := c.Delta
	if said == nil && d.blocks == 0 && len(d.calls) == 0 {
		said = c.Message // some send it beside the deltas, with all that was said so far
	}
	if said != nil {
		if err := d.delta(said); err != nil {
			return err
		}
	}
	if c.Finish == "" {
		return nil
	}
	if c.Finish == "insufficient_system_resource" {
		return model.Failure{Provider: d.provider, Type: "overloaded", Message: "the provider ran out of resources in the middle of its answer"}.Error()
	}
	if reason := chatFinish(c.Finish); d.finish != model.FinishCalls || reason != model.FinishStop {
		d.finish, d.raw = reason, c.Finish
	}
	d.endThought()
	d.endCalls()
	return nil
}

// delta decodes a change of the answer: text, reasoning or tool calls.
func (d *chatDecoder) delta(w *delta) error {
	if err := d.reason(w); err != nil {
		return err
	}
	if err := d.content(w.Content); err != nil {
		return err
	}
	if len(w.Refusal) > 2 && w.Refusal[0] == '"' {
		d.refused = true
		if err := d.say(w.Refusal); err != nil {
			return err
		}
	}
	for i, c := range w.ToolCalls {
		if !c.Index.Known && len(w.ToolCalls) > 1 {
			c.Index = number{N: int64(i), Known: true}
		}
		if err := d.call(callPiece{c.Index, c.ID, c.Function.Name, c.Function.Arguments, c.Extra}); err != nil {
			return err
		}
	}
	if f := w.FunctionCall; f != nil {
		if err := d.call(callPiece{index: number{N: 0, Known: true}, name: f.Name, arguments: f.Arguments}); err != nil {
			return err
		}
	}
	for _, a := range w.Annotations {
		d.out = d.cite(d.out, a)
	}
	return nil
}

// scanned takes what the scanner found.
func (d *chatDecoder) scanned(s chatDelta) error {
	if err := d.think(s.reasoning); err != nil {
		return err
	}
	if s.reasoning != nil {
		d.cameIn(s.field)
	}
	if s.seen&seenDetails != 0 {
		w := wireDetail{Type: "reasoning.text", Text: s.detail.text, Format: d.thought.format(s.detail.format), Index: s.detail.index}
		if err := d.detail(&w, s.reasoning != nil); err != nil {
			return err
		}
	}
	if err := d.say(s.content); err != nil {
		return err
	}
	if s.hasCall {
		return d.call(callPiece{index: s.index, arguments: s.arguments})
	}
	return nil
}

// content reads a text, or a list of pieces that may be thoughts as well.
func (d *chatDecoder) content(raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] != '[' {
		return d.say(raw)
	}
	for _, p := range contentParts(raw) {
		thoughts := []contentPart{{Text: p.Thinking}}
		if len(p.Thinking) > 0 && p.Thinking[0] == '[' {
			thoughts = contentParts(p.Thinking)
		}
		for _, t := range thoughts {
			if err := d.think(t.Text); err != nil {
				return err
			}
		}
		if err := d.say(p.Text); err != nil {
			return err
		}
	}
	return nil
}

func contentParts(raw json.RawMessage) (out []contentPart) {
	_ = wire.Unmarshal(raw, &out) // it was read as JSON before; what does not fit is left out
	return out
}

// say extends the text by a JSON string as it stood on the wire.
func (d *chatDecoder) say(raw []byte) error {
	if len(raw) <= 2 || raw[0] != '"' {
		return nil
	}
	text, ok := d.words.join.Text(raw)
	if !ok {
		return d.brokenText()
	}
	if text == "" {
		return nil
	}
	d.endThought()
	if !d.words.open {
		d.words.open, d.words.id = true, d.nextBlock()
		d.emit(model.TextStart{ID: d.words.id})
	}
	d.emit(model.TextDelta{ID: d.words.id, Text: text})
	return nil
}

func (d *chatDecoder) brokenText() error {
	return model.Failure{Provider: d.provider, Message: "the provider sent a broken text", Type: "server_error"}.Error()
}

func (d *chatDecoder) nextBlock() string {
	d.blocks++
	return strconv.Itoa(d.blocks - 1)
}

func (d *chatDecoder) endText() {
	if !d.words.open {
		return
	}
	if rest := d.words.join.Flush(); rest != "" {
		d.emit(model.TextDelta{ID: d.words.id, Text: rest})
	}
	d.emit(model.TextEnd{ID: d.words.id})
	d.words = block{}
}

// count reads the usage from any field that servers use. Zeros at the end do not replace an
// earlier report.
func (d *chatDecoder) count(c *chunk) {
	u := c.Usage
	if u == nil && c.Groq != nil {
		u = c.Groq.Usage
	}
	for i := range c.Choices {
		if u == nil {
			u = c.Choices[i].Usage
		}
	}
	now := d.usage
	if u != nil {
		if said := u.usage(d.costs); said != (model.Usage{}) {
			now = said
		}
	}
	if billed := c.Copilot.billed(); billed != nil {
		now.Billed = billed
	} else if now.Billed == nil {
		now.Billed = d.usage.Billed
	}
	if u == nil && c.Copilot == nil || d.counted && now == d.usage {
		return
	}
	d.usage, d.counted = now, true
	d.emit(model.UsageUpdate{Usage: now})
}

// close ends open blocks and the answer.
func (d *chatDecoder) close() {
	d.endThought()
	d.endText()
	d.endCalls()
	d.done = true
	switch {
	case d.refused && d.finish != model.FinishCalls:
		d.finish = model.FinishFilter
	case d.finish == "":
		d.finish = model.FinishUnknown
	}
	d.emit(model.Finish{Reason: d.finish, Raw: d.raw})
}

// chatFinish maps the words of all servers for why an answer ended; gateways hand on those
// of other protocols.
func chatFinish(word string) string {
	switch strings.ToLower(word) {
	case "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed", "end":
		return model.FinishStop
	case "length", "max_tokens", "model_length", "max_output_tokens":
		return model.FinishLength
	case "tool_calls", "tool_call", "tool_use", "function_call", "tool-calls":
		return model.FinishCalls
	case "content_filter", "content-filter", "refusal", "safety", "recitation", "sensitive", "prohibited_content", "blocklist":
		return model.FinishFilter
	case "error", "network_error", "failed":
		return model.FinishError
	default:
		return model.FinishUnknown
	}
}
