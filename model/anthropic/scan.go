package anthropic

import (
	"bytes"

	"github.com/lathe-agent/lathe/internal/jsonscan"
	"github.com/lathe-agent/lathe/model/wire"
)

// delta is the content of a content_block_delta, if it is of a streaming kind.
type delta struct {
	index int
	kind  wire.BlockKind // of the block it extends
	raw   []byte         // the string with its quotes
}

var (
	deltaHead  = []byte(`{"type":"content_block_delta","index":`)
	deltaKinds = [...]struct {
		kind wire.BlockKind
		head string
	}{
		{wire.TextBlock, `,"delta":{"type":"text_delta","text":`},
		{wire.ReasoningBlock, `,"delta":{"type":"thinking_delta","thinking":`},
		{wire.InputBlock, `,"delta":{"type":"input_json_delta","partial_json":`},
	}
)

// scanDelta reads a delta in the one form the provider writes it. Anything else is not
// its own: the general path reads it.
func scanDelta(data []byte) (d delta, ok bool) {
	rest, ok := bytes.CutPrefix(data, deltaHead)
	if !ok {
		return d, false
	}
	c, ok := jsonscan.New(rest)
	if !ok {
		return d, false
	}
	if d.index, ok = c.Number(); !ok {
		return d, false
	}
	for _, k := range deltaKinds {
		if !c.Literal(k.head) {
			continue
		}
		d.kind = k.kind
		d.raw, ok = c.Text()
		return d, ok && c.Consume('}') && c.Consume('}') && c.AtEnd() // the provider pads
	}
	return d, false
}
