package openai

import "github.com/lathe-agent/lathe/internal/jsonscan"

const (
	seenType jsonscan.Seen = 1 << iota
	seenItem
	seenOutput
	seenPart
	seenText
)

// scanResponses reads one of the deltas that stream. Members may stand in any order, but each
// must be known: anything new is for the general path.
func scanResponses(data []byte) (g growth, ok bool) {
	c, ok := jsonscan.New(data)
	var once jsonscan.Seen
	ok = ok && c.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "type":
			g.kind = deltaKind(&c)
			return g.kind != "" && once.First(seenType)
		case "delta":
			g.delta, ok = c.Text()
			return ok && once.First(seenText)
		case "item_id":
			id, ok := c.Text()
			if !ok || !once.First(seenItem) || !jsonscan.IsPlain(id) {
				return false
			}
			g.item = id[1 : len(id)-1]
			return true
		case "output_index":
			g.index, ok = scanNumber(&c)
			return ok && once.First(seenOutput)
		case "content_index", "summary_index":
			g.part, ok = c.Number()
			return ok && once.First(seenPart)
		case "sequence_number":
			_, ok = c.Number()
		case "obfuscation":
			_, ok = c.Text()
		case "logprobs":
			return c.Consume('[') && c.Consume(']')
		}
		return ok
	})
	return g, ok && g.kind != "" && c.AtEnd()
}

// deltaKind steps over the name of an event that streams, and returns it.
func deltaKind(c *jsonscan.Cursor) string {
	name, _ := c.Text()
	switch string(name) {
	case `"response.output_text.delta"`:
		return "response.output_text.delta"
	case `"response.reasoning_summary_text.delta"`:
		return "response.reasoning_summary_text.delta"
	case `"response.function_call_arguments.delta"`:
		return "response.function_call_arguments.delta"
	case `"response.reasoning_text.delta"`:
		return "response.reasoning_text.delta"
	}
	return ""
}
