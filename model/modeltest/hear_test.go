package modeltest_test

import (
	"cmp"
	"strings"

	"github.com/lathe-agent/lathe/model/modeltest"
)

func (h *decoded) anthropic(d tree, at map[int]int) {
	index := int(d.at("index").int())
	switch d.at("type").text() {
	case "message_start":
		h.anthropicUsage(d.at("message", "usage"))
	case "content_block_start":
		b := d.at("content_block")
		switch kind := b.at("type").text(); {
		case kind == "tool_use":
			at[index] = len(h.Calls)
			h.Calls = append(h.Calls, decodedCall{ID: b.at("id").text(), Name: b.at("name").text()})
		case kind == "server_tool_use":
			at[index] = -1
			h.Executed = append(h.Executed, b.at("name").text())
		case kind == "redacted_thinking":
			h.Signature = b.at("data").text()
		case strings.HasSuffix(kind, "_tool_result"):
			for _, r := range b.at("content").each() {
				h.Sources = append(h.Sources, r.at("url").text())
			}
		}
	case "content_block_delta":
		delta := d.at("delta")
		switch delta.at("type").text() {
		case "text_delta":
			h.Text += delta.at("text").text()
		case "thinking_delta":
			h.Reasoning += delta.at("thinking").text()
		case "signature_delta":
			h.Signature = delta.at("signature").text()
		case "input_json_delta":
			if i := at[index]; i >= 0 {
				h.Calls[i].Args += delta.at("partial_json").text()
			}
		case "citations_delta":
			h.Sources = append(h.Sources, delta.at("citation", "url").text())
		}
	case "message_delta":
		h.Finish = d.at("delta", "stop_reason").text()
		h.anthropicUsage(d.at("usage"))
	case "message_stop":
		h.Ended = true
	case "error":
		h.Error = d.at("error", "type").text() + ": " + d.at("error", "message").text()
	}
}

func (h *decoded) anthropicUsage(u tree) {
	read, write := u.at("cache_read_input_tokens").int(), u.at("cache_creation_input_tokens").int()
	h.Usage = modeltest.Usage{
		Input: u.at("input_tokens").int() + read + write, CacheRead: read, CacheWrite: write, Output: u.at("output_tokens").int(),
	}
}

func (h *decoded) chat(d tree, at map[int]int) {
	if d.at("error").is() {
		h.Error = cmp.Or(d.at("error", "code").text(), d.at("error", "type").text()) + ": " + d.at("error", "message").text()
		return
	}
	if u := d.at("usage"); u.is() {
		h.chatUsage(u)
	}
	choice := d.at("choices", 0)
	h.Finish = cmp.Or(choice.at("finish_reason").text(), h.Finish)
	delta := choice.at("delta")
	h.Text += delta.at("content").text()
	h.Reasoning += delta.at("reasoning_content").text()
	for _, c := range delta.at("tool_calls").each() {
		index := int(c.at("index").int())
		if c.at("id").is() {
			at[index] = len(h.Calls)
			h.Calls = append(h.Calls, decodedCall{ID: c.at("id").text(), Name: c.at("function", "name").text()})
		}
		h.Calls[at[index]].Args += c.at("function", "arguments").text()
	}
	for _, a := range delta.at("annotations").each() {
		h.Sources = append(h.Sources, a.at("url_citation", "url").text())
	}
}

func (h *decoded) chatUsage(u tree) {
	h.Usage = modeltest.Usage{
		Input: u.at("prompt_tokens").int(), Output: u.at("completion_tokens").int(),
		CacheRead:  u.at("prompt_tokens_details", "cached_tokens").int(),
		CacheWrite: u.at("prompt_tokens_details", "cache_write_tokens").int(),
		Reasoning:  u.at("completion_tokens_details", "reasoning_tokens").int(),
	}
}

