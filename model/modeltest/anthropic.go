package modeltest

import (
	"github.com/lathe-agent/lathe/model"
)

// anthropicStream speaks the events of the Messages API.
type anthropicStream struct {
	answering
	next   int    // index of the next block
	open   string // type of the open block, "" when none is
	pinged bool
}

func (a answering) anthropicReason() string {
	return a.word(map[string]string{
		model.FinishStop: "end_turn", model.FinishLength: "max_tokens",
		model.FinishCalls: "tool_use", model.FinishFilter: "refusal",
	})
}

// anthropicUsage counts input without the cache, as this provider does.
func (a answering) anthropicUsage(output int64) any {
	u := a.usage
	if u.None {
		return nil
	}
	return obj("input_tokens", u.Input-u.CacheRead-u.CacheWrite, "cache_creation_input_tokens", u.CacheWrite,
		"cache_read_input_tokens", u.CacheRead, "output_tokens", output)
}

func (a answering) anthropicMessage(content js, reason any, output int64) js {
	return obj("model", a.req.Prompt.Model, "id", a.id("msg_"), "type", "message", "role", "assistant", "content", content,
		"stop_reason", reason, "stop_sequence", nil, "usage", a.anthropicUsage(output))
}

func (s *anthropicStream) start() {
	s.event("message_start", obj("type", "message_start", "message", s.anthropicMessage("[]", nil, min(1, s.usage.Output))))
}

func (s *anthropicStream) block(kind string, content js) {
	s.close()
	s.open = kind
	s.event("content_block_start", obj("type", "content_block_start", "index", s.next, "content_block", content))
	if !s.pinged { // real streams have one about here
		s.pinged = true
		s.event("ping", obj("type", "ping"))
	}
}

func (s *anthropicStream) delta(members ...any) {
	s.event("content_block_delta", obj("type", "content_block_delta", "index", s.next, "delta", obj(members...)))
}

func (s *anthropicStream) close() {
	if s.open == "" {
		return
	}
	s.event("content_block_stop", obj("type", "content_block_stop", "index", s.next))
	s.open = ""
	s.next++
}

func (s *anthropicStream) text(chunk string) {
	if s.open != "text" {
		s.block("text", obj("type", "text", "text", ""))
	}
	s.delta("type", "text_delta", "text", chunk)
}

// reason streams a thought. One with only a signature becomes a redacted block, as the API sends it.
func (s *anthropicStream) reason(r Reasoning) {
	if len(r.Chunks) == 0 && r.Signature != "" {
		s.block("redacted_thinking", anthropicHidden(r))
		s.close()
		return
	}
	if s.open != "thinking" {
		s.block("thinking", obj("type", "thinking", "thinking", "", "signature", ""))
	}
	for _, c := range r.Chunks {
		s.delta("type", "thinking_delta", "thinking", c)
	}
	if r.Signature != "" {
		s.delta("type", "signature_delta", "signature", r.Signature)
		s.close()
	}
}

func anthropicHidden(r Reasoning) js { return obj("type", "redacted_thinking", "data", r.Signature) }

// calls come one after the other: this wire has no turns.
func (s *anthropicStream) calls(calls []Call) {
	for _, c := range calls {
		s.input("tool_use", c)
	}
}

func (s *anthropicStream) input(kind string, c Call) {
	s.block(kind, obj("type", kind, "id", c.ID, "name", c.Name, "input", js("{}")))
	s.delta("type", "input_json_delta", "partial_json", "")
	for _, piece := range cut(c.Args, c.Pieces) {
		s.delta("type", "input_json_delta", "partial_json", piece)
	}
	s.close()
}

func (s *anthropicStream) executed(e Executed) {
	s.input("server_tool_use", Call{ID: e.ID, Name: e.Name, Args: e.Args})
	s.block("result", e.anthropicResult())
	s.close()
}

// anthropicResult is the result block of a tool that the provider ran itself.
func (e Executed) anthropicResult() js {
	content := js("")
	if e.Failed != "" {
		content = obj("type", e.Name+"_tool_result_error", "error_code", e.Failed)
	} else {
		var found []js
		for _, src := range e.Sources {
			found = append(found, obj("type", e.Name+"_result", "title", src.Title, "url", src.URL,
				"encrypted_content", "c2NyaXB0ZWQ=", "page_age", nil))
		}
		content = list(found...)
	}
	return obj("type", e.Name+"_tool_result", "tool_use_id", e.ID, "content", content)
}

func (s *anthropicStream) source(src Source) {
	if s.open != "text" {
		s.block("text", obj("citations", js("[]"), "type", "text", "text", ""))
	}
	s.delta("type", "citations_delta", "citation", src.anthropic())
}

func (s Source) anthropic() js {
	return obj("type", "web_search_result_location", "cited_text", "", "url", s.URL, "title", s.Title, "encrypted_index", "c2NyaXB0ZWQ=")
}

func (s *anthropicStream) fail(f Fail) {
	body, _ := f.body(Anthropic)
	s.event("error", body)
}

func (s *anthropicStream) finish() {
	s.close()
	end := obj("stop_reason", s.anthropicReason(), "stop_sequence", nil)
	if s.answering.reason == model.FinishFilter {
		end = end.with("stop_details", obj("type", "refusal", "category", "other", "explanation", "The script says that the model declines."))
	}
	s.event("message_delta", obj("type", "message_delta", "delta", end, "usage", s.anthropicUsage(s.usage.Output)))
	s.event("message_stop", obj("type", "message_stop"))
}

// anthropicWhole is the response body for a request without streaming.
func (a answering) anthropicWhole(steps []Step) js {
	var content []js
	for _, s := range steps {
		switch s := s.(type) {
		case Text:
			content = append(content, obj("type", "text", "text", s[0]))
		case Reasoning:
			if s.Chunks[0] == "" && s.Signature != "" {
				content = append(content, anthropicHidden(s))
				continue
			}
			content = append(content, obj("type", "thinking", "thinking", s.Chunks[0], "signature", s.Signature))
		case Call:
			args, _ := object(s.Args)
			content = append(content, obj("type", "tool_use", "id", s.ID, "name", s.Name, "input", args))
		case Executed:
			args, _ := object(s.Args)
			content = append(content, obj("type", "server_tool_use", "id", s.ID, "name", s.Name, "input", args), s.anthropicResult())
		case Source:
			if n := len(content); n > 0 {
				content[n-1] = content[n-1].with("citations", list(s.anthropic()))
			}
		default:
		}
	}
	return a.anthropicMessage(list(content...), a.anthropicReason(), a.usage.Output)
}
