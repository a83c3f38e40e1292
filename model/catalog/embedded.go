package catalog

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"charm.land/catwalk/pkg/catwalk"
	list "charm.land/catwalk/pkg/embedded"
)

// embedded is the catalog that comes with the program. Reading it takes milliseconds, so
// that is left until someone asks.
var embedded = sync.OnceValue(readEmbedded)

// readEmbedded builds the catalog compiled into the binary, for the first start and for machines without a network.
func readEmbedded() map[string]*Provider {
	out := map[string]*Provider{}
	for _, from := range list.GetAll() {
		if from.ID == "" { // the list could not be read
			continue
		}
		id := string(from.ID)
		rows := vendorsWith(id)
		if len(rows) == 0 {
			rows = []Vendor{{ID: id, Name: from.Name, NPM: packageOf(from.Type), API: address(from), Env: variables(from.APIKey)}}
		}
		for _, v := range rows {
			p := out[v.ID]
			if p == nil {
				p = &Provider{ID: v.ID, Name: v.Name, NPM: v.NPM, API: v.API, Env: v.Env, Models: make(map[string]*Model, len(from.Models))}
				out[v.ID] = p
			}
			for i := range from.Models {
				if m := &from.Models[i]; strings.HasPrefix(m.ID, v.ModelPrefix) {
					p.Models[m.ID] = convert(v, m)
				}
			}
		}
	}
	for _, p := range out {
		p.finish()
	}
	return out
}

// address is where the list says a provider is. Those of the Messages protocol lack the
// version there.
func address(p catwalk.Provider) string {
	switch {
	case strings.HasPrefix(p.APIEndpoint, "$"):
		return ""
	case p.Type == catwalk.TypeAnthropic:
		return strings.TrimSuffix(p.APIEndpoint, "/v1") + "/v1"
	}
	return p.APIEndpoint
}

func variables(key string) []string {
	if name, ok := strings.CutPrefix(key, "$"); ok {
		return []string{name}
	}
	return []string{}
}

// packageOf is the package of a type; vendors other than OpenAI use its older protocol.
func packageOf(t catwalk.Type) string {
	return cmp.Or(map[catwalk.Type]string{
		catwalk.TypeOpenRouter: OpenRouter, catwalk.TypeVercel: Gateway, catwalk.TypeAnthropic: Anthropic, catwalk.TypeGoogle: Google,
		catwalk.TypeAzure: Azure, catwalk.TypeBedrock: Bedrock, catwalk.TypeVertexAI: Vertex,
	}[t], Compatible)
}

// convert makes ours of an entry of the list. What the list does not have follows from the
// id; its reasoning levels are mostly a default and are not taken.
func convert(v Vendor, from *catwalk.Model) *Model {
	m := &Model{
		APIID: from.ID, Name: from.Name, Family: familyOf(from.ID), ReleaseDate: dateIn(from.ID),
		Attachment: from.SupportsImages, Reasoning: from.CanReason, ToolCall: true,
		Temperature: !from.CanReason || !isOpenAI(from.ID),
		Limit:       Limit{Context: float64(from.ContextWindow), Output: float64(from.DefaultMaxTokens)},
		Modalities:  Modalities{Input: []string{"text"}, Output: []string{"text"}},
		Status:      Active,
	}
	if from.SupportsImages {
		m.Modalities.Input = append(m.Modalities.Input, "image")
		if strings.Contains(from.ID, "claude") || strings.Contains(from.ID, "gemini") || strings.Contains(from.ID, "gpt-5") {
			m.Modalities.Input = append(m.Modalities.Input, "pdf")
		}
	}
	if !v.Subscription {
		m.Cost.Rates = Rates{Input: from.CostPer1MIn, Output: from.CostPer1MOut, CacheWrite: from.CostPer1MInCached, CacheRead: from.CostPer1MOutCached}
		m.Cost.clean()
		m.Cost.CacheRead, m.Cost.CacheWrite = cachePrices(m.Cost.Rates)
	}
	if v.NativeProtocol {
		m.Override.NPM = native(v, from.ID)
	}
	return m
}

// native is the package for a model of a gateway that passes on the protocol of its maker.
func native(v Vendor, id string) string {
	claude := strings.Contains(id, "claude")
	switch {
	case v.NPM == Vertex && claude:
		return VertexAnthropic
	case v.NPM == Vertex:
		return ""
	case claude, v.ID == "opencode-go" && strings.HasPrefix(id, "minimax"):
		return Anthropic
	case strings.HasPrefix(id, "gpt-5"):
		return OpenAI
	case strings.HasPrefix(id, "gemini"):
		return Google
	}
	return ""
}

// familyOf names the families by which small models are found, and the rest by their maker.
func familyOf(id string) string {
	has := func(part string) bool { return strings.Contains(id, part) }
	switch {
	case has("claude"):
		for _, f := range []string{"haiku", "sonnet", "opus"} {
			if has(f) {
				return "claude-" + f
			}
		}
		return "claude"
	case has("gemini") && has("flash-lite"):
		return "gemini-flash-lite"
	case has("gemini") && has("flash"):
		return "gemini-flash"
	case has("gemini"):
		return "gemini"
	case has("gpt-oss"):
		return "gpt-oss"
	case has("gpt-") && has("codex"):
		return "gpt-codex"
	case has("gpt-") && has("nano"):
		return "gpt-nano"
	case has("gpt-") && has("mini"):
		return "gpt-mini"
	case has("gpt-"):
		return "gpt"
	}
	for _, f := range []string{"grok", "glm", "kimi", "qwen", "deepseek", "minimax", "llama", "mistral", "gemma", "nova"} {
		if strings.Contains(strings.ToLower(id), f) {
			return f
		}
	}
	return ""
}

// isOpenAI reports whether an id is one of OpenAI's reasoning models, which take no
// temperature.
func isOpenAI(id string) bool {
	id = id[strings.LastIndex(id, "/")+1:]
	return strings.HasPrefix(id, "gpt-5") || strings.HasPrefix(id, "codex") ||
		len(id) >= 2 && id[0] == 'o' && id[1] >= '1' && id[1] <= '9'
}

// dateIn returns the date in an id, as 20251001 or 2025-10-01, "" if there is none.
func dateIn(id string) string {
	for i := range id {
		if !strings.HasPrefix(id[i:], "20") {
			continue
		}
		for layout, n := range map[string]int{"20060102": 8, time.DateOnly: 10} {
			if len(id) < i+n {
				continue
			}
			if t, err := time.Parse(layout, id[i:i+n]); err == nil {
				return t.Format(time.DateOnly)
			}
		}
	}
	return ""
}
