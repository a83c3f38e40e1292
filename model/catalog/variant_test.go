package catalog

import (
	"encoding/json"
	"strings"
	"testing"
)

// show writes variants as one line: names, and the options of the last.
func show(vs []Variant) string {
	var names []string
	for _, v := range vs {
		names = append(names, v.Name)
	}
	if len(vs) == 0 {
		return ""
	}
	b, _ := json.Marshal(vs[len(vs)-1].Options)
	return strings.Join(names, ",") + " " + string(b)
}

func TestVariants(t *testing.T) {
	const openai = `"include":["reasoning.encrypted_content"],"reasoningEffort":"%","reasoningSummary":"auto"}`
	effort := func(v string) string { return "{" + strings.Replace(openai, "%", v, 1) }
	for _, c := range []struct{ npm, id, released, want string }{
		{OpenAI, "gpt-5", "", "minimal,low,medium,high " + effort("high")},
		{OpenAI, "gpt-5-mini-2025-08-07", "", "minimal,low,medium,high " + effort("high")},
		{OpenAI, "gpt-5.1", "", "none,low,medium,high " + effort("high")},
		{Azure, "gpt-5.2", "", "none,low,medium,high,xhigh " + effort("xhigh")},
		{Mantle, "openai.gpt-5.4", "", "none,low,medium,high,xhigh " + effort("xhigh")},
		{OpenAI, "gpt-5-codex", "", "low,medium,high " + effort("high")},
		{OpenAI, "gpt-5.1-codex-max", "", "low,medium,high,xhigh " + effort("xhigh")},
		{OpenAI, "gpt-5.2-codex", "", "low,medium,high,xhigh " + effort("xhigh")},
		{OpenAI, "gpt-5.3-codex", "", "none,low,medium,high,xhigh " + effort("xhigh")},
		{OpenAI, "gpt-5-pro", "", "high " + effort("high")},
		{OpenAI, "gpt-5.4-pro", "", "medium,high,xhigh " + effort("xhigh")},
		{OpenAI, "gpt-5.1-chat-latest", "", "medium " + effort("medium")},
		{OpenAI, "o3-deep-research", "", "medium " + effort("medium")},
		{OpenAI, "o3", "2025-04-16", "low,medium,high " + effort("high")},
		{OpenAI, "new", "2025-11-13", "none,low,medium,high " + effort("high")},
		{OpenAI, "newer", "2025-12-04", "none,low,medium,high,xhigh " + effort("xhigh")},

		{Anthropic, "claude-opus-5", "", `low,medium,high,xhigh,max {"effort":"max","thinking":{"type":"adaptive","display":"summarized"}}`},
		{Anthropic, "claude-opus-4-7", "", `low,medium,high,xhigh,max {"effort":"max","thinking":{"type":"adaptive","display":"summarized"}}`},
		{Anthropic, "claude-sonnet-4.6", "", `low,medium,high,max {"effort":"max","thinking":{"type":"adaptive"}}`},
		{Anthropic, "claude-opus-4-5-20251101", "", `low,medium,high {"effort":"high","thinking":{"type":"enabled","budgetTokens":16000}}`},
		{VertexAnthropic, "claude-sonnet-4@20250514", "", `high,max {"thinking":{"type":"enabled","budgetTokens":31999}}`},
		{Anthropic, "claude-3-7-sonnet-20250219", "", `high,max {"thinking":{"type":"enabled","budgetTokens":31999}}`},
		{Anthropic, "kimi-for-coding", "", `low,medium,high,max {"effort":"max","thinking":{"type":"adaptive"}}`},

		{Bedrock, "us.anthropic.claude-opus-4-6-v1", "", `low,medium,high,max {"reasoningConfig":{"type":"adaptive","maxReasoningEffort":"max"}}`},
		{Bedrock, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", `high,max {"reasoningConfig":{"type":"enabled","budgetTokens":31999}}`},
		{Bedrock, "amazon.nova-2-lite-v1:0", "", `low,medium,high {"reasoningConfig":{"type":"enabled","maxReasoningEffort":"high"}}`},

		{Google, "gemini-2.5-flash", "", `medium,high,max {"thinkingConfig":{"includeThoughts":true,"thinkingBudget":24576}}`},
		{Vertex, "gemini-2.5-pro", "", `medium,high,max {"thinkingConfig":{"includeThoughts":true,"thinkingBudget":32768}}`},
		{Google, "gemini-3-pro-preview", "", `low,medium,high {"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`},
		{Google, "gemini-3-flash-preview", "", `minimal,low,medium,high {"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`},
		{Google, "gemini-3-pro-image", "", `low,high {"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`},
		{Google, "gemini-exp", "", `low,high {"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`},

		{OpenRouter, "anthropic/claude-sonnet-4.5", "", `low,medium,high {"reasoning":{"effort":"high"}}`},
		{OpenRouter, "openai/gpt-5", "", `none,minimal,low,medium,high,xhigh {"reasoning":{"effort":"xhigh"}}`},
		{OpenRouter, "x-ai/grok-3-mini", "", `low,high {"reasoning":{"effort":"high"}}`},
		{Copilot, "gpt-5.2", "", "low,medium,high,xhigh " + effort("xhigh")},
		{Copilot, "claude-sonnet-4.5", "", `low,medium,high {"reasoningEffort":"high"}`},
		{Copilot, "gemini-3-pro", "", ""},
		{Compatible, "deepseek-v4-pro", "", `low,medium,high,max {"reasoningEffort":"max"}`},
		{XAI, "grok-4.5", "", `low,medium,high {"reasoningEffort":"high"}`},
		{XAI, "grok-3-mini", "", `low,high {"reasoningEffort":"high"}`},
		{Groq, "openai/gpt-oss-120b", "", `none,low,medium,high {"reasoningEffort":"high"}`},
		{Mistral, "magistral", "", `high {"reasoningEffort":"high"}`},
		{Compatible, "glm-5.2", "", `high,max {"reasoningEffort":"max"}`},
		{Compatible, "glm-4.7", "", ""},
		{Compatible, "deepseek-reasoner", "", ""},
		{Compatible, "deepseek-v3.2", "", ""},
		{Compatible, "Qwen/Qwen3-32B", "", ""},
		{Compatible, "kimi-k2", "", ""},
		{Compatible, "MiniMax-M2", "", ""},
		{Anthropic, "MiniMax-M3", "", `none,thinking {"thinking":{"type":"adaptive"}}`},
		{Compatible, "big-pickle", "", ""},
		{Cohere, "command-a", "", ""},
		{Perplexity, "sonar-reasoning", "", ""},
	} {
		m := &Model{APIID: c.id, NPM: c.npm, ReleaseDate: c.released, Reasoning: true, Limit: Limit{Output: 64000}}
		if got := show(m.Variants()); got != c.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.npm, c.id, got, c.want)
		}
		if m.Reasoning = false; len(m.Variants()) != 0 {
			t.Errorf("%s %s does not reason", c.npm, c.id)
		}
	}
}

