package provider

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/catalog"
)

// Defaults is a request to the model without a conversation: what holds unless an agent, a
// variant or a person says otherwise. The session names the prompt cache where there are such.
func (i Info) Defaults(session string) model.Request {
	r := model.Request{Model: i.Name, MaxOutput: i.Model.MaxOutput(0), Options: i.options(session), Cache: model.CacheFive}
	suits := i.Model.Sampling()
	r.Temperature, r.TopP, r.TopK = suits.Temperature, suits.TopP, suits.TopK
	return r
}

// options are the provider's, then the model's own.
func (i Info) options(session string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	set := func(name, value string) { out[name] = json.RawMessage(value) }
	id, keyed := strings.ToLower(i.Model.APIID), false
	switch i.Model.NPM {
	case catalog.OpenAI:
		keyed = true
	case catalog.OpenRouter:
		set("usage", `{"include":true}`)
	case catalog.Google, catalog.Vertex:
		if i.Model.Reasoning && strings.Contains(id, "gemini-3") {
			set("thinkingConfig", `{"includeThoughts":true,"thinkingLevel":"high"}`)
		} else if i.Model.Reasoning {
			set("thinkingConfig", `{"includeThoughts":true}`)
		}
	case catalog.Compatible:
		if vendor := i.Provider.ID; strings.HasPrefix(vendor, "zai") || strings.HasPrefix(vendor, "zhipuai") {
			set("thinking", `{"type":"enabled","clear_thinking":false}`)
		}
	}
	if isGPT5 := strings.Contains(id, "gpt-5") && !strings.Contains(id, "chat") && !strings.Contains(id, "pro"); isGPT5 && i.Protocol == Responses {
		set("reasoningEffort", `"medium"`)
		set("reasoningSummary", `"auto"`)
	}
	if (keyed || string(i.Provider.Options["setCacheKey"]) == "true") && session != "" {
		key, _ := json.Marshal(session) // a string always can be
		out["promptCacheKey"] = key
	}
	maps.Copy(out, i.Model.Options)
	return out
}

// Target is the model as the one a history is converted for.
func (i Info) Target() model.Target {
	input := i.Model.Modalities.Input
	if input == nil {
		input = []string{} // a model that nothing is known about reads text
	}
	return model.Target{Provider: i.Provider.ID, Model: i.Model.ID, Input: input, ResultMedia: i.resultMedia}
}

// resultMedia reports which media the result of a tool may hold: few providers take any.
func (i Info) resultMedia(mime string) bool {
	switch i.Model.NPM {
	case catalog.Anthropic, catalog.VertexAnthropic, catalog.OpenAI, catalog.Mantle:
		return true
	case catalog.Azure:
		return i.Protocol == Responses
	case catalog.Bedrock, catalog.XAI:
		return model.Modality(mime) == "image"
	case catalog.Google, catalog.Vertex:
		return strings.Contains(strings.ToLower(i.Model.APIID), "gemini-3")
	}
	return false
}
