package gemini

import "github.com/lathe-agent/lathe/internal/jsonscan"

// delta is the content of a chunk with only text and usage.
type delta struct {
	text     []byte // a JSON string with its quotes
	thought  bool
	usage    wireUsage
	hasUsage bool
	seen     jsonscan.Seen
}

const (
	seenCandidates jsonscan.Seen = 1 << iota
	seenContent
	seenParts
	seenText
	seenThought
	seenUsage
	seenPrompt
	seenToolPrompt
	seenCandidateCount
	seenThoughts
	seenCached
	seenTotal
)

// scanChunk reads a chunk that adds a text to one candidate and says nothing else. Members may
// stand in any order, but each must be known: anything new is for the general path.
func scanChunk(data []byte) (d delta, ok bool) {
	c, ok := jsonscan.New(data)
	ok = ok && c.Object(func(name []byte) bool {
		switch string(name) {
		case "candidates":
			return d.seen.First(seenCandidates) && c.Consume('[') && d.candidate(&c) && c.Consume(']')
		case "usageMetadata":
			return d.seen.First(seenUsage) && d.used(&c)
		case "modelVersion", "responseId", "createTime":
			_, ok := c.Text()
			return ok
		}
		return false
	})
	return d, ok && d.seen&seenText != 0 && c.AtEnd()
}

// candidate reads one without a reason to finish.
func (d *delta) candidate(c *jsonscan.Cursor) bool {
	return c.Object(func(name []byte) bool {
		switch string(name) {
		case "content":
			return d.seen.First(seenContent) && d.content(c)
		case "index":
			_, ok := c.Number()
			return ok
		}
		return false
	})
}

func (d *delta) content(c *jsonscan.Cursor) bool {
	return c.Object(func(name []byte) bool {
		switch string(name) {
		case "parts":
			return d.seen.First(seenParts) && c.Consume('[') && d.part(c) && c.Consume(']')
		case "role":
			_, ok := c.Text()
			return ok
		}
		return false
	})
}

// part reads one without a signature.
func (d *delta) part(c *jsonscan.Cursor) bool {
	return c.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "text":
			d.text, ok = c.Text()
			return ok && d.seen.First(seenText)
		case "thought":
			d.thought = c.Literal("true")
			return (d.thought || c.Literal("false")) && d.seen.First(seenThought)
		}
		return false
	})
}

// used reads the token counts. An unknown field sends the chunk to the full decoder.
func (d *delta) used(c *jsonscan.Cursor) bool {
	d.hasUsage = true
	return c.Object(func(name []byte) bool {
		switch string(name) {
		case "promptTokenCount":
			return d.tokens(c, seenPrompt, &d.usage.Prompt)
		case "toolUsePromptTokenCount":
			return d.tokens(c, seenToolPrompt, &d.usage.ToolPrompt)
		case "candidatesTokenCount":
			return d.tokens(c, seenCandidateCount, &d.usage.Candidates)
		case "thoughtsTokenCount":
			return d.tokens(c, seenThoughts, &d.usage.Thoughts)
		case "cachedContentTokenCount":
			return d.tokens(c, seenCached, &d.usage.Cached)
		case "totalTokenCount":
			return d.tokens(c, seenTotal, &d.usage.Total)
		case "promptTokensDetails", "candidatesTokensDetails", "cacheTokensDetails", "toolUsePromptTokensDetails", "trafficType":
			return c.Skip()
		}
		return false
	})
}

func (d *delta) tokens(c *jsonscan.Cursor, bit jsonscan.Seen, to *int64) bool {
	n, ok := c.Number()
	*to = int64(n)
	return ok && d.seen.First(bit)
}
