package openai

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// maxCallID is how long an id of a call may be, unless the dialect says otherwise.
const maxCallID = 64

// inputWriter encodes one message as items.
type inputWriter struct {
	dialect Dialect
	stored  bool
	b       []byte

	thoughts []thoughtItem // not written yet: they need something that follows
	lost     bool          // thoughts were left out since the last item
	referred []string      // ids of stored items
}

// thoughtItem is a reasoning, put together from its blocks.
type thoughtItem struct {
	id, encrypted string
	summary, raw  []string
}

func (w *inputWriter) message(m model.Message) {
	if m.Role == model.UserRole {
		w.user(m)
		return
	}
	for _, c := range m.Content {
		switch c := c.(type) {
		case model.TextContent:
			w.text(c)
		case model.ReasoningContent:
			w.think(c)
		case model.CallContent:
			w.call(c)
		case model.ResultContent:
			w.result(c)
		case model.FileContent: // nothing a model says holds one
		}
	}
}

func (w *inputWriter) user(m model.Message) {
	if parts := userParts(m, responsesForm); len(parts) > 0 {
		w.b = append(w.parts(append(w.b, `{"role":"user","content":`...), parts), '}')
	}
}

func (w *inputWriter) parts(b []byte, parts []part) []byte {
	return append(appendParts(append(b, '['), parts, `{"type":"input_text","text":`), ']')
}

// item begins an item that is not a thought; thoughts that wait for one are written first.
func (w *inputWriter) item(head string) {
	w.settleThoughts()
	for _, t := range w.thoughts {
		w.comma()
		w.b = w.thought(t)
	}
	w.thoughts, w.lost = nil, false
	w.comma()
	w.b = append(w.b, head...)
}

func (w *inputWriter) comma() {
	if len(w.b) > 0 {
		w.b = append(w.b, ',')
	}
}

// refer writes a reference to an item that the provider keeps, once, and reports whether it
// could.
func (w *inputWriter) refer(id string) bool {
	if !w.stored || id == "" {
		return false
	}
	if !slices.Contains(w.referred, id) {
		w.referred = append(w.referred, id)
		w.item(`{"type":"item_reference","id":`)
		w.b = append(lathe.AppendJSONString(w.b, id), '}')
	}
	return true
}

