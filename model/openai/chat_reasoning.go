package openai

import (
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// thought is reasoning while it streams, with the data to send back to its server.
type thought struct {
	id      string
	open    bool
	join    wire.Joiner
	details []*reasoningDetail
	size    int    // of their encrypted parts
	opaque  string // of GitHub
	field   string // in which the words came
}

// The fields in which servers send thoughts, and take them back.
const (
	contentField = "reasoning_content"
	plainField   = "reasoning"
)

// reasoningDetail gathers the pieces of one of OpenRouter's details.
type reasoningDetail struct {
	wireDetail
	words strings.Builder
	join  wire.Joiner
}

// reason reads the thoughts of a delta. Servers have several names for the field, and some
// send the same words under more than one.
func (d *chatDecoder) reason(w *delta) error {
	shown := false
	for _, f := range []struct {
		name string
		raw  []byte
	}{{contentField, w.ReasoningContent}, {plainField, w.Reasoning}, {"", w.ReasoningText}} {
		if len(f.raw) > 2 && f.raw[0] == '"' {
			if err := d.think(f.raw); err != nil {
				return err
			}
			d.cameIn(f.name)
			shown = true
			break
		}
	}
	for i := range w.ReasoningDetails {
		if err := d.detail(&w.ReasoningDetails[i], shown); err != nil {
			return err
		}
	}
	if w.ReasoningOpaque != "" {
		d.openThought()
		d.thought.opaque = w.ReasoningOpaque
	}
	return nil
}

// think extends the reasoning by a JSON string as it stood on the wire.
func (d *chatDecoder) think(raw []byte) error {
	if len(raw) <= 2 || raw[0] != '"' {
		return nil
	}
	text, ok := d.thought.join.Text(raw)
	if !ok {
		return d.brokenText()
	}
	if text != "" {
		d.openThought()
		d.emit(model.ReasoningDelta{ID: d.thought.id, Text: text})
	}
	return nil
}

// cameIn notes the field of the thought that is open.
func (d *chatDecoder) cameIn(field string) {
	if d.thought.open {
		d.thought.field = or(d.thought.field, field)
	}
}

// openThought begins a reasoning, if none is open. Words that come after it are another text.
func (d *chatDecoder) openThought() {
	if d.thought.open {
		return
	}
	d.endText()
	d.thought.open, d.thought.id = true, d.nextBlock()
	d.emit(model.ReasoningStart{ID: d.thought.id})
}

func (d *chatDecoder) endThought() {
	t := &d.thought
	if !t.open {
		return
	}
	if rest := t.join.Flush(); rest != "" {
		d.emit(model.ReasoningDelta{ID: t.id, Text: rest})
	}
	d.emit(model.ReasoningEnd{ID: t.id, Meta: t.meta()})
	d.thought = thought{}
}

// detail gathers one of OpenRouter's details. Its text is shown if no other field had it.
func (d *chatDecoder) detail(w *wireDetail, shown bool) error {
	words := w.Text
	if w.Type == "reasoning.summary" {
		words = w.Summary
	}
	if len(words) <= 2 || words[0] != '"' {
		words = nil
	}
	if words == nil && w.Data == "" && w.Signature == "" {
		return nil
	}
	if !shown {
		if err := d.think(words); err != nil {
			return err
		}
	}
	d.openThought()
	t := &d.thought
	if t.size += len(w.Data) + len(w.Signature); t.size > model.MaxOpaque {
		return model.TooLongError("opaque data", model.MaxOpaque)
	}
	n := len(t.details)
	if n == 0 || !t.details[n-1].continues(w) {
		t.details = append(t.details, &reasoningDetail{wireDetail: *w})
		t.details[n].Text, t.details[n].Summary = nil, nil // they are gathered, and their bytes are the reader's
		n++
	}
	last := t.details[n-1]
	last.Signature, last.ID, last.Format = or(w.Signature, last.Signature), or(last.ID, w.ID), or(last.Format, w.Format)
	if words != nil {
		text, ok := last.join.Text(words)
		if !ok {
			return d.brokenText()
		}
		last.words.WriteString(text)
	}
	return nil
}

// format reads the name of a detail's form, which is the same in all of its pieces.
func (t *thought) format(quoted []byte) string {
	if len(quoted) < 2 {
		return ""
	}
	name := quoted[1 : len(quoted)-1]
	if n := len(t.details); n > 0 && t.details[n-1].Format == string(name) {
		return t.details[n-1].Format
	}
	return string(name)
}

// continues reports whether w is a further piece of the same detail. Encrypted reasoning comes
// whole.
func (r *reasoningDetail) continues(w *wireDetail) bool {
	return w.Type == r.Type && w.Data == "" && r.Data == "" && (w.Index == r.Index || !w.Index.Known || !r.Index.Known)
}

// meta is the data that the server gets back, under the names that other clients use.
func (t *thought) meta() model.Meta {
	switch {
	case len(t.details) > 0:
		b := []byte(`{"openrouter":{"reasoning_details":[`)
		for i, r := range t.details {
			if i > 0 {
				b = append(b, ',')
			}
			b = r.append(b)
		}
		return append(b, `]}}`...)
	case t.opaque != "":
		b := lathe.AppendJSONString([]byte(`{"copilot":{"reasoningOpaque":`), t.opaque)
		return append(b, '}', '}')
	case t.field != "":
		b := lathe.AppendJSONString([]byte(`{"openaiCompatible":{"reasoningField":`), t.field)
		return append(b, '}', '}')
	}
	return nil
}

func (r *reasoningDetail) append(b []byte) []byte {
	b = lathe.AppendJSONString(append(b, `{"type":`...), r.Type)
	add := func(name, value string) {
		if value != "" {
			b = append(append(append(b, `,"`...), name...), `":`...)
			b = lathe.AppendJSONString(b, value)
		}
	}
	words := r.words.String() + r.join.Flush()
	if r.Type == "reasoning.summary" {
		add("summary", words)
	} else {
		add("text", words)
	}
	add("data", r.Data)
	add("signature", r.Signature)
	add("id", r.ID)
	add("format", r.Format)
	if r.Index.Known {
		b = strconv.AppendInt(append(b, `,"index":`...), r.Index.N, 10)
	}
	return append(b, '}')
}
