package openai

// chatDelta is what a chunk adds, as JSON strings with their quotes; nil for nothing.
type chatDelta struct {
	reasoning, content, arguments []byte
	index                         number // of the call
	hasCall                       bool
	detail                        chatDetail
	seen                          seen
}

// chatDetail is a piece of one of OpenRouter's details that is text.
type chatDetail struct {
	text, format []byte
	index        number
	seen         seen
}

// seen marks members that may come only once: of two, the general path takes the last.
type seen uint16

func (s *seen) once(bit seen) bool {
	was := *s&bit != 0
	*s |= bit
	return !was
}

const (
	seenChoices seen = 1 << iota
	seenDelta
	seenContent
	seenReasoning
	seenReasoningContent
	seenReasoningText
	seenDetails
	seenCalls
	seenIndex
	seenFunction
	seenArguments
)

// scanChunk reads a chunk that adds to one choice and says nothing else. Members may stand in
// any order, but each must be known: anything new is for the general path.
func scanChunk(data []byte) (s chatDelta, ok bool) {
	if hasControl(data) {
		return s, false
	}
	c := cursor{b: data}
	for first := true; ; first = false {
		name, ok := c.member(first)
		if !ok {
			return s, false
		}
		if name == nil {
			return s, s.seen&seenChoices != 0 && c.end()
		}
		switch string(name) {
		case "choices":
			ok = s.seen.once(seenChoices) && c.is('[') && c.choice(&s) && c.is(']')
		case "object":
			ok = c.word(`"chat.completion.chunk"`)
		case "usage", "error":
			ok = c.null()
		case "id", "created", "model", "system_fingerprint", "service_tier", "obfuscation", "provider":
			ok = c.scalar()
		default:
			ok = false
		}
		if !ok {
			return s, false
		}
	}
}

func (c *cursor) choice(s *chatDelta) bool {
	for first := true; ; first = false {
		name, ok := c.member(first)
		if !ok || name == nil {
			return ok
		}
		switch string(name) {
		case "delta":
			ok = s.seen.once(seenDelta) && c.delta(s)
		case "index":
			_, ok = c.num()
		case "finish_reason", "logprobs", "native_finish_reason", "stop_reason", "matched_stop", "token_ids":
			ok = c.null()
		case "content_filter_results":
			ok = c.is('{') && c.is('}')
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
}

func (c *cursor) delta(s *chatDelta) bool {
	for first := true; ; first = false {
		name, ok := c.member(first)
		if !ok || name == nil {
			return ok
		}
		switch string(name) {
		case "content":
			ok = s.seen.once(seenContent)
			if ok {
				s.content, ok = c.strOrNull()
			}
		case "reasoning_content":
			ok = s.seen.once(seenReasoningContent) && c.reasoning(s)
		case "reasoning":
			ok = s.seen.once(seenReasoning) && c.reasoning(s)
		case "reasoning_text":
			ok = s.seen.once(seenReasoningText) && c.reasoning(s)
		case "reasoning_details":
			ok = s.seen.once(seenDetails) && c.is('[') && c.detail(&s.detail) && c.is(']')
		case "tool_calls":
			ok = s.seen.once(seenCalls) && (c.null() || c.is('[') && c.toolCall(s) && c.is(']'))
		case "role":
			ok = c.scalar()
		case "index":
			_, ok = c.num()
		case "refusal", "function_call", "audio", "annotations":
			ok = c.null()
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
}

// reasoning reads a thought; which of two counts is not for a scanner to know.
func (c *cursor) reasoning(s *chatDelta) bool {
	words, ok := c.strOrNull()
	if len(words) > 2 {
		ok = ok && s.reasoning == nil
		s.reasoning = words
	}
	return ok
}

// detail reads a piece of text; one that is signed or encrypted is not for a scanner.
func (c *cursor) detail(d *chatDetail) bool {
	for first := true; ; first = false {
		name, ok := c.member(first)
		if !ok || name == nil {
			return ok && d.seen&seenType != 0
		}
		switch string(name) {
		case "type":
			ok = d.seen.once(seenType) && c.word(`"reasoning.text"`)
		case "text":
			if ok = d.seen.once(seenText); ok {
				d.text, ok = c.strOrNull()
			}
		case "format":
			if d.format, ok = c.str(); ok {
				ok = d.seen.once(seenItem) && plain(d.format)
			}
		case "index":
			var n int
			n, ok = c.num()
			d.index = number{int64(n), true}
			ok = ok && d.seen.once(seenOutput)
		case "signature", "id", "data", "summary":
			ok = c.null()
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
}

// toolCall reads a piece of arguments; one with an id or a name is not for a scanner.
func (c *cursor) toolCall(s *chatDelta) bool {
	s.hasCall = true
	for first := true; ; first = false {
		name, ok := c.member(first)
		if !ok || name == nil {
			return ok
		}
		switch string(name) {
		case "index":
			var n int
			n, ok = c.num()
			s.index = number{int64(n), true}
			ok = ok && s.seen.once(seenIndex)
		case "id":
			ok = c.null() || c.word(`""`)
		case "type":
			ok = c.scalar()
		case "function":
			ok = s.seen.once(seenFunction) && c.function(s)
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
}

func (c *cursor) function(s *chatDelta) bool {
	for first := true; ; first = false {
		name, ok := c.member(first)
		if !ok || name == nil {
			return ok
		}
		switch string(name) {
		case "name":
			ok = c.null() || c.word(`""`)
		case "arguments":
			if ok = s.seen.once(seenArguments); ok {
				s.arguments, ok = c.strOrNull()
			}
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
}
