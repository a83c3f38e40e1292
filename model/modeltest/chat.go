package modeltest

import (
	"github.com/lathe-agent/lathe/model"
)

// chatStream speaks the chunks of Chat Completions. Thoughts travel in reasoning_content, as
// with most servers that have them; signatures and executed tools have no place here.
type chatStream struct {
	answering
	called int // calls so far
}

func (a answering) chatReason() string {
	return a.word(map[string]string{model.FinishCalls: "tool_calls", model.FinishFilter: "content_filter"})
}

func (a answering) chatUsage() js {
	u := a.usage
	return obj("prompt_tokens", u.Input, "completion_tokens", u.Output, "total_tokens", u.Input+u.Output,
		"prompt_tokens_details", obj("cached_tokens", u.CacheRead, "cache_write_tokens", u.CacheWrite, "audio_tokens", 0),
		"completion_tokens_details", obj("reasoning_tokens", u.Reasoning, "audio_tokens", 0))
}

// wantsUsage reports whether the client asked for the chunk with the usage: without that
// there is none.
func (s *chatStream) wantsUsage() bool { return s.req.wants.usage && !s.usage.None }

func (s *chatStream) head() js {
	return obj("id", s.id("chatcmpl-"), "object", "chat.completion.chunk", "created", created, "model", s.req.Prompt.Model,
		"service_tier", "default", "system_fingerprint", "fp_modeltest")
}

func (s *chatStream) chunk(delta js, reason any) {
	out := s.head().with("choices", list(obj("index", 0, "delta", delta, "logprobs", nil, "finish_reason", reason)))
	if s.wantsUsage() {
		out = out.with("usage", nil)
	}
	s.event("", out)
}

func (s *chatStream) start() {
	s.chunk(obj("role", "assistant", "content", "", "refusal", nil), nil)
}

func (s *chatStream) text(chunk string) { s.chunk(obj("content", chunk), nil) }

func (s *chatStream) reason(r Reasoning) {
	for _, c := range r.Chunks {
		s.chunk(obj("reasoning_content", c), nil)
	}
}

// calls come in turns: a piece of each, until none is left.
func (s *chatStream) calls(calls []Call) {
	first, pieces, most := s.called, make([][]string, len(calls)), 0
	s.called += len(calls)
	for i, c := range calls {
		s.chunk(obj("tool_calls", list(obj("index", first+i, "id", c.ID, "type", "function",
			"function", obj("name", c.Name, "arguments", "")))), nil)
		pieces[i] = cut(c.Args, c.Pieces)
		most = max(most, len(pieces[i]))
	}
	for k := range most {
		for i := range calls {
			if k < len(pieces[i]) {
				s.chunk(obj("tool_calls", list(obj("index", first+i, "function", obj("arguments", pieces[i][k])))), nil)
			}
		}
	}
}

func (s *chatStream) executed(e Executed) {
	for _, src := range e.Sources {
		s.source(src)
	}
}

func (s *chatStream) source(src Source) { s.chunk(obj("annotations", list(src.chat())), nil) }

func (s Source) chat() js {
	return obj("type", "url_citation", "url_citation", obj("end_index", 0, "start_index", 0, "title", s.Title, "url", s.URL))
}

func (s *chatStream) fail(f Fail) {
	body, _ := f.body(Chat)
	s.event("", body)
}

func (s *chatStream) finish() {
	s.chunk("{}", s.chatReason())
	if s.wantsUsage() {
		s.event("", s.head().with("choices", js("[]"), "usage", s.chatUsage()))
	}
	s.event("", "[DONE]")
}

// chatWhole is the response body for a request without streaming.
func (a answering) chatWhole(steps []Step) js {
	text, thought, said := "", "", false
	var calls, notes []js
	for _, s := range steps {
		switch s := s.(type) {
		case Text:
			text, said = text+s[0], true
		case Reasoning:
			thought += s.Chunks[0]
		case Call:
			calls = append(calls, obj("id", s.ID, "type", "function", "function", obj("name", s.Name, "arguments", s.Args)))
		case Executed:
			for _, src := range s.Sources {
				notes = append(notes, src.chat())
			}
		case Source:
			notes = append(notes, s.chat())
		default:
		}
	}
	message := obj("role", "assistant", "content", nil)
	if said {
		message = obj("role", "assistant", "content", text)
	}
	if thought != "" {
		message = message.with("reasoning_content", thought)
	}
	if len(calls) > 0 {
		message = message.with("tool_calls", list(calls...))
	}
	message = message.with("refusal", nil, "annotations", list(notes...))
	out := obj("id", a.id("chatcmpl-"), "object", "chat.completion", "created", created, "model", a.req.Prompt.Model,
		"choices", list(obj("index", 0, "message", message, "logprobs", nil, "finish_reason", a.chatReason())))
	if !a.usage.None {
		out = out.with("usage", a.chatUsage())
	}
	return out
}
