package provider

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/openai"
	"github.com/lathe-agent/lathe/model/wire"
)

// Protocol is the API that a provider speaks.
type Protocol string

// The protocols.
const (
	Chat      Protocol = "chat"
	Responses Protocol = "responses"
	Messages  Protocol = "messages"
	Gemini    Protocol = "gemini"
	Converse  Protocol = "converse"
)

// protocolInfo is the meaning of a package name in the config.
type protocolInfo struct {
	npm      string
	protocol Protocol
	base     string // where it is unless the catalog or settings know better
	baseEnv  string // a variable that may say so
}

// protocols has a row for each package we know. One that is not here is taken for compatible
// with Chat Completions when its address is known.
var protocols = []protocolInfo{
	{catalog.Anthropic, Messages, "https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL"},
	{catalog.Azure, Responses, "", ""},
	{catalog.Bedrock, Converse, "", ""},
	{catalog.Mantle, Responses, "", ""},
	{catalog.Cerebras, Chat, "https://api.cerebras.ai/v1", ""},
	{catalog.Cohere, Chat, "https://api.cohere.ai/compatibility/v1", ""},
	{catalog.Compatible, Chat, "", ""},
	{catalog.Copilot, Chat, "https://api.githubcopilot.com", ""},
	{catalog.DeepInfra, Chat, "https://api.deepinfra.com/v1/openai", ""},
	{catalog.Gateway, Chat, "https://ai-gateway.vercel.sh/v1", ""},
	{catalog.Google, Gemini, "https://generativelanguage.googleapis.com/v1beta", ""},
	{catalog.Groq, Chat, "https://api.groq.com/openai/v1", ""},
	{catalog.Mistral, Chat, "https://api.mistral.ai/v1", ""},
	{catalog.OpenAI, Responses, "https://api.openai.com/v1", "OPENAI_BASE_URL"},
	{catalog.OpenRouter, Chat, "https://openrouter.ai/api/v1", ""},
	{catalog.Perplexity, Chat, "https://api.perplexity.ai", ""},
	{catalog.Together, Chat, "https://api.together.xyz/v1", ""},
	{catalog.Venice, Chat, "https://api.venice.ai/api/v1", ""},
	{catalog.Vercel, Chat, "https://api.v0.dev/v1", ""},
	{catalog.Vertex, Gemini, "", ""},
	{catalog.VertexAnthropic, Messages, "", ""},
	{catalog.XAI, Chat, "https://api.x.ai/v1", ""},
	{"@ai-sdk/alibaba", Chat, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", ""},
	{"@ai-sdk/deepseek", Chat, "https://api.deepseek.com", ""},
	{"@ai-sdk/fireworks", Chat, "https://api.fireworks.ai/inference/v1", ""},
	{"@ai-sdk/huggingface", Chat, "https://router.huggingface.co/v1", ""},
	{"@ai-sdk/moonshotai", Chat, "https://api.moonshot.ai/v1", ""},
	{"@aihubmix/ai-sdk-provider", Chat, "https://aihubmix.com/v1", ""},
}

// proto finds the row of a model's package, the zero value if there is none.
func proto(m *catalog.Model) protocolInfo {
	for _, s := range protocols {
		if s.npm == m.NPM {
			return s
		}
	}
	return protocolInfo{}
}

// protocol is the protocol for this model: some vendors have several.
func (c *client) protocol() Protocol {
	id := strings.ToLower(c.model.APIID)
	switch c.model.NPM {
	case catalog.Copilot:
		if strings.HasPrefix(id, "gpt-5") && !strings.HasPrefix(id, "gpt-5-mini") {
			return Responses
		}
	case catalog.Azure:
		if c.options.Completions || c.options.Deployments {
			return Chat
		}
	}
	return cmp.Or(c.proto.protocol, Chat)
}

// azureVersion is sent to the older addresses, which refuse requests without one.
const azureVersion = "2025-04-01-preview"

// wantsThoughts reports whether the model must find its thoughts in its answers, even where it
// had none: the later ones of DeepSeek refuse their own calls without. Some servers do not know
// the field, and OpenRouter has another.
func (c *client) wantsThoughts(p Protocol) bool {
	switch c.model.NPM {
	case catalog.OpenRouter, catalog.Groq, catalog.Cerebras, catalog.Copilot, catalog.Mistral:
		return false
	}
	return p == Chat && c.model.Reasoning && strings.Contains(strings.ToLower(c.model.APIID), "deepseek")
}

// refusesThoughts reports whether the server is known not to take its thoughts back in the field it sent them in: Groq
// does for some models only, Cerebras, Mistral and OpenAI for none. Others get what they sent.
func (c *client) refusesThoughts() bool {
	switch c.model.NPM {
	case catalog.Groq, catalog.Cerebras, catalog.Copilot, catalog.Mistral, catalog.OpenAI, catalog.Azure:
		return true
	}
	at, err := url.Parse(c.base)
	if err != nil {
		return false
	}
	return slices.ContainsFunc([]string{"groq.com", "cerebras.ai", "mistral.ai", "openai.com"}, func(domain string) bool {
		return at.Hostname() == domain || strings.HasSuffix(at.Hostname(), "."+domain)
	})
}

// dialect is how the server of this model differs from what most take.
func (c *client) dialect(p Protocol) openai.Dialect {
	id := strings.ToLower(c.model.APIID)
	var d openai.Dialect
	if p == Responses {
		if c.model.Reasoning {
			d.Reasoning = "encrypted"
		}
		// Its own servers know custom tools; gateways may not.
		d.Custom = (c.model.NPM == catalog.OpenAI || c.model.NPM == catalog.Azure) && strings.HasPrefix(id, "gpt-") && !strings.HasPrefix(id, "gpt-4")
	} else if c.model.Interleaved.On {
		d.Reasoning = "reasoning_content"
		if f := c.model.Interleaved.Field; f != "" {
			d.Reasoning = f
		}
	}
	d.Instructions = p == Responses && onPlan(c.provider, c.key)
	c.vendor(&d, id)
	d.ShortIDs = c.model.NPM == catalog.Mistral || wire.IsMistral(id)
	d.Noop = d.Noop || c.options.LiteLLM || strings.Contains(strings.ToLower(c.provider.ID), "litellm")
	if d.Reasoning == "" && c.wantsThoughts(p) {
		d.Reasoning = "reasoning_content"
	}
	d.NoReasoning = p == Chat && d.Reasoning == "" && c.refusesThoughts()
	if d.MaxTokens == "" && strings.HasPrefix(id, "gpt-5") {
		d.MaxTokens = "max_completion_tokens" // they accept no other, on any provider
	}
	return d
}

// vendor sets the options of a vendor.
func (c *client) vendor(d *openai.Dialect, id string) {
	switch c.model.NPM {
	case catalog.Azure:
		d.Azure = openai.Azure{Version: c.options.APIVersion, Deployments: c.options.Deployments}
		if d.Azure.Deployments && d.Azure.Version == "" {
			d.Azure.Version = azureVersion
		}
		d.MaxTokens = "max_completion_tokens"
	case catalog.OpenRouter:
		d.Effort = "reasoning"
		d.Costs = isFree(c.model)
		if strings.Contains(id, "claude") || strings.Contains(id, "gemini") {
			d.Cache = "content"
		}
	case catalog.Copilot:
		d.Noop = true
		if strings.Contains(id, "claude") {
			d.Cache = "copilot_cache_control"
		}
	case catalog.Mistral:
		d.Required, d.NoUsage = "any", true
	case catalog.Groq, catalog.Cerebras, catalog.OpenAI:
		d.MaxTokens = "max_completion_tokens"
	}
}
