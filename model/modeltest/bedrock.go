package modeltest

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/lathe-agent/lathe/model"
)

// bedrockStream speaks the events of Converse, each in a frame of Amazon's event stream.
type bedrockStream struct {
	answering
	next int    // index of the next block
	open string // kind of the open block, "" if none is
}

// frame sends a message of the stream: its headers, and JSON.
func (a answering) frame(headers []string, payload js) {
	var head []byte
	for i := 0; i+1 < len(headers); i += 2 {
		name, value := headers[i], headers[i+1]
		head = append(append(head, byte(len(name))), name...)
		head = binary.BigEndian.AppendUint16(append(head, 7), uint16(len(value)))
		head = append(head, value...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(12+len(head)+len(payload)+4))
	b = binary.BigEndian.AppendUint32(b, uint32(len(head)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, head...), payload...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	a.emit(string(b))
}

func (s *bedrockStream) send(kind string, payload js) {
	s.frame([]string{":event-type", kind, ":content-type", "application/json", ":message-type", "event"}, payload)
}

func (s *bedrockStream) start() { s.send("messageStart", obj("p", "abcdefgh", "role", "assistant")) }

func (s *bedrockStream) delta(delta js) {
	s.send("contentBlockDelta", obj("contentBlockIndex", s.next, "delta", delta, "p", "abcdefghijk"))
}

// begin makes the next delta one of a block of that kind.
func (s *bedrockStream) begin(kind string) {
	if s.open != kind {
		s.close()
		s.open = kind
	}
}

func (s *bedrockStream) close() {
	if s.open != "" {
		s.send("contentBlockStop", obj("contentBlockIndex", s.next, "p", "abc"))
		s.open = ""
		s.next++
	}
}

func (s *bedrockStream) text(chunk string) {
	s.begin("text")
	s.delta(obj("text", chunk))
}

// reason streams a thought, followed by its signature or redacted content.
func (s *bedrockStream) reason(r Reasoning) {
	s.begin("reasoning")
	for _, c := range r.Chunks {
		s.delta(obj("reasoningContent", obj("text", c)))
	}
	switch {
	case r.Signature == "":
		return
	case len(r.Chunks) == 0:
		s.delta(obj("reasoningContent", obj("redactedContent", r.Signature)))
	default:
		s.delta(obj("reasoningContent", obj("signature", r.Signature)))
	}
	s.close()
}

// calls come one after the other: this wire has no turns.
func (s *bedrockStream) calls(calls []Call) {
	for _, c := range calls {
		s.close()
		s.open = "call"
		s.send("contentBlockStart", obj("contentBlockIndex", s.next, "p", "abcd", "start", obj("toolUse", obj("name", c.Name, "toolUseId", c.ID))))
		for _, piece := range cut(c.Args, c.Pieces) {
			s.delta(obj("toolUse", obj("input", piece)))
		}
		s.close()
	}
}

// executed shows nothing: the wire has no such tools.
func (s *bedrockStream) executed(Executed) {}

func (s *bedrockStream) source(src Source) {
	s.begin("text")
	s.delta(obj("citation", src.bedrock()))
}

func (s Source) bedrock() js { return obj("title", s.Title, "location", obj("web", obj("url", s.URL))) }

func (s *bedrockStream) fail(f Fail) {
	body, _ := f.body(Bedrock)
	s.frame([]string{":exception-type", f.kind().amazon(), ":content-type", "application/json", ":message-type", "exception"}, body)
}

func (a answering) bedrockReason() string {
	return a.word(map[string]string{
		model.FinishStop: "end_turn", model.FinishLength: "max_tokens", model.FinishCalls: "tool_use", model.FinishFilter: "content_filtered",
	})
}

// bedrockUsage counts input without the cache, as this provider does.
func (a answering) bedrockUsage() js {
	u := a.usage
	out := obj("inputTokens", u.Input-u.CacheRead-u.CacheWrite, "outputTokens", u.Output, "totalTokens", u.Input+u.Output)
	if u.CacheRead != 0 || u.CacheWrite != 0 {
		out = out.with("cacheReadInputTokens", u.CacheRead, "cacheWriteInputTokens", u.CacheWrite)
	}
	return out
}

func (s *bedrockStream) finish() {
	s.close()
	s.send("messageStop", obj("p", "abcdef", "stopReason", s.bedrockReason()))
	end := obj("metrics", obj("latencyMs", 7), "p", "ab")
	if !s.usage.None {
		end = end.with("usage", s.bedrockUsage())
	}
	s.send("metadata", end)
}

// bedrockWhole is the response body for a request without streaming.
func (a answering) bedrockWhole(steps []Step) js {
	var content []js
	for _, s := range steps {
		switch s := s.(type) {
		case Text:
			content = append(content, obj("text", s[0]))
		case Reasoning:
			inner := obj("reasoningText", obj("text", s.Chunks[0], "signature", s.Signature))
			if s.Chunks[0] == "" {
				inner = obj("redactedContent", s.Signature)
			}
			content = append(content, obj("reasoningContent", inner))
		case Call:
			args, _ := object(s.Args)
			content = append(content, obj("toolUse", obj("toolUseId", s.ID, "name", s.Name, "input", args)))
		case Source:
			if n := len(content); n > 0 {
				content[n-1] = obj("citationsContent", obj("content", list(content[n-1]), "citations", list(s.bedrock())))
			}
		default:
		}
	}
	out := obj("output", obj("message", obj("role", "assistant", "content", list(content...))), "stopReason", a.bedrockReason())
	if !a.usage.None {
		out = out.with("usage", a.bedrockUsage())
	}
	return out
}

// amazon is the name of a failure there.
func (k kind) amazon() string {
	switch k.anthropic {
	case "overloaded_error":
		return "serviceUnavailableException"
	case "rate_limit_error":
		return "throttlingException"
	case "authentication_error":
		return "unrecognizedClientException"
	case "permission_error", "billing_error":
		return "accessDeniedException"
	case "not_found_error":
		return "resourceNotFoundException"
	case "timeout_error":
		return "modelTimeoutException"
	case "api_error":
		return "internalServerException"
	case "invalid_request_error", "request_too_large":
		return "validationException"
	default:
		return k.anthropic
	}
}
