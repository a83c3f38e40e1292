package bedrock

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// encoder writes requests. It keeps the bytes of messages, so that the next request copies its
// history instead of encoding it again.
type encoder struct{ cache wire.Cache }

// defaultOutput is the limit beside reasoning if the request sets none.
const defaultOutput = 4096

// maker is whose model a request is for, as far as requests differ.
type maker struct {
	claude, mistral, nova, openai bool
}

func makerOf(id string) maker {
	id = strings.ToLower(id)
	return maker{
		claude: strings.Contains(id, "claude"), mistral: wire.IsMistral(id),
		nova: strings.Contains(id, "amazon.nova"), openai: strings.Contains(id, "openai."),
	}
}

// request encodes the whole body. Equal requests give equal bytes, and one with a longer history
// begins with the same: the messages stand last.
func (e *encoder) request(r model.Request) []byte {
	m := makerOf(r.Model)
	w, variant, messages := writer{callID: callID}, "", r.Messages
	if m.mistral {
		w.callID, variant, messages = wire.ShortCallID, "m", wire.SeparateResults(r.Messages)
	}
	if m.claude {
		messages = wire.DedupeCallIDs(messages)
	} else {
		r.Cache = model.NoCache // others refuse the mark
	}
	b := append(make([]byte, 0, 16<<10), '{')
	b = appendSystem(b, r)
	b = e.appendTools(b, r)
	o := readOptions(r, m)
	b = o.appendInference(b, r)
	b = o.appendFields(b)
	turns := e.cache.Turns(variant, messages, w.message)
	b = wire.Join(append(b, `"messages":[`...), turns, func(b []byte, t wire.Turn) []byte {
		return append(append(append(b, `{"role":"`...), t.Role...), `","content":[`...)
	}, func(b []byte, i int) []byte {
		if i >= len(turns)-2 && !turns[i].EndsInReasoning(w.content) {
			b = append(b, cachePoint(r.Cache)...)
		}
		return append(b, ']', '}')
	})
	return append(b, ']', '}')
}

// cachePoint is the block that is a prompt-cache breakpoint: after the first two system texts and
// the last two turns, unless they end in a thought.
func cachePoint(ttl model.CacheTTL) string {
	switch ttl {
	case model.CacheFive:
		return `,{"cachePoint":{"type":"default"}}`
	case model.CacheHour:
		return `,{"cachePoint":{"type":"default","ttl":"1h"}}`
	default:
		return ""
	}
}

