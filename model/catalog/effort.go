package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// How each protocol encodes the thinking effort.

// each returns a variant for each level of effort.
func (m *Model) each(names ...string) []Variant {
	out := make([]Variant, 0, len(names))
	for _, name := range names {
		out = append(out, Variant{name, m.effort(name)})
	}
	return out
}

// effort is a level in the words of the model's protocol.
func (m *Model) effort(name string) Options {
	value := quote(name)
	switch m.NPM {
	case OpenAI, Azure, Mantle:
		return openAIOptions(value)
	case Copilot:
		if strings.Contains(m.APIID, "gpt-5") {
			return openAIOptions(value)
		}
	case Anthropic, VertexAnthropic:
		switch name {
		case "none":
			return Options{"thinking": json.RawMessage(`{"type":"disabled"}`)}
		case "thinking":
			return Options{"thinking": json.RawMessage(`{"type":"adaptive"}`)}
		}
		return Options{"thinking": json.RawMessage(adaptive(m.APIID)), "effort": value}
	case Bedrock:
		kind := "enabled"
		if strings.Contains(m.APIID, "claude") {
			kind = "adaptive"
		}
		if name == "none" {
			return object("reasoningConfig", `{"type":"disabled"}`)
		}
		return object("reasoningConfig", `{"type":%q,"maxReasoningEffort":%s}`, kind, value)
	case Google, Vertex:
		if name == "none" {
			return object("thinkingConfig", `{"includeThoughts":false,"thinkingBudget":0}`)
		}
		return object("thinkingConfig", `{"includeThoughts":true,"thinkingLevel":%s}`, value)
	case OpenRouter:
		return object("reasoning", `{"effort":%s}`, value)
	}
	return Options{"reasoningEffort": value}
}

func openAIOptions(effort json.RawMessage) Options {
	return Options{
		"reasoningEffort": effort, "reasoningSummary": json.RawMessage(`"auto"`),
		"include": json.RawMessage(`["reasoning.encrypted_content"]`),
	}
}

// adaptive is the thinking option of Claude models that choose their own effort. The newer ones
// show their thinking only on request.
func adaptive(id string) string {
	if major, minor, ok := version(strings.ToLower(id), "claude-"); ok && (major > 4 || major == 4 && minor >= 7) {
		return `{"type":"adaptive","display":"summarized"}`
	}
	return `{"type":"adaptive"}`
}

// budget lets the model think for so many tokens.
func (m *Model) budget(tokens float64) Options {
	n := int64(math.Max(tokens, 1))
	switch m.NPM {
	case Anthropic, VertexAnthropic:
		return object("thinking", `{"type":"enabled","budgetTokens":%d}`, n)
	case Bedrock:
		return object("reasoningConfig", `{"type":"enabled","budgetTokens":%d}`, n)
	case Google, Vertex:
		return object("thinkingConfig", `{"includeThoughts":true,"thinkingBudget":%d}`, n)
	case OpenRouter:
		return object("reasoning", `{"max_tokens":%d}`, n)
	}
	return object("thinking", `{"type":"enabled","budget_tokens":%d}`, n)
}

func object(name, format string, args ...any) Options {
	return Options{name: fmt.Appendf(nil, format, args...)}
}

// claude returns the levels of a Claude by its version.
func (m *Model) claude(id string) []Variant {
	major, minor, _ := version(id, "claude-")
	output := cmp.Or(m.Limit.Output, math.MaxInt32)
	switch {
	case major > 4 || major == 4 && minor >= 7:
		return m.each("low", "medium", "high", "xhigh", "max")
	case major == 4 && minor == 6:
		return m.each("low", "medium", "high", "max")
	case m.NPM == Bedrock:
		return []Variant{{"high", m.budget(16000)}, {"max", m.budget(31999)}}
	case major == 4 && minor == 5 && strings.Contains(id, "opus"):
		out := m.each("low", "medium", "high")
		for i := range out {
			out[i].Options["thinking"] = m.budget(min(16000, output/2-1))["thinking"]
		}
		return out
	}
	return []Variant{{"high", m.budget(min(16000, output/2-1))}, {"max", m.budget(min(31999, output-1))}}
}

// gemini returns the levels of a Gemini by its version.
func (m *Model) gemini(id string) []Variant {
	has := func(part string) bool { return strings.Contains(id, part) }
	switch {
	case has("2.5"):
		most := 24576.0
		if has("pro") {
			most = 32768
		}
		return []Variant{{"medium", m.budget(8000)}, {"high", m.budget(16000)}, {"max", m.budget(most)}}
	case has("gemini-3") && has("image"):
		return m.each("low", "high")
	case has("gemini-3") && has("flash"):
		return m.each("minimal", "low", "medium", "high")
	case has("gemini-3"), has("gemini-2"):
		return m.each("low", "medium", "high")
	}
	return m.each("low", "high")
}
