package openai

import (
	"encoding/json"
	"math"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// chunk has the fields of a piece of an answer that are used, in all dialects. An answer that
// did not stream has the same fields, with a message instead of the delta.
type chunk struct {
	ID      string   `json:"id"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`

	Usage *chatUsage `json:"usage"`
	Groq  *struct {
		Usage *chatUsage `json:"usage"`
	} `json:"x_groq"`
	Copilot   *copilotUsage `json:"copilot_usage"`
	Citations []string      `json:"citations"`

	Type    string          `json:"type"` // of an error, as the fields below
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Code    json.RawMessage `json:"code"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type choice struct {
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"`
	Finish  string          `json:"finish_reason"`
	Usage   *chatUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type delta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningText    json.RawMessage `json:"reasoning_text"`
	ReasoningOpaque  string          `json:"reasoning_opaque"`
	ReasoningDetails []wireDetail    `json:"reasoning_details"`
	ToolCalls        []wireCall      `json:"tool_calls"`
	FunctionCall     *wireFunction   `json:"function_call"`
	Annotations      []annotation    `json:"annotations"`
}

// contentPart is a piece of content that is a list.
type contentPart struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	Thinking json.RawMessage `json:"thinking"`
}

// wireDetail is a piece of reasoning as OpenRouter gives it and wants it back.
type wireDetail struct {
	Type      string          `json:"type"`
	Text      json.RawMessage `json:"text"`
	Summary   json.RawMessage `json:"summary"`
	Data      string          `json:"data"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Format    string          `json:"format"`
	Index     number          `json:"index"`
}

type wireCall struct {
	Index    number          `json:"index"`
	ID       string          `json:"id"`
	Function wireFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type wireFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type annotation struct {
	URL      string `json:"url"`
	Title    string `json:"title"`
	Citation struct {
		URL   string `json:"url"`
		Title string `json:"title"`
	} `json:"url_citation"`
}

// citing knows the pages that an answer has cited.
type citing struct{ cited map[string]bool }

// cite sends a cited page, once.
func (c *citing) cite(out []model.Event, a annotation) []model.Event {
	url, title := or(a.URL, a.Citation.URL), or(a.Title, a.Citation.Title)
	if url == "" || c.cited[url] {
		return out
	}
	if c.cited == nil {
		c.cited = map[string]bool{}
	}
	c.cited[url] = true
	return append(out, model.Source{ID: url, URL: url, Title: title})
}

// chatUsage has every server's names for what was used.
type chatUsage struct {
	Prompt        number `json:"prompt_tokens"`
	Completion    number `json:"completion_tokens"`
	Total         number `json:"total_tokens"`
	PromptDetails struct {
		Cached        number `json:"cached_tokens"`
		Written       number `json:"cache_write_tokens"`
		Creation      number `json:"cache_creation_tokens"`
		CreationInput number `json:"cache_creation_input_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning number `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit      number   `json:"prompt_cache_hit_tokens"`
	Cached        number   `json:"cached_tokens"`
	CacheRead     number   `json:"cache_read_input_tokens"`
	CacheCreation number   `json:"cache_creation_input_tokens"`
	Reasoning     number   `json:"reasoning_tokens"`
	Cost          *float64 `json:"cost"`
}

// usage makes it ours: input with what the cache did, output with reasoning. The sums reveal
// servers that count these separately.
func (u *chatUsage) usage(costs bool) model.Usage {
	out := model.Usage{
		Input: most(u.Prompt), Output: most(u.Completion), Total: most(u.Total),
		CacheRead:  most(u.PromptDetails.Cached, u.CacheHit, u.Cached, u.CacheRead),
		CacheWrite: most(u.PromptDetails.Written, u.PromptDetails.Creation, u.PromptDetails.CreationInput, u.CacheCreation),
		Reasoning:  most(u.CompletionDetails.Reasoning, u.Reasoning),
	}
	if cached := out.CacheRead + out.CacheWrite; cached > out.Input {
		out.Input += cached
	}
	if out.Reasoning > out.Output || out.Reasoning > 0 && out.Total == most(u.Prompt)+out.Output+out.Reasoning {
		out.Output += out.Reasoning
	}
	if costs && u.Cost != nil && *u.Cost >= 0 && !math.IsInf(*u.Cost, 0) {
		billed := lathe.Dollars(*u.Cost)
		out.Billed = &billed
	}
	return out
}

// most returns the largest of some counts.
func most(counts ...number) (out int64) {
	for _, c := range counts {
		out = max(out, c.Tokens())
	}
	return out
}

// copilotUsage is GitHub's billing for an answer.
type copilotUsage struct {
	NanoAIU number `json:"total_nano_aiu"`
}

// billed returns the amount: an AIU is a cent, so that a nano-AIU is ten picodollars.
func (u *copilotUsage) billed() *lathe.Money {
	if u == nil || !u.NanoAIU.Known || u.NanoAIU.N < 0 || u.NanoAIU.N > math.MaxInt64/10 {
		return nil
	}
	m := lathe.Money(u.NanoAIU.N * 10)
	return &m
}
