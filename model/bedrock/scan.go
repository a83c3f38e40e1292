package bedrock

import (
	"bytes"

	"github.com/lathe-agent/lathe/internal/jsonscan"
	"github.com/lathe-agent/lathe/model/wire"
)

// delta is the content of a contentBlockDelta, if it is of a streaming kind.
type delta struct {
	index int
	kind  wire.BlockKind // of the block it extends
	raw   []byte         // the string with its quotes
}

const (
	seenIndex jsonscan.Seen = 1 << iota
	seenDelta
)

// scanDelta reads a delta that extends a block and says nothing else. Its members may stand in
// any order, but each must be known: anything new is for the general path.
func scanDelta(data []byte) (d delta, ok bool) {
	c, ok := jsonscan.New(data)
	var seen jsonscan.Seen
	ok = ok && c.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "contentBlockIndex":
			d.index, ok = c.Number()
			return ok && seen.First(seenIndex)
		case "delta":
			return seen.First(seenDelta) && d.scan(&c)
		case "p": // the service pads, so that lengths tell nothing
			_, ok = c.Text()
		}
		return ok
	})
	return d, ok && seen == seenIndex|seenDelta && c.AtEnd()
}

// scan reads an object of one member.
func (d *delta) scan(c *jsonscan.Cursor) bool {
	name, ok := c.Member(true)
	if !ok {
		return false
	}
	inner := ""
	switch string(name) {
	case "text":
		d.kind = wire.TextBlock
	case "reasoningContent":
		d.kind, inner = wire.ReasoningBlock, "text"
	case "toolUse":
		d.kind, inner = wire.InputBlock, "input"
	default:
		return false
	}
	if inner != "" {
		if name, ok = c.Member(true); !ok || !bytes.Equal(name, []byte(inner)) {
			return false
		}
	}
	if d.raw, ok = c.Text(); !ok {
		return false
	}
	return (inner == "" || c.Consume('}')) && c.Consume('}')
}
