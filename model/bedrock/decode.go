package bedrock

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// decoder turns the frames of one stream into our events.
type decoder struct {
	provider string
	id       string // of the request
	ids      wire.CallIDs

	started bool
	blocks  map[int]*block // by index
	order   []int          // in which they began
	reason  string         // why the answer ends, in the provider's word
	done    bool
	slow    bool           // tests read everything on the general path
	out     [1]model.Event // for the events that stream
}

// block is a piece of content while it streams.
type block struct {
	wire.Block
	signature wire.Opaque
	redacted  wire.Opaque
}

// wireEvent has the members of all events that are used; each has some of them.
type wireEvent struct {
	Index      int        `json:"contentBlockIndex"`
	Start      wireStart  `json:"start"`
	Delta      *wireDelta `json:"delta"`
	StopReason string     `json:"stopReason"`
	Usage      *wireUsage `json:"usage"`
}

type wireStart struct {
	ToolUse *wireToolUse `json:"toolUse"`
}

type wireToolUse struct {
	ID   string `json:"toolUseId"`
	Name string `json:"name"`
	Type string `json:"type"`
}

type wireDelta struct {
	Text    json.RawMessage `json:"text"`
	ToolUse *struct {
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	Reasoning *struct {
		Text      json.RawMessage `json:"text"`
		Signature string          `json:"signature"`
		Redacted  string          `json:"redactedContent"`
	} `json:"reasoningContent"`
	Citation *struct {
		Title    string `json:"title"`
		Source   string `json:"source"`
		Location struct {
			Web struct {
				URL string `json:"url"`
			} `json:"web"`
		} `json:"location"`
	} `json:"citation"`
}

type wireUsage struct {
	Input      wire.Number `json:"inputTokens"`
	Output     wire.Number `json:"outputTokens"`
	Total      wire.Number `json:"totalTokens"`
	CacheRead  wire.Number `json:"cacheReadInputTokens"`
	CacheWrite wire.Number `json:"cacheWriteInputTokens"`
}

// IsDone reports whether the answer has come to its end.
func (d *decoder) IsDone() bool { return d.done }

// Decode reads one frame.
func (d *decoder) Decode(f frame) ([]model.Event, error) {
	switch string(f.message) {
	case "event":
		return d.event(string(f.event), f.payload)
	case "exception":
		return nil, failure(model.Failure{Provider: d.provider, Body: f.payload}, string(f.exception))
	case "error":
		return nil, failure(model.Failure{Provider: d.provider, Message: string(f.text)}, string(f.code))
	default:
		return nil, nil
	}
}

// event decodes one event. Deltas take a fast path, since nearly all events are deltas.
func (d *decoder) event(kind string, data []byte) ([]model.Event, error) {
	if !d.slow && kind == "contentBlockDelta" {
		if s, ok := scanDelta(data); ok {
			return d.grow(s.index, s.kind, s.raw)
		}
	}
	switch kind {
	case "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata":
	default:
		return nil, nil // unknown events are ignored
	}
	var e wireEvent
	if err := wire.Unmarshal(data, &e); err != nil {
		return nil, wire.MalformedEvent(d.provider, data, err)
	}
	switch kind {
	case "messageStart":
		return d.start(nil), nil
	case "contentBlockStart":
		return d.begin(e), nil
	case "contentBlockDelta":
		return d.delta(e)
	case "contentBlockStop":
		return d.end(e.Index), nil
	case "messageStop":
		d.reason = e.StopReason
		d.reason = cmp.Or(d.reason, "unknown")
		return nil, nil
	default:
		return d.metadata(e), nil
	}
}

// start says that the answer begins, once, before what it begins with.
func (d *decoder) start(then []model.Event) []model.Event {
	if d.started {
		return then
	}
	d.started = true
	return append([]model.Event{model.Start{ID: d.id}}, then...)
}

func (d *decoder) begin(e wireEvent) []model.Event {
	t := e.Start.ToolUse
	if t == nil {
		return nil // texts and thoughts begin with their first delta
	}
	out := d.end(e.Index) // an index that comes twice is another block
	b := d.open(e.Index, wire.InputBlock)
	b.ID, b.Name, b.Executed = d.ids.Take(t.ID), t.Name, t.Type == "server_tool_use"
	return d.start(append(out, b.Start()))
}

// open makes the block of an index.
func (d *decoder) open(index int, kind wire.BlockKind) *block {
	if d.blocks == nil {
		d.blocks = map[int]*block{}
	}
	b := &block{Block: wire.Block{Kind: kind, ID: strconv.Itoa(index)}}
	d.blocks[index], d.order = b, append(d.order, index)
	return b
}

// at returns the open block of an index, nil if there is none.
func (d *decoder) at(index int) *block {
	if b := d.blocks[index]; b != nil && b.IsOpen() {
		return b
	}
	return nil
}

// delta reads what the scanner did not.
func (d *decoder) delta(e wireEvent) (out []model.Event, err error) {
	w := e.Delta
	switch {
	case w == nil:
	case w.ToolUse != nil:
		return d.grow(e.Index, wire.InputBlock, w.ToolUse.Input)
	case w.Reasoning != nil:
		if out, err = d.grow(e.Index, wire.ReasoningBlock, w.Reasoning.Text); err != nil {
			return nil, err
		}
		if w.Reasoning.Signature != "" || w.Reasoning.Redacted != "" {
			b := d.at(e.Index)
			if b == nil {
				b = d.open(e.Index, wire.ReasoningBlock)
				out = d.start(append(out, b.Start()))
			}
			if err := b.signature.Add(w.Reasoning.Signature); err != nil {
				return nil, err
			}
			if err := b.redacted.Add(w.Reasoning.Redacted); err != nil {
				return nil, err
			}
		}
		return out, nil
	case w.Citation != nil:
		if url := w.Citation.Location.Web.URL; url != "" {
			return []model.Event{model.Source{ID: url, URL: url, Title: w.Citation.Title}}, nil
		}
	default:
		return d.grow(e.Index, wire.TextBlock, w.Text)
	}
	return nil, nil
}

// grow extends a block by a JSON string as it stood on the wire. A text and a reasoning begin
// with their first piece; a delta of another kind than its block says nothing.
func (d *decoder) grow(index int, kind wire.BlockKind, raw []byte) ([]model.Event, error) {
	var out []model.Event
	b := d.at(index)
	if b == nil {
		if kind == wire.InputBlock || len(raw) <= 2 || string(raw) == "null" {
			return nil, nil // only words open a block
		}
		b = d.open(index, kind)
		out = d.start([]model.Event{b.Start()})
	}
	if b.Kind != kind {
		return nil, nil
	}
	e, ok := b.Grow(raw)
	switch {
	case !ok:
		return nil, model.Failure{Provider: d.provider, Message: "the provider sent a broken text", Type: "server_error"}.Error()
	case e == nil:
		return out, nil
	case out != nil:
		return append(out, e), nil
	}
	d.out[0] = e
	return d.out[:], nil
}

func (d *decoder) end(index int) []model.Event {
	b := d.at(index)
	if b == nil {
		return nil
	}
	if b.Kind == wire.ReasoningBlock {
		b.Meta = reasoningMeta(b.signature.String(), b.redacted.String())
	}
	return b.End()
}

// metadata is the last event: what was used, and the end of an answer that said why it ends.
func (d *decoder) metadata(e wireEvent) (out []model.Event) {
	if u := e.Usage; u != nil {
		read, write := u.CacheRead.Tokens(), u.CacheWrite.Tokens()
		out = append(out, model.UsageUpdate{Usage: model.Usage{ // the provider's input leaves out what the cache did
			Input: u.Input.Tokens() + read + write, CacheRead: read, CacheWrite: write, Output: u.Output.Tokens(), Total: u.Total.Tokens(),
		}})
	}
	if d.reason != "" {
		out = append(out, d.finish()...)
	}
	return out
}

// finish ends the answer, and closes what the provider left open.
func (d *decoder) finish() (out []model.Event) {
	d.done = true
	for _, index := range d.order {
		out = append(out, d.end(index)...)
	}
	return d.start(append(out, model.Finish{Reason: finishReason(d.reason), Raw: d.reason}))
}

// Terminate ends a stream that stops or fails: that is its end if it had said why it ends.
func (d *decoder) Terminate(cause error) ([]model.Event, error) {
	if d.reason == "" {
		return nil, cause
	}
	return d.finish(), nil
}

// finishReason maps Bedrock's stop reason.
func finishReason(stop string) string {
	switch stop {
	case "end_turn", "stop_sequence":
		return model.FinishStop
	case "tool_use":
		return model.FinishCalls
	case "max_tokens", "model_context_window_exceeded":
		return model.FinishLength
	case "content_filtered", "guardrail_intervened", "refusal":
		return model.FinishFilter
	case "malformed_model_output", "malformed_tool_use":
		return model.FinishError
	default:
		return model.FinishUnknown
	}
}

// reasoningMeta is the data that the provider wants back, under the names that other clients
// use.
func reasoningMeta(signature, redacted string) model.Meta {
	switch {
	case redacted != "":
		b := lathe.AppendJSONString([]byte(`{"bedrock":{"redactedData":`), redacted)
		return append(b, '}', '}')
	case signature != "":
		b := lathe.AppendJSONString([]byte(`{"bedrock":{"signature":`), signature)
		return append(b, '}', '}')
	}
	return nil
}

// refusal reads an error that came instead of a stream.
func refusal(f model.Failure) *lathe.Error { return failure(f, f.Header.Get("X-Amzn-Errortype")) }

// failure reads the provider's error object. Its kind stands in a header, of HTTP or of the
// frame; with a colon after it there is an address of documentation.
func failure(f model.Failure, kind string) *lathe.Error {
	var body struct {
		Message string `json:"message"` // or with a capital
		Type    string `json:"__type"`
	}
	if wire.Unmarshal(f.Body, &body) == nil {
		f.Message = body.Message
	}
	if kind == "" {
		kind = body.Type[strings.LastIndexByte(body.Type, '#')+1:]
	}
	kind, _, _ = strings.Cut(kind, ":")
	f.Code, f.Type = kind, kindOf(kind)
	return f.Error()
}

// kindOf says what a kind of failure means, in words that model knows.
func kindOf(kind string) string {
	switch strings.TrimSuffix(strings.ToLower(kind), "exception") {
	case "throttling", "toomanyrequests", "servicequotaexceeded":
		return "rate_limit"
	case "internalserver", "modelstreamerror", "modelerror":
		return "server_error"
	case "serviceunavailable", "modelnotready", "modeltimeout":
		return "unavailable"
	case "accessdenied", "unrecognizedclient", "expiredtoken", "invalidsignature", "missingauthenticationtoken", "incompletesignature":
		return "authentication_error"
	}
	return ""
}
