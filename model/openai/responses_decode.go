package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// responsesDecoder turns the events of one response into ours.
type responsesDecoder struct {
	citing
	provider string
	callID   func() string
	freeform map[string]string // the argument that holds the text, by the name of a custom tool

	out     []model.Event // of the event at hand
	items   []*output
	called  bool // the answer holds calls for us
	refused bool
	done    bool
}

func (d *responsesDecoder) emit(e model.Event) { d.out = append(d.out, e) }

// IsDone reports whether the answer has come to its end.
func (d *responsesDecoder) IsDone() bool { return d.done }

// Terminate never ends an answer: without its last event it has no usage, and may be
// incomplete.
func (d *responsesDecoder) Terminate(cause error) ([]model.Event, error) { return nil, cause }

// Decode reads one event of the wire.
func (d *responsesDecoder) Decode(e sse.Event) ([]model.Event, error) {
	if s, ok := scanResponses(e.Data); ok {
		d.out = d.out[:0]
		err := d.grow(s)
		return d.out, err
	}
	return d.general(e.Name, e.Data)
}

// general reads any event.
func (d *responsesDecoder) general(name, data []byte) ([]model.Event, error) {
	d.out = d.out[:0]
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "[DONE]" {
		return nil, nil
	}
	var e responsesEvent
	if err := wire.Unmarshal(data, &e); err != nil {
		return nil, wire.MalformedEvent(d.provider, data, err)
	}
	if e.Type == "" {
		e.Type = string(name)
	}
	if e.Type == "error" || e.Type == "response.failed" || isSet(e.Error) {
		return nil, failure(model.Failure{Provider: d.provider, Body: bytes.Clone(data)})
	}
	err := d.known(&e)
	return d.out, err
}

// known reads an event; those it does not know say nothing that others do not.
func (d *responsesDecoder) known(e *responsesEvent) error {
	switch e.Type {
	case "response.created":
		if e.Response != nil {
			d.emit(model.Start{ID: e.Response.ID, Model: e.Response.Model})
		}
	case "response.output_item.added":
		return d.added(e.OutputIndex, e.Item)
	case "response.output_item.done":
		return d.settled(e.OutputIndex, e.Item)
	case "response.output_text.delta", "response.refusal.delta", "response.reasoning_summary_text.delta",
		"response.reasoning_text.delta", "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		return d.grow(growth{kind: e.Type, item: []byte(e.ItemID), index: e.OutputIndex, part: e.part(), delta: e.Delta})
	case "response.output_text.done", "response.refusal.done", "response.reasoning_summary_text.done",
		"response.reasoning_text.done", "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		return d.catchUp(e)
	case "response.reasoning_summary_part.added":
		if o := d.find(e.OutputIndex, []byte(e.ItemID)); o != nil && o.kind == "reasoning" {
			d.turn(o, thoughtPart{int(e.SummaryIndex.N), false})
		}
	case "response.output_text.annotation.added":
		d.out = d.cite(d.out, e.Annotation)
	case "response.completed", "response.incomplete":
		return d.close(e)
	}
	return nil
}

// part is the index of the piece within the item.
func (e *responsesEvent) part() int {
	if e.SummaryIndex.Known {
		return int(e.SummaryIndex.N)
	}
	return int(e.ContentIndex.N)
}

// catchUp takes the whole of a text from servers that send no deltas of it.
func (d *responsesDecoder) catchUp(e *responsesEvent) error {
	o := d.find(e.OutputIndex, []byte(e.ItemID))
	if o != nil && o.grew {
		return nil
	}
	whole := e.Text
	switch e.Type {
	case "response.refusal.done":
		whole = e.Refusal
	case "response.function_call_arguments.done":
		whole = e.Arguments
	case "response.custom_tool_call_input.done":
		whole = e.Input
	}
	kind := strings.TrimSuffix(e.Type, ".done") + ".delta"
	return d.grow(growth{kind: kind, item: []byte(e.ItemID), index: e.OutputIndex, part: e.part(), delta: whole})
}

// close ends the answer with what its last event says.
func (d *responsesDecoder) close(e *responsesEvent) error {
	r := e.Response
	if r == nil {
		r = &response{}
	}
	if len(d.items) == 0 { // a gateway that only sends the whole
		for i, item := range r.Output {
			if err := d.settled(number{N: int64(i), Known: true}, item); err != nil {
				return err
			}
		}
	}
	for _, o := range d.items {
		d.end(o, &wireItem{})
	}
	d.count(r.Usage, e.Copilot, r.Copilot)
	reason, raw := model.FinishStop, or(r.Status, "completed")
	if e.Type == "response.incomplete" || r.Status == "incomplete" {
		reason, raw = model.FinishUnknown, "incomplete"
		if r.Incomplete != nil && r.Incomplete.Reason != "" {
			raw = r.Incomplete.Reason
			reason = chatFinish(raw)
		}
	}
	switch {
	case d.refused:
		reason = model.FinishFilter
	case d.called && (reason == model.FinishStop || reason == model.FinishUnknown):
		reason = model.FinishCalls
	}
	d.emit(model.Finish{Reason: reason, Raw: raw})
	d.done = true
	return nil
}

func (d *responsesDecoder) count(u *responsesUsage, billed ...*copilotUsage) {
	if u == nil {
		return
	}
	used := u.usage()
	for _, c := range billed {
		if amount := c.billed(); amount != nil {
			used.Billed = amount
		}
	}
	d.emit(model.UsageUpdate{Usage: used})
}

// whole reads a response that did not stream: its events are made up.
func (d *responsesDecoder) whole(data []byte) ([]model.Event, error) {
	d.out = d.out[:0]
	var r response
	if err := wire.Unmarshal(data, &r); err != nil {
		return nil, wire.MalformedEvent(d.provider, data, err)
	}
	if isSet(r.Error) || r.Status == "failed" || r.Output == nil {
		return nil, failure(model.Failure{Provider: d.provider, Body: data})
	}
	d.emit(model.Start{ID: r.ID, Model: r.Model})
	if r.Status == "in_progress" || r.Status == "queued" {
		return d.out, model.IncompleteError()
	}
	err := d.close(&responsesEvent{Type: "response." + or(r.Status, "completed"), Response: &r})
	return d.out, err
}

// readItem decodes an item; it skips an item that cannot be read.
func readItem(raw json.RawMessage) *wireItem {
	var w wireItem
	if wire.Unmarshal(raw, &w) != nil {
		return &wireItem{}
	}
	return &w
}
