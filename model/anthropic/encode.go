package anthropic

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// encoder writes requests. It keeps the bytes of messages, so that the next request copies its
// history instead of encoding it again.
type encoder struct {
	version string // of the protocol, where the body names it and the address the model
	cache   wire.Cache
}

// defaultMaxTokens is sent when nothing bounds the answer: the protocol demands a bound.
const defaultMaxTokens = 4096

// request encodes the whole body. Equal requests give equal bytes, and one with a longer history
// begins with the same: the messages stand last.
func (e *encoder) request(r model.Request) []byte {
	b := append(make([]byte, 0, 16<<10), '{')
	if e.version == "" {
		b = lathe.AppendJSONString(append(b, `"model":`...), r.Model)
	} else {
		b = lathe.AppendJSONString(append(b, `"anthropic_version":`...), e.version)
	}
	t := readThinking(r)
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(t.limit(r.MaxOutput)), 10)
	b = append(b, `,"stream":true`...)
	if !t.on {
		b = appendNumbers(b, r)
	}
	b = appendSystem(b, r)
	b = e.appendTools(b, r)
	b = appendOptions(b, r.Options, t)
	return append(e.appendMessages(b, r), ']', '}')
}

// thinking holds the options for thinking.
type thinking struct {
	on     bool
	budget int
}

// readThinking finds out whether the model should think. One that must call a tool cannot.
func readThinking(r model.Request) thinking {
	switch r.Choice {
	case "", "auto", "none":
	default:
		return thinking{}
	}
	var w struct {
		Type   string
		Budget int `json:"budgetTokens"`
		Wire   int `json:"budget_tokens"`
	}
	if json.Unmarshal(r.Options["thinking"], &w) != nil {
		return thinking{}
	}
	return thinking{on: w.Type == "enabled" || w.Type == "adaptive", budget: max(w.Budget, w.Wire)}
}

// limit bounds the answer. Reasoning counts, so the limit must exceed its budget.
func (t thinking) limit(output int) int {
	if output <= 0 {
		output = defaultMaxTokens
	}
	if t.on && t.budget >= output {
		return t.budget + output
	}
	return output
}

// appendNumbers writes the sampling parameters; a thinking model accepts none of them.
func appendNumbers(b []byte, r model.Request) []byte {
	var in wire.Members
	in.SetFloat("temperature", r.Temperature)
	in.SetFloat("top_p", r.TopP)
	if r.TopK != nil {
		in.SetInt("top_k", *r.TopK)
	}
	return bytes.TrimSuffix(in.Append(append(b, ',')), []byte{','})
}

// cacheControl is the marker of a prompt-cache breakpoint.
func cacheControl(ttl model.CacheTTL) string {
	switch ttl {
	case model.CacheFive:
		return `,"cache_control":{"type":"ephemeral"}`
	case model.CacheHour:
		return `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	default:
		return ""
	}
}

// appendSystem writes the system texts; the first two are cache breakpoints.
func appendSystem(b []byte, r model.Request) []byte {
	n := 0
	for _, text := range r.System {
		if text == "" {
			continue
		}
		if n == 0 {
			b = append(b, `,"system":[`...)
		} else {
			b = append(b, ',')
		}
		b = lathe.AppendJSONString(append(b, `{"type":"text","text":`...), text)
		if n < 2 {
			b = append(b, cacheControl(r.Cache)...)
		}
		b = append(b, '}')
		n++
	}
	if n > 0 {
		b = append(b, ']')
	}
	return b
}

func (e *encoder) appendTools(b []byte, r model.Request) []byte {
	if len(r.Tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	b = append(append(b, e.cache.Tools(r.Tools, encodeTool)...), ']')
	switch r.Choice {
	case "", "auto":
	case "none":
		b = append(b, `,"tool_choice":{"type":"none"}`...)
	case "required":
		b = append(b, `,"tool_choice":{"type":"any"}`...)
	default:
		b = append(b, `,"tool_choice":{"type":"tool","name":`...)
		b = append(lathe.AppendJSONString(b, r.Choice), '}')
	}
	return b
}

func encodeTool(t model.Tool) []byte {
	b := lathe.AppendJSONString([]byte(`{"name":`), t.Name)
	b = lathe.AppendJSONString(append(b, `,"description":`...), t.Description)
	b = append(b, `,"input_schema":`...)
	return append(append(b, wire.ObjectSchema(t.Schema)...), '}')
}

// appendMessages writes the history; the last two turns are cache breakpoints, unless they end in
// a thought.
func (e *encoder) appendMessages(b []byte, r model.Request) []byte {
	turns := e.cache.Turns("", wire.DedupeCallIDs(r.Messages), encodeMessage)
	return wire.Join(append(b, `,"messages":[`...), turns, func(b []byte, t wire.Turn) []byte {
		return append(append(append(b, `{"role":"`...), t.Role...), `","content":[`...)
	}, func(b []byte, i int) []byte {
		if marker := cacheControl(r.Cache); marker != "" && i >= len(turns)-2 && !turns[i].EndsInReasoning(appendContent) {
			b = append(append(b[:len(b)-1], marker...), '}')
		}
		return append(b, ']', '}')
	})
}

// appendOptions adds the provider's own options in the words of its wire.
func appendOptions(b []byte, options map[string]json.RawMessage, t thinking) []byte {
	wire.EachOption(options, func(name string, value json.RawMessage) {
		switch name {
		case "thinking":
			if value = renameBudget(value); !t.on {
				value = json.RawMessage(`{"type":"disabled"}`)
			}
		case "effort":
			if _, own := options["output_config"]; own {
				return
			}
			name, value = "output_config", append(append([]byte(`{"effort":`), value...), '}')
		case "contextManagement":
			name = "context_management"
		case "mcpServers":
			name = "mcp_servers"
		case "max_tokens", "temperature", "top_p", "top_k", "tool_choice", "anthropic_version":
			return // the request has its own
		case "sendReasoning", "toolStreaming", "structuredOutputMode", "cacheControl", "disableParallelToolUse", "anthropicBeta", "reasoningEffort":
			return // of the client library, not of the wire
		}
		b = append(lathe.AppendJSONString(append(b, ','), name), ':')
		b = append(b, value...)
	})
	return b
}

// renameBudget writes budgetTokens the way the wire does.
func renameBudget(v json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(v, &m) != nil || m["budgetTokens"] == nil {
		return v
	}
	m["budget_tokens"] = m["budgetTokens"]
	delete(m, "budgetTokens")
	b, _ := json.Marshal(m) // a decoded value always encodes
	return b
}