// appendSystem writes the system texts; after the first two are cache breakpoints.
func appendSystem(b []byte, r model.Request) []byte {
	n := 0
	for _, text := range r.System {
		if strings.TrimSpace(text) == "" {
			continue
		}
		if n == 0 {
			b = append(b, `"system":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendText(b, text)
		if n < 2 {
			b = append(b, cachePoint(r.Cache)...)
		}
		n++
	}
	if n > 0 {
		b = append(b, ']', ',')
	}
	return b
}

// appendTools writes the tools. The protocol has no word for calling none: then there are none.
// But a history with calls is refused without tools.
func (e *encoder) appendTools(b []byte, r model.Request) []byte {
	tools := r.Tools
	if r.Choice == "none" {
		tools = nil
	}
	if len(tools) == 0 {
		if !wire.HasCalls(r.Messages) {
			return b
		}
		tools = []model.Tool{wire.Noop()}
	}
	b = append(b, `"toolConfig":{"tools":[`...)
	b = append(b, e.cache.Tools(tools, encodeTool)...)
	b = append(b, ']')
	switch r.Choice {
	case "", "auto", "none":
	case "required":
		b = append(b, `,"toolChoice":{"any":{}}`...)
	default:
		b = append(b, `,"toolChoice":{"tool":{"name":`...)
		b = append(lathe.AppendJSONString(b, r.Choice), '}', '}')
	}
	return append(b, '}', ',')
}

func encodeTool(t model.Tool) []byte {
	b := lathe.AppendJSONString([]byte(`{"toolSpec":{"name":`), t.Name)
	if t.Description != "" {
		b = lathe.AppendJSONString(append(b, `,"description":`...), t.Description)
	}
	b = append(b, `,"inputSchema":{"json":`...)
	return append(append(b, wire.ObjectSchema(t.Schema)...), '}', '}', '}')
}

// options are those of a request, sorted by where the wire has them.
type options struct {
	thinks bool
	budget int
	top    wire.Members // of the body
	fields wire.Members // of the model itself
}

// readOptions sorts provider options into fields of the request and fields that Bedrock passes on to the model.
func readOptions(r model.Request, m maker) (o options) {
	if r.TopK != nil && m.claude {
		o.fields.SetInt("top_k", *r.TopK)
	}
	wire.EachOption(r.Options, func(name string, value json.RawMessage) {
		switch name {
		case "reasoningConfig":
			if forced := r.Choice != "" && r.Choice != "auto" && r.Choice != "none"; !forced || !m.claude { // one that must call a tool cannot think
				o.reason(value, m)
			}
		case "additionalModelRequestFields":
			var own map[string]json.RawMessage
			_ = json.Unmarshal(value, &own) // other values have no members
			wire.EachOption(own, func(name string, value json.RawMessage) { o.fields.Set(name, value) })
		case "anthropicBeta":
			o.fields.Set("anthropic_beta", value)
		case "guardrailConfig", "performanceConfig", "requestMetadata", "additionalModelResponseFieldPaths", "promptVariables", "serviceTier", "outputConfig":
			o.top.Set(name, value)
		case "toolConfig", "inferenceConfig", "reasoningEffort":
		default:
			o.fields.Set(name, value)
		}
	})
	if o.thinks {
		o.fields.Drop("top_k")
	}
	return o
}

// reason encodes the thinking option, in the format of the model's maker.
func (o *options) reason(value json.RawMessage, m maker) {
	var config struct {
		Type   string          `json:"type"`
		Budget int             `json:"budgetTokens"`
		Effort json.RawMessage `json:"maxReasoningEffort"`
	}
	if json.Unmarshal(value, &config) != nil {
		return
	}
	effort := len(config.Effort) > 0 && string(config.Effort) != "null"
	switch {
	case m.openai:
		if effort {
			o.fields.Set("reasoning_effort", config.Effort)
		}
	case !m.claude:
		o.fields.Set("reasoningConfig", value)
		o.thinks = m.nova && config.Type == "enabled" && string(config.Effort) == `"high"` // it then takes no numbers
	default:
		o.thinks, o.budget = config.Type == "enabled" || config.Type == "adaptive", config.Budget
		encoded := lathe.AppendJSONString([]byte(`{"type":`), config.Type)
		if config.Budget > 0 {
			encoded = strconv.AppendInt(append(encoded, `,"budget_tokens":`...), int64(config.Budget), 10)
		}
		if config.Type != "enabled" || config.Budget > 0 {
			o.fields.Set("thinking", append(encoded, '}'))
		}
		if effort {
			o.fields.Set("output_config", append(append([]byte(`{"effort":`), config.Effort...), '}'))
		}
	}
}

// appendInference writes the bounds of the answer. Reasoning counts, so there must be tokens for
// more than them; a model that thinks takes no other number.
func (o *options) appendInference(b []byte, r model.Request) []byte {
	var in wire.Members
	limit := r.MaxOutput
	if o.thinks && o.budget > 0 && o.budget >= limit {
		limit = o.budget + max(limit, defaultOutput)
	}
	if limit > 0 {
		in.SetInt("maxTokens", limit)
	}
	if !o.thinks {
		in.SetFloat("temperature", r.Temperature)
		in.SetFloat("topP", r.TopP)
	}
	if in.IsEmpty() {
		return b
	}
	return append(append(append(b, `"inferenceConfig":`...), in.Object()...), ',')
}

func (o *options) appendFields(b []byte) []byte {
	if !o.fields.IsEmpty() {
		b = append(append(append(b, `"additionalModelRequestFields":`...), o.fields.Object()...), ',')
	}
	return o.top.Append(b)
}
