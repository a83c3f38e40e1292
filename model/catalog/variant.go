package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Variant is a named set of options, most often a level of reasoning.
type Variant struct {
	Name    string
	Options Options
}

// Variants returns the levels of a model, least effort first, with what the config says
// about them; those only in the config come last, by name.
func (m *Model) Variants() []Variant {
	var out []Variant
	if m.Reasoning {
		out = m.levels()
	}
	for _, name := range slices.Sorted(maps.Keys(m.ConfigVariants)) {
		options := maps.Clone(m.ConfigVariants[name])
		i := slices.IndexFunc(out, func(v Variant) bool { return v.Name == name })
		disabled := string(options["disabled"]) == "true"
		delete(options, "disabled")
		switch {
		case disabled && i >= 0:
			out = slices.Delete(out, i, i+1)
		case disabled:
		case i >= 0:
			out[i].Options = merged(out[i].Options, options)
		default:
			out = append(out, Variant{name, options})
		}
	}
	return out
}

// Variant returns the options of a level. The empty name and "default" have none.
func (m *Model) Variant(name string) (Options, bool) {
	if name == "" || name == "default" {
		return nil, true
	}
	for _, v := range m.Variants() {
		if v.Name == name {
			return v.Options, true
		}
	}
	return nil, false
}

// levels computes them from what the catalog says, else from the protocol and the id.
func (m *Model) levels() []Variant {
	if out, ok := m.catalogVariants(); ok {
		return out
	}
	id := strings.ToLower(m.APIID)
	if names, ok := exceptional(m.NPM, id); ok {
		return m.each(names...)
	}
	switch m.NPM {
	case OpenAI, Azure, Mantle:
		return m.each(openAIEfforts(id, m.ReleaseDate)...)
	case Anthropic, VertexAnthropic:
		return m.claude(id)
	case Bedrock:
		if strings.Contains(id, "claude") {
			return m.claude(id)
		}
	case Google, Vertex:
		return m.gemini(id)
	case OpenRouter:
		if strings.Contains(id, "gpt") {
			return m.each("none", "minimal", "low", "medium", "high", "xhigh")
		}
	case Copilot:
		return m.each(copilotEfforts(id)...)
	case Groq:
		return m.each("none", "low", "medium", "high")
	case Mistral:
		return m.each("high")
	case Cohere, Perplexity:
		return nil
	}
	if strings.Contains(id, "deepseek-v4") {
		return m.each("low", "medium", "high", "max")
	}
	return m.each("low", "medium", "high")
}

// budgets are the variants of a model that takes a number of tokens to think, up to the most it takes; 0 is not known.
func (m *Model) budgets(limit float64) []Variant {
	most := 31999.0
	for _, n := range []float64{limit, m.Limit.Output - 1} {
		if n > 0 {
			most = min(most, n)
		}
	}
	half := most / 2
	if limit > 0 {
		half = min(most, limit/2)
	}
	return []Variant{{"high", m.budget(half)}, {"max", m.budget(most)}}
}

// catalogVariants makes variants of what the catalog says; ok is false when it says nothing.
func (m *Model) catalogVariants() (out []Variant, ok bool) {
	for _, l := range m.Levels {
		if l.Type != "effort" {
			continue
		}
		for _, v := range l.Values {
			name := "none"
			if v != nil {
				name = *v
			}
			out = append(out, m.each(name)...)
		}
		return out, true
	}
	for _, l := range m.Levels {
		switch l.Type {
		case "toggle":
			return m.each("none", "high"), true
		case "budget_tokens":
			return m.budgets(l.Max), true
		}
	}
	return nil, false
}

// exceptional are the models whose makers take other levels than their protocol suggests;
// ok is false for all others.
func exceptional(npm, id string) (names []string, ok bool) {
	has := func(part string) bool { return strings.Contains(id, part) }
	switch {
	case has("grok-3-mini"):
		return []string{"low", "high"}, true
	case has("minimax-m3"):
		return []string{"none", "thinking"}, true
	case has("glm-5.2"):
		return []string{"high", "max"}, true
	case has("kimi") && (npm == Anthropic || npm == VertexAnthropic):
		return []string{"low", "medium", "high", "max"}, true
	}
	for _, part := range []string{"deepseek-chat", "deepseek-reasoner", "deepseek-r1", "deepseek-v3", "minimax", "glm", "kimi", "qwen", "big-pickle"} {
		if has(part) {
			return nil, true
		}
	}
	return nil, false
}

// openAIEfforts are the levels of OpenAI's own models.
func openAIEfforts(id, released string) []string {
	id = id[strings.LastIndex(id, "/")+1:]
	has := func(part string) bool { return strings.Contains(id, part) }
	major, minor, known := version(id, "gpt-")
	from := func(n int) bool { return known && (major > 5 || major == 5 && minor >= n) }
	var out []string
	switch {
	case has("deep-research"), from(1) && has("-chat"):
		return []string{"medium"}
	case from(1) && has("-pro"):
		return []string{"medium", "high", "xhigh"}
	case from(0) && has("-pro"):
		return []string{"high"}
	case has("codex"):
		return around(from(3), []string{"low", "medium", "high"}, from(2) || has("codex-max"))
	case from(1):
		return around(true, []string{"low", "medium", "high"}, from(2))
	case from(0):
		return []string{"minimal", "low", "medium", "high"}
	}
	out = []string{"low", "medium", "high"}
	return around(released >= "2025-11-13", out, released >= "2025-12-04")
}

// around adds the level below and the one above.
func around(none bool, names []string, xhigh bool) []string {
	if none {
		names = append([]string{"none"}, names...)
	}
	if xhigh {
		names = append(names, "xhigh")
	}
	return names
}

func copilotEfforts(id string) []string {
	if strings.Contains(id, "gemini") {
		return nil
	}
	major, minor, ok := version(id, "gpt-")
	return around(false, []string{"low", "medium", "high"}, ok && (major > 5 || major == 5 && minor >= 2))
}

// version reads the two numbers that follow a name in an id, other words between them left
// out: claude-opus-4-5 and claude-3-7-sonnet have both, and a date is none.
func version(id, name string) (major, minor int, ok bool) {
	_, rest, found := strings.Cut(id, name)
	if !found {
		return 0, 0, false
	}
	words := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("-.@:/", r) })
	for i, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || len(w) > 2 {
			continue
		}
		if i+1 < len(words) && len(words[i+1]) <= 2 {
			minor, _ = strconv.Atoi(words[i+1])
		}
		return n, minor, true
	}
	return 0, 0, false
}

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always can be
	return b
}