func (h *decoded) responses(d tree, at map[int]int) {
	index := int(d.at("output_index").int())
	switch d.at("type").text() {
	case "response.output_item.added":
		item := d.at("item")
		switch item.at("type").text() {
		case "function_call":
			at[index] = len(h.Calls)
			h.Calls = append(h.Calls, decodedCall{ID: item.at("call_id").text(), Name: item.at("name").text()})
		case "web_search_call":
			h.Executed = append(h.Executed, "web_search")
		}
	case "response.output_text.delta":
		h.Text += d.at("delta").text()
	case "response.output_text.annotation.added":
		h.Sources = append(h.Sources, d.at("annotation", "url").text())
	case "response.reasoning_summary_text.delta":
		h.Reasoning += d.at("delta").text()
	case "response.function_call_arguments.delta":
		h.Calls[at[index]].Args += d.at("delta").text()
	case "response.output_item.done":
		item := d.at("item")
		h.Signature = cmp.Or(item.at("encrypted_content").text(), h.Signature)
		for _, s := range item.at("action", "sources").each() {
			h.Sources = append(h.Sources, s.at("url").text())
		}
	case "response.completed", "response.incomplete":
		r := d.at("response")
		h.Ended = true
		h.Finish = cmp.Or(r.at("incomplete_details", "reason").text(), r.at("status").text())
		h.responsesUsage(r.at("usage"))
	case "error":
		h.Error = d.at("error", "code").text() + ": " + d.at("error", "message").text()
	}
}

func (h *decoded) responsesUsage(u tree) {
	h.Usage = modeltest.Usage{
		Input: u.at("input_tokens").int(), Output: u.at("output_tokens").int(),
		CacheRead: u.at("input_tokens_details", "cached_tokens").int(),
		Reasoning: u.at("output_tokens_details", "reasoning_tokens").int(),
	}
}

func (h *decoded) gemini(d tree) {
	if d.at("error").is() {
		h.Error = d.at("error", "status").text() + ": " + d.at("error", "message").text()
		return
	}
	c := d.at("candidates", 0)
	for _, p := range c.at("content", "parts").each() {
		h.geminiPart(p)
	}
	if u := d.at("usageMetadata"); u.is() {
		thoughts := u.at("thoughtsTokenCount").int()
		h.Usage = modeltest.Usage{
			Input: u.at("promptTokenCount").int(), CacheRead: u.at("cachedContentTokenCount").int(),
			Output: u.at("candidatesTokenCount").int() + thoughts, Reasoning: thoughts,
		}
	}
	if reason := c.at("finishReason").text(); reason != "" {
		h.Finish, h.Ended = reason, true
	}
	for _, g := range c.at("groundingMetadata", "groundingChunks").each() {
		h.Sources = append(h.Sources, g.at("web", "uri").text())
	}
}

func (h *decoded) geminiPart(p tree) {
	h.Signature = cmp.Or(p.at("thoughtSignature").text(), h.Signature)
	switch call := p.at("functionCall"); {
	case call.is():
		h.Calls = append(h.Calls, decodedCall{ID: call.at("id").text(), Name: call.at("name").text(), Args: call.at("args").json()})
	case p.at("thought").is():
		h.Reasoning += p.at("text").text()
	default:
		h.Text += p.at("text").text()
	}
}

func (h *decoded) bedrock(message, event, exception string, d tree, at map[int]int) {
	if message == "exception" {
		h.Error = exception + ": " + d.at("message").text()
		return
	}
	index := int(d.at("contentBlockIndex").int())
	switch event {
	case "contentBlockStart":
		at[index] = len(h.Calls)
		t := d.at("start", "toolUse")
		h.Calls = append(h.Calls, decodedCall{ID: t.at("toolUseId").text(), Name: t.at("name").text()})
	case "contentBlockDelta":
		delta := d.at("delta")
		h.Text += delta.at("text").text()
		h.Reasoning += delta.at("reasoningContent", "text").text()
		h.Signature = cmp.Or(delta.at("reasoningContent", "signature").text(), delta.at("reasoningContent", "redactedContent").text(), h.Signature)
		if input := delta.at("toolUse", "input"); input.is() {
			h.Calls[at[index]].Args += input.text()
		}
		if url := delta.at("citation", "location", "web", "url"); url.is() {
			h.Sources = append(h.Sources, url.text())
		}
	case "messageStop":
		h.Finish, h.Ended = d.at("stopReason").text(), true
	case "metadata":
		h.bedrockUsage(d.at("usage"))
	}
}

func (h *decoded) bedrockUsage(u tree) {
	read, write := u.at("cacheReadInputTokens").int(), u.at("cacheWriteInputTokens").int()
	h.Usage = modeltest.Usage{Input: u.at("inputTokens").int() + read + write, CacheRead: read, CacheWrite: write, Output: u.at("outputTokens").int()}
}
