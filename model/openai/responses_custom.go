package openai

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// The items that are calls for us.
const (
	functionCall = "function_call"
	customCall   = "custom_tool_call"
)

// The input of a custom tool is plain text. For everyone else it is JSON like any other: the text is
// written as the one member of an object while it comes.

// nameless is the name of a call that has none: an unknown type is its own name, so that the
// error reaches the model.
func (d *responsesDecoder) nameless(kind string) string {
	if kind == functionCall || kind == customCall {
		return ""
	}
	return kind
}

func (d *responsesDecoder) appendCustom(o *output, text string) {
	piece := lathe.AppendJSONString(nil, text)
	piece = piece[1 : len(piece)-1]
	if o.input.Len() == 0 {
		piece = append(d.customHead(o), piece...)
	}
	o.input.Write(piece)
	d.emit(model.InputDelta{ID: o.id, Text: string(piece)})
}

// customHead opens the object around the text of a call.
func (d *responsesDecoder) customHead(o *output) []byte {
	return append(lathe.AppendJSONString([]byte{'{'}, or(d.freeform[o.name], "input")), ':', '"')
}

func (d *responsesDecoder) endCustom(o *output) {
	if rest := o.join.Flush(); rest != "" {
		d.append(o, rest)
	}
	tail := []byte(`"}`)
	if o.input.Len() == 0 {
		tail = append(d.customHead(o), tail...)
	}
	o.input.Write(tail)
	d.emit(model.InputDelta{ID: o.id, Text: string(tail)})
	d.emit(model.InputEnd{ID: o.id})
	d.emit(model.ToolCall{ID: o.id, Name: o.name, Input: o.input.String(), Meta: itemMeta{ItemID: o.itemID, Custom: true}.encode()})
}

// endForeign sends a call of an unknown tool under its own type: the model then gets an error,
// instead of waiting for a result that never comes.
func (d *responsesDecoder) endForeign(o *output, raw json.RawMessage) {
	o.ended = true
	d.emit(model.InputDelta{ID: o.id, Text: string(raw)})
	d.emit(model.InputEnd{ID: o.id})
	d.emit(model.ToolCall{ID: o.id, Name: o.name, Input: string(raw)})
}
