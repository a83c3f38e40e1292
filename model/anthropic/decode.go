package anthropic

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// decoder turns the events of one stream into ours.
type decoder struct {
	provider string
	ids      wire.CallIDs
	blocks   []*block // by index
	usage    model.Usage
	reason   string // why the answer ends, in the provider's word
	done     bool
	slow     bool           // tests read everything on the general path
	out      [1]model.Event // for the events that stream
}

// block is a piece of content while it streams.
type block struct {
	wire.Block
	kind      string // of the wire
	signature wire.Opaque
	redacted  string
}

// wireEvent has the fields of all events that are used; each has some of them.
type wireEvent struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      *wireMessage    `json:"message"`
	ContentBlock *wireBlock      `json:"content_block"`
	Delta        *wireDelta      `json:"delta"`
	Usage        *wireUsage      `json:"usage"`
	Error        json.RawMessage `json:"error"`
	RequestID    string          `json:"request_id"`
}

type wireMessage struct {
	ID    string     `json:"id"`
	Model string     `json:"model"`
	Usage *wireUsage `json:"usage"`
}

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	ToolUseID string          `json:"tool_use_id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Content   json.RawMessage `json:"content"`
}

type wireDelta struct {
	Type        string          `json:"type"`
	Text        json.RawMessage `json:"text"`
	Thinking    json.RawMessage `json:"thinking"`
	PartialJSON json.RawMessage `json:"partial_json"`
	Signature   string          `json:"signature"`
	StopReason  string          `json:"stop_reason"`
	Citation    *wireCitation   `json:"citation"`
}

type wireCitation struct {
	URL   string `json:"url"`
	Title string `json:"title"`
}

type wireUsage struct {
	Input      wire.Number `json:"input_tokens"`
	CacheRead  wire.Number `json:"cache_read_input_tokens"`
	CacheWrite wire.Number `json:"cache_creation_input_tokens"`
	Output     wire.Number `json:"output_tokens"`
}

// IsDone reports whether the answer has come to its end.
func (d *decoder) IsDone() bool { return d.done }

// Decode reads one event of the wire.
func (d *decoder) Decode(e sse.Event) ([]model.Event, error) { return d.event(e.Data) }

// event decodes one event of the stream.
func (d *decoder) event(data []byte) ([]model.Event, error) {
	if !d.slow {
		if s, ok := scanDelta(data); ok {
			return d.grow(d.open(s.index), s.kind, s.raw)
		}
	}
	var e wireEvent
	if err := wire.Unmarshal(data, &e); err != nil {
		return nil, wire.MalformedEvent(d.provider, data, err)
	}
	switch e.Type {
	case "message_start":
		return d.start(e.Message), nil
	case "content_block_start":
		if e.ContentBlock == nil || e.Index < 0 || e.Index > 1<<16 {
			return nil, nil
		}
		return d.begin(e.Index, *e.ContentBlock), nil
	case "content_block_delta":
		return d.delta(e.Index, e.Delta)
	case "content_block_stop":
		return d.end(e.Index), nil
	case "message_delta":
		return d.change(e), nil
	case "message_stop":
		return d.finish(), nil
	case "error":
		return nil, failure(model.Failure{Provider: d.provider, Body: data})
	default: // pings, and what we do not know yet
		return nil, nil
	}
}

func (d *decoder) start(m *wireMessage) []model.Event {
	if m == nil {
		return []model.Event{model.Start{}}
	}
	out := []model.Event{model.Start{ID: m.ID, Model: m.Model}}
	if m.Usage != nil {
		d.count(m.Usage)
		out = append(out, model.UsageUpdate{Usage: d.usage})
	}
	return out
}

// count takes in what was used: the provider's input leaves out what the cache did.
func (d *decoder) count(u *wireUsage) {
	set := func(to *int64, from wire.Number) {
		if from.Known {
			*to = from.Tokens()
		}
	}
	plain := d.usage.Input - d.usage.CacheRead - d.usage.CacheWrite
	set(&plain, u.Input)
	set(&d.usage.CacheRead, u.CacheRead)
	set(&d.usage.CacheWrite, u.CacheWrite)
	set(&d.usage.Output, u.Output)
	d.usage.Input = plain + d.usage.CacheRead + d.usage.CacheWrite
}

func (d *decoder) open(index int) *block {
	if index < 0 || index >= len(d.blocks) || d.blocks[index] == nil || !d.blocks[index].IsOpen() {
		return nil
	}
	return d.blocks[index]
}

// begin opens a content block; unknown kinds are skipped, so that new ones break nothing.
func (d *decoder) begin(index int, w wireBlock) []model.Event {
	for len(d.blocks) <= index {
		d.blocks = append(d.blocks, nil)
	}
	var left []model.Event
	if old := d.open(index); old != nil { // an index that comes twice is another block
		left = d.end(index)
	}
	b := &block{kind: w.Type, Block: wire.Block{ID: strconv.Itoa(index), Name: w.Name}}
	_ = b.signature.Add(w.Signature) // of one event, which is bounded: it is too long with the next
	preset := ""
	switch w.Type {
	case "text":
		preset = w.Text
	case "thinking":
		b.Kind, preset = wire.ReasoningBlock, w.Thinking
	case "redacted_thinking":
		b.Kind, b.redacted, b.Meta = wire.ReasoningBlock, w.Data, reasoningMeta("", w.Data)
	case "tool_use", "server_tool_use", "mcp_tool_use":
		b.Kind, b.ID, b.Executed = wire.InputBlock, d.ids.Take(w.ID), w.Type != "tool_use"
		if text := string(w.Input); text != "" && text != "{}" && text != "null" {
			b.Preset(text) // some gateways send the whole input at once
		}
	default:
		if kind, ok := strings.CutSuffix(w.Type, "_tool_result"); ok {
			left = append(left, model.ToolResult{ID: w.ToolUseID, Name: kind, Output: w.Content, Meta: resultMeta(w.Type)})
			return append(left, sources(w.Content)...)
		}
		return left // of a kind we do not know yet
	}
	d.blocks[index] = b
	left = append(left, b.Start())
	if preset != "" {
		e, _ := b.Grow(lathe.AppendJSONString(nil, preset))
		left = append(left, e)
	}
	return left
}

// delta reads what the scanner did not.
func (d *decoder) delta(index int, w *wireDelta) ([]model.Event, error) {
	b := d.open(index)
	if b == nil || w == nil {
		return nil, nil
	}
	switch w.Type {
	case "text_delta":
		return d.grow(b, wire.TextBlock, w.Text)
	case "thinking_delta":
		return d.grow(b, wire.ReasoningBlock, w.Thinking)
	case "input_json_delta":
		return d.grow(b, wire.InputBlock, w.PartialJSON)
	case "signature_delta":
		return nil, b.signature.Add(w.Signature)
	case "citations_delta":
		if w.Citation != nil && w.Citation.URL != "" {
			return []model.Event{model.Source{ID: w.Citation.URL, URL: w.Citation.URL, Title: w.Citation.Title}}, nil
		}
	}
	return nil, nil
}

// grow extends a block by a JSON string as it stood on the wire. A delta that does not fit its
// block says nothing.
func (d *decoder) grow(b *block, kind wire.BlockKind, raw []byte) ([]model.Event, error) {
	if b == nil || b.Kind != kind {
		return nil, nil
	}
	e, ok := b.Grow(raw)
	switch {
	case !ok:
		return nil, model.Failure{Provider: d.provider, Message: "the provider sent a broken text", Type: "server_error"}.Error()
	case e == nil:
		return nil, nil
	}
	d.out[0] = e
	return d.out[:], nil
}

func (d *decoder) end(index int) []model.Event {
	b := d.open(index)
	if b == nil {
		return nil
	}
	switch {
	case b.Kind == wire.ReasoningBlock:
		b.Meta = reasoningMeta(b.signature.String(), b.redacted)
	case b.Executed:
		b.Meta = resultMeta(b.kind)
	}
	return b.End()
}

// change reads what was used, and why the answer ends.
func (d *decoder) change(e wireEvent) []model.Event {
	if e.Delta != nil && e.Delta.StopReason != "" {
		d.reason = e.Delta.StopReason
	}
	if e.Usage == nil {
		return nil
	}
	d.count(e.Usage)
	return []model.Event{model.UsageUpdate{Usage: d.usage}}
}

// finish ends the answer, and closes what the provider left open.
func (d *decoder) finish() (out []model.Event) {
	d.done = true
	for i := range d.blocks {
		out = append(out, d.end(i)...)
	}
	return append(out, model.Finish{Reason: finishReason(d.reason), Raw: d.reason})
}

// Terminate ends a stream that stops or fails: that is its end if it had said why it ends.
func (d *decoder) Terminate(cause error) ([]model.Event, error) {
	if d.reason == "" {
		return nil, cause
	}
	return d.finish(), nil
}

func finishReason(stop string) string {
	switch stop {
	case "end_turn", "stop_sequence", "pause_turn":
		return model.FinishStop
	case "tool_use":
		return model.FinishCalls
	case "max_tokens", "model_context_window_exceeded":
		return model.FinishLength
	case "refusal":
		return model.FinishFilter
	default:
		return model.FinishUnknown
	}
}

func reasoningMeta(signature, redacted string) model.Meta {
	inner := map[string]string{}
	if signature != "" {
		inner["signature"] = signature
	}
	if redacted != "" {
		inner["redactedData"] = redacted
	}
	if len(inner) == 0 {
		return nil
	}
	b, _ := json.Marshal(map[string]map[string]string{"anthropic": inner})
	return b
}

func resultMeta(kind string) model.Meta {
	b, _ := json.Marshal(map[string]any{"anthropic": map[string]string{"type": kind}, "providerExecuted": true})
	return b
}

// sources finds the pages in the result of a search.
func sources(content json.RawMessage) (out []model.Event) {
	var items []struct{ Type, URL, Title string }
	if json.Unmarshal(content, &items) != nil {
		return nil // an error object instead of a list
	}
	for _, it := range items {
		if it.URL != "" {
			out = append(out, model.Source{ID: it.URL, URL: it.URL, Title: it.Title})
		}
	}
	return out
}

// failure reads the provider's error object, in a body or in a stream.
func failure(f model.Failure) *lathe.Error {
	var body struct {
		Error struct {
			Type    string `json:"type"`
			Code    string `json:"code"` // of gateways
			Message string `json:"message"`
		} `json:"error"`
	}
	if wire.Unmarshal(f.Body, &body) == nil {
		f.Type, f.Code, f.Message = body.Error.Type, body.Error.Code, body.Error.Message
	}
	return f.Error()
}