func TestVariants_Stated(t *testing.T) {
	for _, c := range []struct{ npm, levels, want string }{
		{Compatible, `[{"type":"toggle"},{"type":"effort","values":[null,"low","max"]}]`, `none,low,max {"reasoningEffort":"max"}`},
		{Anthropic, `[{"type":"effort","values":["low","high"]}]`, `low,high {"effort":"high","thinking":{"type":"adaptive"}}`},
		{Anthropic, `[{"type":"toggle"}]`, `none,high {"effort":"high","thinking":{"type":"adaptive"}}`},
		{Google, `[{"type":"budget_tokens","min":128,"max":24576}]`, `high,max {"thinkingConfig":{"includeThoughts":true,"thinkingBudget":7999}}`},
		{OpenRouter, `[{"type":"budget_tokens"}]`, `high,max {"reasoning":{"max_tokens":7999}}`},
		{OpenRouter, `[{"type":"effort","values":[]}]`, ``},
		{Groq, `[{"type":"other"}]`, `none,low,medium,high {"reasoningEffort":"high"}`},
	} {
		m := &Model{APIID: "m", NPM: c.npm, Reasoning: true, Limit: Limit{Output: 8000}}
		if err := json.Unmarshal([]byte(c.levels), &m.Levels); err != nil {
			t.Fatal(err)
		}
		if got := show(m.Variants()); got != c.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.npm, c.levels, got, c.want)
		}
	}
}

func TestVariant(t *testing.T) {
	m := &Model{APIID: "x", NPM: Compatible, Reasoning: true, ConfigVariants: map[string]Options{"high": {"a": json.RawMessage("1")}}}
	if o, ok := m.Variant("high"); !ok || string(o["a"]) != "1" || string(o["reasoningEffort"]) != `"high"` {
		t.Errorf("%v %v", o, ok)
	}
	for name, want := range map[string]bool{"": true, "default": true, "none such": false} {
		if o, ok := m.Variant(name); ok != want || o != nil {
			t.Errorf("%q: %v %v", name, o, ok)
		}
	}
}