func (w *inputWriter) text(c model.TextContent) {
	meta := readMeta(c.Meta)
	if c.Text == "" || w.refer(meta.ItemID) {
		return
	}
	w.item(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":`)
	w.b = append(lathe.AppendJSONString(w.b, c.Text), '}', ']')
	if meta.Phase != "" {
		w.b = lathe.AppendJSONString(append(w.b, `,"phase":`...), meta.Phase)
	}
	w.b = append(w.b, '}')
}

// think puts the blocks of a reasoning together again.
func (w *inputWriter) think(c model.ReasoningContent) {
	meta := readMeta(c.Meta)
	n := len(w.thoughts)
	if n == 0 || meta.ItemID == "" || w.thoughts[n-1].id != meta.ItemID {
		w.thoughts = append(w.thoughts, thoughtItem{id: meta.ItemID})
		n++
	}
	t := &w.thoughts[n-1]
	t.encrypted = or(meta.Encrypted, t.encrypted)
	if c.Text != "" && meta.Raw {
		t.raw = append(t.raw, c.Text)
	} else if c.Text != "" {
		t.summary = append(t.summary, c.Text)
	}
}

// isGivable reports whether the provider would understand a thought: it keeps it, or it gave
// us what it needs to know it again.
func (w *inputWriter) isGivable(t thoughtItem) bool {
	return t.encrypted != "" || len(t.raw) > 0 || w.stored && t.id != ""
}

// settleThoughts drops those thoughts that the provider would not understand.
func (w *inputWriter) settleThoughts() {
	cache := w.thoughts[:0]
	for _, t := range w.thoughts {
		if w.isGivable(t) {
			cache = append(cache, t)
		} else {
			w.lost = true
		}
	}
	w.thoughts = cache
}

func (w *inputWriter) thought(t thoughtItem) []byte {
	if w.stored && t.id != "" {
		return append(lathe.AppendJSONString(append(w.b, `{"type":"item_reference","id":`...), t.id), '}')
	}
	b := append(w.b, `{"type":"reasoning"`...)
	if t.id != "" {
		b = lathe.AppendJSONString(append(b, `,"id":`...), t.id)
	}
	if t.encrypted != "" {
		b = lathe.AppendJSONString(append(b, `,"encrypted_content":`...), t.encrypted)
	}
	b = appendTexts(append(b, `,"summary":`...), "summary_text", t.summary)
	if len(t.raw) > 0 {
		b = appendTexts(append(b, `,"content":`...), "reasoning_text", t.raw)
	}
	return append(b, '}')
}

func appendTexts(b []byte, kind string, texts []string) []byte {
	b = append(b, '[')
	for i, s := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"type":"`...), kind...), `","text":`...)
		b = append(lathe.AppendJSONString(b, s), '}')
	}
	return append(b, ']')
}

func (w *inputWriter) callID(id string) string {
	return boundID(id, maxCallID)
}

func (w *inputWriter) call(c model.CallContent) {
	if c.Executed || w.refer(readMeta(c.Meta).ItemID) {
		return // a call that the provider ran is sent with its result
	}
	if text, ok := customText(c); ok {
		w.item(`{"type":"custom_tool_call","call_id":`)
		w.b = lathe.AppendJSONString(w.b, w.callID(c.ID))
		w.b = lathe.AppendJSONString(append(w.b, `,"name":`...), c.Name)
		w.b = append(lathe.AppendJSONString(append(w.b, `,"input":`...), text), '}')
		return
	}
	w.item(`{"type":"function_call","call_id":`)
	w.b = lathe.AppendJSONString(w.b, w.callID(c.ID))
	w.b = lathe.AppendJSONString(append(w.b, `,"name":`...), c.Name)
	w.b = lathe.AppendJSONString(append(w.b, `,"arguments":`...), arguments(c))
	w.b = append(w.b, '}')
}

// customText is the input of a call that was made in plain text, as the model wrote it.
func customText(c model.CallContent) (text string, ok bool) {
	if !readMeta(c.Meta).Custom {
		return "", false
	}
	var members map[string]string
	_ = wire.Unmarshal(c.Input, &members) // other values are sent unchanged
	for _, text = range members {
		return text, len(members) == 1
	}
	return string(c.Input), true
}

func (w *inputWriter) result(c model.ResultContent) {
	if c.Executed {
		w.writeHosted(c)
		return
	}
	kind := `{"type":"function_call_output","call_id":`
	if readMeta(c.Meta).Custom {
		kind = `{"type":"custom_tool_call_output","call_id":`
	}
	w.item(kind)
	w.b = lathe.AppendJSONString(w.b, w.callID(c.ID))
	w.b = append(w.b, `,"output":`...)
	if len(c.Media) == 0 {
		w.b = lathe.AppendJSONString(w.b, c.Text)
	} else {
		w.b = w.parts(w.b, resultParts(c, responsesForm))
	}
	w.b = append(w.b, '}')
}

// writeHosted gives back a call that the provider ran: the item itself, which its result is. If
// that was cleared or cut, has lost its image, or the thought that led to it is lost, the
// provider would refuse it.
func (w *inputWriter) writeHosted(c model.ResultContent) {
	meta := readMeta(c.Meta)
	if w.refer(meta.ItemID) {
		return
	}
	w.settleThoughts()
	var item struct {
		Type string `json:"type"`
	}
	if w.lost || meta.Type == "image_generation_call" || wire.Unmarshal([]byte(c.Text), &item) != nil || item.Type == "" || item.Type != meta.Type {
		return
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(c.Text)) != nil {
		return
	}
	w.item("")
	w.b = append(w.b, compact.Bytes()...)
}
