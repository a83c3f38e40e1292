package openai

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// answer is the content of an assistant message, by the fields of the wire.
type answer struct {
	texts    []part
	thoughts []string
	details  [][]byte // OpenRouter's, as they came
	opaque   string   // GitHub's
	field    string   // in which the thoughts came
	calls    []model.CallContent
}

// assistant encodes what the model said. One that neither spoke nor called is left out:
// servers refuse it.
func (w chatWriter) assistant(m model.Message, ttl model.CacheTTL) []byte {
	a := gather(m)
	if len(a.texts) == 0 && len(a.calls) == 0 {
		return nil
	}
	b := []byte(`{"role":"assistant","content":`)
	if len(a.texts) == 0 {
		b = append(b, "null"...)
	} else {
		b = w.content(b, a.texts, ttl, true) // few servers accept a list here
	}
	b = w.thoughts(b, a)
	for i, c := range a.calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = w.call(b, c)
	}
	if len(a.calls) > 0 {
		b = append(b, ']')
	}
	return append(w.mark(b, ttl), '}')
}

func gather(m model.Message) (a answer) {
	for _, c := range m.Content {
		switch c := c.(type) {
		case model.TextContent:
			if c.Text != "" {
				a.texts = append(a.texts, textPart(c.Text))
			}
		case model.ReasoningContent:
			a.think(c)
		case model.CallContent:
			if !c.Executed { // the protocol has no calls that the provider runs
				a.calls = append(a.calls, c)
			}
		default:
		}
	}
	return a
}

func (a *answer) think(c model.ReasoningContent) {
	var meta struct {
		OpenRouter struct {
			Details []json.RawMessage `json:"reasoning_details"`
		}
		Copilot          struct{ ReasoningOpaque string }
		OpenAICompatible struct{ ReasoningField string }
	}
	if len(c.Meta) > 0 && wire.Unmarshal(c.Meta, &meta) == nil {
		for _, d := range meta.OpenRouter.Details {
			a.details = append(a.details, []byte(d))
		}
		a.opaque = or(meta.Copilot.ReasoningOpaque, a.opaque)
		if f := meta.OpenAICompatible.ReasoningField; f == contentField || f == plainField { // nothing else is sent
			a.field = f
		}
	}
	if c.Text != "" {
		a.thoughts = append(a.thoughts, c.Text)
	}
}

// thoughts gives the reasoning back: as the server asked for it, else in the field that the
// model wants to find, which must be there even if it is empty, else in the field it came in.
func (w chatWriter) thoughts(b []byte, a answer) []byte {
	all := strings.Join(a.thoughts, "\n\n")
	switch {
	case w.dialect.NoReasoning && a.opaque == "":
	case len(a.details) > 0:
		b = append(b, `,"reasoning_details":[`...)
		return append(append(b, bytes.Join(a.details, []byte{','})...), ']')
	case a.opaque != "":
		b = lathe.AppendJSONString(append(b, `,"reasoning_text":`...), all)
		return lathe.AppendJSONString(append(b, `,"reasoning_opaque":`...), a.opaque)
	case w.dialect.Reasoning != "":
		b = lathe.AppendJSONString(append(b, ','), w.dialect.Reasoning)
		return lathe.AppendJSONString(append(b, ':'), all)
	case a.field != "" && all != "":
		b = lathe.AppendJSONString(append(b, ','), a.field)
		return lathe.AppendJSONString(append(b, ':'), all)
	}
	return b
}

func (w chatWriter) call(b []byte, c model.CallContent) []byte {
	b = lathe.AppendJSONString(append(b, `{"id":`...), w.callID(c.ID))
	b = lathe.AppendJSONString(append(b, `,"type":"function","function":{"name":`...), c.Name)
	b = lathe.AppendJSONString(append(b, `,"arguments":`...), arguments(c))
	b = append(b, '}')
	if extra := readMeta(c.Meta).Extra; isSet(extra) {
		b = append(append(b, `,"extra_content":`...), extra...)
	}
	return append(b, '}')
}

// arguments is the input of a call as text; what is no object is none.
func arguments(c model.CallContent) string {
	if len(c.Input) == 0 || c.Input[0] != '{' {
		return "{}"
	}
	return string(c.Input)
}

// results encodes what tools gave; the breakpoint is on the last of them.
func (w chatWriter) results(m model.Message, ttl model.CacheTTL) (b []byte) {
	for i, c := range m.Content {
		res, ok := c.(model.ResultContent)
		if !ok || res.Executed {
			continue
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		here := markIf(i == len(m.Content)-1, ttl)
		b = lathe.AppendJSONString(append(b, `{"role":"tool","tool_call_id":`...), w.callID(res.ID))
		b = w.content(append(b, `,"content":`...), resultParts(res, chatForm), here, false)
		b = append(w.mark(b, here), '}')
	}
	return b
}

// resultParts is the text of a result, if it has one, and its media.
func resultParts(res model.ResultContent, how form) (out []part) {
	if res.Text != "" || len(res.Media) == 0 {
		out = append(out, textPart(res.Text))
	}
	for _, f := range res.Media {
		out = append(out, media(f, how))
	}
	return out
}

// callID makes an id one that the server takes. It depends on nothing but the id, so that a
// call and its result keep together in whatever request they stand.
func (w chatWriter) callID(id string) string {
	switch {
	case w.dialect.ShortIDs:
		return wire.ShortCallID(id)
	case w.claude:
		id = wire.PlainCallID(id)
	}
	return id
}

// boundID shortens an id that is too long, so that it still is another than the rest.
func boundID(id string, limit int) string {
	if limit <= 16 || len(id) <= limit {
		return id
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	sum := strconv.FormatUint(h.Sum64(), 36)
	return strings.ToValidUTF8(id[:limit-len(sum)-1], "") + "_" + sum
}
