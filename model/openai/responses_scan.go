package openai

const (
	seenType seen = 1 << iota
	seenItem
	seenOutput
	seenPart
	seenText
)

// scanResponses reads one of the deltas that stream. Members may stand in any order, but each
// must be known: anything new is for the general path.
func scanResponses(data []byte) (g growth, ok bool) {
	if hasControl(data) {
		return g, false
	}
	c := cursor{b: data}
	var once seen
	for first := true; ; first = false {
		name, ok := c.member(first)
		if !ok {
			return g, false
		}
		if name == nil {
			return g, g.kind != "" && c.end()
		}
		switch string(name) {
		case "type":
			g.kind = c.deltaKind()
			ok = g.kind != "" && once.once(seenType)
		case "delta":
			g.delta, ok = c.str()
			ok = ok && once.once(seenText)
		case "item_id":
			var id []byte
			if id, ok = c.str(); ok {
				ok = once.once(seenItem) && plain(id)
				g.item = id[1 : len(id)-1]
			}
		case "output_index":
			var n int
			n, ok = c.num()
			g.index = number{int64(n), true}
			ok = ok && once.once(seenOutput)
		case "content_index", "summary_index":
			g.part, ok = c.num()
			ok = ok && once.once(seenPart)
		case "sequence_number":
			_, ok = c.num()
		case "obfuscation":
			_, ok = c.str()
		case "logprobs":
			ok = c.is('[') && c.is(']')
		default:
			ok = false
		}
		if !ok {
			return g, false
		}
	}
}

// deltaKind steps over the name of an event that streams, and returns it.
func (c *cursor) deltaKind() string {
	name, _ := c.str()
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

// plain reports whether a string has no escapes and no bytes to mend.
func plain(s []byte) bool {
	for _, c := range s {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}
