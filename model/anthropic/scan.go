package anthropic

import (
	"bytes"

	"github.com/lathe-agent/lathe/model"
)

// delta is what a content_block_delta says, if it is one of the kinds that stream.
type delta struct {
	index int
	kind  deltaKind
	raw   []byte // the string with its quotes
}

type deltaKind int

const (
	textDelta deltaKind = iota
	thinkingDelta
	inputDelta
)

var (
	deltaHead  = []byte(`{"type":"content_block_delta","index":`)
	deltaKinds = [...]struct {
		kind deltaKind
		head []byte
	}{
		{textDelta, []byte(`,"delta":{"type":"text_delta","text":`)},
		{thinkingDelta, []byte(`,"delta":{"type":"thinking_delta","thinking":`)},
		{inputDelta, []byte(`,"delta":{"type":"input_json_delta","partial_json":`)},
	}
)

// scanDelta reads a delta in the one form the provider writes it. Anything else is not
// its own: the general path reads it.
func scanDelta(data []byte) (d delta, ok bool) {
	rest, ok := bytes.CutPrefix(data, deltaHead)
	if !ok {
		return d, false
	}
	digits := 0
	for digits < len(rest) && digits < 6 && rest[digits] >= '0' && rest[digits] <= '9' {
		d.index = d.index*10 + int(rest[digits]-'0')
		digits++
	}
	if digits == 0 {
		return d, false
	}
	rest = rest[digits:]
	for _, k := range deltaKinds {
		text, found := bytes.CutPrefix(rest, k.head)
		if !found {
			continue
		}
		end := model.StringEnd(text)
		if end == 0 {
			return d, false
		}
		d.kind, d.raw = k.kind, text[:end]
		return d, closes(text[end:])
	}
	return d, false
}

// closes reports whether only the two braces and white space are left; the provider pads.
func closes(b []byte) bool {
	braces := 0
	for _, c := range b {
		switch c {
		case '}':
			braces++
		case ' ', '\t':
		default:
			return false
		}
	}
	return braces == 2
}
