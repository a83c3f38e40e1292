package openai

import "github.com/lathe-agent/lathe/internal/jsonscan"

// chatDelta is the content of a chunk, as JSON strings with their quotes; nil for none.
type chatDelta struct {
	reasoning, content, arguments []byte
	field                         string // of the reasoning
	index                         number // of the call
	hasCall                       bool
	detail                        chatDetail
	seen                          jsonscan.Seen
}

// chatDetail is a piece of one of OpenRouter's details that is text.
type chatDetail struct {
	text, format []byte
	index        number
	seen         jsonscan.Seen
}

const (
	seenChoices jsonscan.Seen = 1 << iota
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
	c, ok := jsonscan.New(data)
	ok = ok && c.Object(func(name []byte) bool {
		switch string(name) {
		case "choices":
			return s.seen.First(seenChoices) && c.Consume('[') && s.choice(&c) && c.Consume(']')
		case "object":
			return c.Literal(`"chat.completion.chunk"`)
		case "usage", "error":
			return c.Null()
		case "id", "created", "model", "system_fingerprint", "service_tier", "obfuscation", "provider":
			return c.Scalar()
		}
		return false
	})
	return s, ok && s.seen&seenChoices != 0 && c.AtEnd()
}

func (s *chatDelta) choice(c *jsonscan.Cursor) bool {
	return c.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "delta":
			return s.seen.First(seenDelta) && s.delta(c)
		case "index":
			_, ok = c.Number()
		case "finish_reason", "logprobs", "native_finish_reason", "stop_reason", "matched_stop", "token_ids":
			return c.Null()
		case "content_filter_results":
			return c.Consume('{') && c.Consume('}')
		}
		return ok
	})
}

func (s *chatDelta) delta(c *jsonscan.Cursor) bool {
	return c.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "content":
			s.content, ok = c.TextOrNull()
			return ok && s.seen.First(seenContent)
		case "reasoning_content":
			return s.seen.First(seenReasoningContent) && s.think(c, contentField)
		case "reasoning":
			return s.seen.First(seenReasoning) && s.think(c, plainField)
		case "reasoning_text":
			return s.seen.First(seenReasoningText) && s.think(c, "")
		case "reasoning_details":
			return s.seen.First(seenDetails) && c.Consume('[') && s.detail.scan(c) && c.Consume(']')
		case "tool_calls":
			return s.seen.First(seenCalls) && (c.Null() || c.Consume('[') && s.toolCall(c) && c.Consume(']'))
		case "role":
			return c.Scalar()
		case "index":
			_, ok = c.Number()
		case "refusal", "function_call", "audio", "annotations":
			return c.Null()
		}
		return ok
	})
}

// think reads a thought; which of two counts is not for a scanner to know.
func (s *chatDelta) think(c *jsonscan.Cursor, field string) bool {
	words, ok := c.TextOrNull()
	if len(words) > 2 {
		ok = ok && s.reasoning == nil
		s.reasoning, s.field = words, field
	}
	return ok
}

// scan reads a piece of text; one that is signed or encrypted is not for a scanner.
func (d *chatDetail) scan(c *jsonscan.Cursor) bool {
	ok := c.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "type":
			return d.seen.First(seenType) && c.Literal(`"reasoning.text"`)
		case "text":
			d.text, ok = c.TextOrNull()
			return ok && d.seen.First(seenText)
		case "format":
			d.format, ok = c.Text()
			return ok && d.seen.First(seenItem) && jsonscan.IsPlain(d.format)
		case "index":
			d.index, ok = scanNumber(c)
			return ok && d.seen.First(seenOutput)
		case "signature", "id", "data", "summary":
			return c.Null()
		}
		return false
	})
	return ok && d.seen&seenType != 0
}

func scanNumber(c *jsonscan.Cursor) (number, bool) {
	n, ok := c.Number()
	return number{N: int64(n), Known: true}, ok
}

// toolCall reads a piece of arguments; one with an id or a name is not for a scanner.
func (s *chatDelta) toolCall(c *jsonscan.Cursor) bool {
	s.hasCall = true
	return c.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "index":
			s.index, ok = scanNumber(c)
			return ok && s.seen.First(seenIndex)
		case "id":
			return c.Null() || c.Literal(`""`)
		case "type":
			return c.Scalar()
		case "function":
			return s.seen.First(seenFunction) && s.function(c)
		}
		return false
	})
}

func (s *chatDelta) function(c *jsonscan.Cursor) bool {
	return c.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "name":
			return c.Null() || c.Literal(`""`)
		case "arguments":
			s.arguments, ok = c.TextOrNull()
			return ok && s.seen.First(seenArguments)
		}
		return false
	})
}
