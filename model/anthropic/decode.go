package anthropic

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// decoder turns the events of one stream into ours.
type decoder struct {
	provider string
	blocks   []*block // by index
	usage    model.Usage
	done     bool
	out      [1]model.Event // for the events that stream
}

// block is a piece of content under way.
type block struct {
	kind      string // of the wire
	id        string // of ours: the index, or the id of the call
	name      string
	input     strings.Builder
	signature string
	redacted  string
	join      model.Joiner
	closed    bool
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
	Input      *int64 `json:"input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Output     *int64 `json:"output_tokens"`
}

// event reads one event of the wire.
func (d *decoder) event(data []byte) ([]model.Event, error) {
	if s, ok := scanDelta(data); ok {
		if b := d.open(s.index); b != nil {
			return d.grow(b, s.kind, s.raw)
		}
		return nil, nil
	}
	var e wireEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, model.Failure{Provider: d.provider, Body: data, Message: "the provider sent what is not JSON", Type: "server_error"}.Error()
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
		return d.finish(e), nil
	case "message_stop":
		d.done = true
		return d.endAll(), nil
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
		out = append(out, model.Used{Usage: d.usage})
	}
	return out
}

// count takes in what was used: the provider's input leaves out what the cache did.
func (d *decoder) count(u *wireUsage) {
	set := func(to, from *int64) {
		if from != nil {
			*to = max(*from, 0)
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
	if index < 0 || index >= len(d.blocks) || d.blocks[index] == nil || d.blocks[index].closed {
		return nil
	}
	return d.blocks[index]
}

func (d *decoder) begin(index int, w wireBlock) []model.Event {
	for len(d.blocks) <= index {
		d.blocks = append(d.blocks, nil)
	}
	b := &block{kind: w.Type, id: strconv.Itoa(index), name: w.Name, signature: w.Signature}
	d.blocks[index] = b
	switch w.Type {
	case "text":
		out := []model.Event{model.TextStart{ID: b.id}}
		if w.Text != "" {
			out = append(out, model.TextDelta{ID: b.id, Text: w.Text})
		}
		return out
	case "thinking":
		out := []model.Event{model.ReasoningStart{ID: b.id}}
		if w.Thinking != "" {
			out = append(out, model.ReasoningDelta{ID: b.id, Text: w.Thinking})
		}
		return out
	case "redacted_thinking":
		b.redacted = w.Data
		return []model.Event{model.ReasoningStart{ID: b.id, Meta: reasoningMeta("", w.Data)}}
	case "tool_use", "server_tool_use", "mcp_tool_use":
		b.id = w.ID
		if text := string(w.Input); text != "" && text != "{}" && text != "null" {
			b.input.WriteString(text) // some gateways send the whole input at once
		}
		return []model.Event{model.InputStart{ID: b.id, Name: b.name, Executed: w.Type != "tool_use"}}
	}
	if strings.HasSuffix(w.Type, "_tool_result") {
		b.closed = true
		out := []model.Event{model.ToolResult{ID: w.ToolUseID, Name: strings.TrimSuffix(w.Type, "_tool_result"), Output: w.Content, Meta: resultMeta(w.Type)}}
		return append(out, sources(w.Content)...)
	}
	b.closed = true
	return nil
}

// delta reads what the scanner did not.
func (d *decoder) delta(index int, w *wireDelta) ([]model.Event, error) {
	b := d.open(index)
	if b == nil || w == nil {
		return nil, nil
	}
	switch w.Type {
	case "text_delta":
		return d.grow(b, textDelta, w.Text)
	case "thinking_delta":
		return d.grow(b, thinkingDelta, w.Thinking)
	case "input_json_delta":
		return d.grow(b, inputDelta, w.PartialJSON)
	case "signature_delta":
		b.signature += w.Signature
	case "citations_delta":
		if w.Citation != nil && w.Citation.URL != "" {
			return []model.Event{model.Source{ID: w.Citation.URL, URL: w.Citation.URL, Title: w.Citation.Title}}, nil
		}
	}
	return nil, nil
}

// grow extends a block by a JSON string as it stood on the wire.
func (d *decoder) grow(b *block, kind deltaKind, raw []byte) ([]model.Event, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	text, ok := b.join.Text(raw)
	if !ok {
		return nil, model.Failure{Provider: d.provider, Message: "the provider sent a broken text", Type: "server_error"}.Error()
	}
	if text == "" {
		return nil, nil
	}
	switch kind {
	case textDelta:
		d.out[0] = model.TextDelta{ID: b.id, Text: text}
	case thinkingDelta:
		d.out[0] = model.ReasoningDelta{ID: b.id, Text: text}
	case inputDelta:
		b.input.WriteString(text)
		d.out[0] = model.InputDelta{ID: b.id, Text: text}
	}
	return d.out[:], nil
}

func (d *decoder) end(index int) []model.Event {
	b := d.open(index)
	if b == nil {
		return nil
	}
	b.closed = true
	rest := b.join.Rest() // of a surrogate pair whose second half never came
	switch b.kind {
	case "text":
		if rest != "" {
			return []model.Event{model.TextDelta{ID: b.id, Text: rest}, model.TextEnd{ID: b.id}}
		}
		return []model.Event{model.TextEnd{ID: b.id}}
	case "thinking", "redacted_thinking":
		end := model.ReasoningEnd{ID: b.id, Meta: reasoningMeta(b.signature, b.redacted)}
		if rest != "" {
			return []model.Event{model.ReasoningDelta{ID: b.id, Text: rest}, end}
		}
		return []model.Event{end}
	default:
		input := b.input.String() + rest
		if strings.TrimSpace(input) == "" {
			input = "{}"
		}
		call := model.ToolCall{ID: b.id, Name: b.name, Input: input, Executed: b.kind != "tool_use"}
		if call.Executed {
			call.Meta = resultMeta(b.kind)
		}
		return []model.Event{model.InputEnd{ID: b.id}, call}
	}
}

// endAll closes what the provider left open.
func (d *decoder) endAll() (out []model.Event) {
	for i := range d.blocks {
		out = append(out, d.end(i)...)
	}
	return out
}

func (d *decoder) finish(e wireEvent) []model.Event {
	out := d.endAll()
	if e.Usage != nil {
		d.count(e.Usage)
		out = append(out, model.Used{Usage: d.usage})
	}
	if e.Delta != nil && e.Delta.StopReason != "" {
		out = append(out, model.Finish{Reason: finishReason(e.Delta.StopReason), Raw: e.Delta.StopReason})
	}
	return out
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
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(f.Body, &body) == nil {
		f.Type, f.Message = body.Error.Type, body.Error.Message
	}
	return f.Error()
}
