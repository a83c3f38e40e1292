package openai

import (
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// toolCall is a call while it streams.
type toolCall struct {
	index number // of the wire
	id    string
	name  string
	input strings.Builder
	shape shape
	join  wire.Joiner
	extra json.RawMessage // field to send back unchanged with the call
	began bool            // its start was sent: id and name are final
	ended bool
}

// callPiece is a piece of a call; any of it may be missing.
type callPiece struct {
	index     number
	id, name  string
	arguments json.RawMessage // a text, or an object
	extra     json.RawMessage
}

// longestName is how long the name of a tool may be, in bytes; ours have 64 at most.
const longestName = 4096

// call takes in a piece of a call.
func (d *chatDecoder) call(p callPiece) error {
	c := d.find(&p)
	if c == nil {
		c = d.newCall(&p)
	}
	if len(p.extra) > 0 {
		c.extra = p.extra
	}
	if !c.began {
		if c.id == "" && !d.isTaken(p.id) {
			c.id = p.id
		}
		if strings.HasPrefix(p.name, c.name) { // some repeat the name, some send it in pieces
			c.name = p.name
		} else {
			c.name += p.name
		}
		if len(c.name) > longestName {
			return model.TooLongError("the name of a tool", longestName)
		}
	}
	return d.argue(c, p.arguments)
}

// find returns the call that a piece belongs to, nil if it begins one. Indexes are missing,
// or 0 for all; ids come once, always, late, or are new with each piece. What a server cannot
// get wrong is that a call whose arguments are whole has ended.
func (d *chatDecoder) find(p *callPiece) *toolCall {
	var c *toolCall
	for i := len(d.calls) - 1; i >= 0 && c == nil; i-- {
		if o := d.calls[i]; !p.index.Known && p.id != "" && o.id == p.id || p.index.Known && o.index == p.index {
			c = o
		}
	}
	if c == nil && !p.index.Known && len(d.calls) > 0 {
		c = d.calls[len(d.calls)-1]
	}
	if c == nil || p.name != "" && c.isFollowed(p) {
		return nil
	}
	return c
}

// isFollowed reports whether a piece with a name is of another call than c, which its index
// or its place says it belongs to.
func (c *toolCall) isFollowed(p *callPiece) bool {
	switch {
	case p.id != "" && p.id == c.id, c.shape.isOpen() && !c.ended:
		return false
	case p.id != "" && c.id != "":
		return true
	default:
		return c.shape.isWhole() && (p.id != "" || len(p.arguments) > 2)
	}
}

// newCall begins a call; calls before it that are whole have come to their end.
func (d *chatDecoder) newCall(p *callPiece) *toolCall {
	d.endThought()
	for d.settled < len(d.calls) && d.calls[d.settled].shape.isWhole() {
		d.endCall(d.calls[d.settled])
		d.settled++
	}
	c := &toolCall{index: p.index}
	d.calls = append(d.calls, c)
	return c
}

func (d *chatDecoder) isTaken(id string) bool {
	for _, c := range d.calls {
		if c.id == id {
			return true
		}
	}
	return false
}

// argue extends the arguments. After their end only white space comes, or the whole again;
// but an empty object may stand for arguments that are still to come.
func (d *chatDecoder) argue(c *toolCall, raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == `""` {
		return nil
	}
	text := string(raw)
	if raw[0] == '"' {
		var ok bool
		if text, ok = c.join.Text(raw); !ok {
			return d.brokenText()
		}
	}
	if text == "" || c.ended {
		return nil
	}
	if c.shape.isWhole() {
		if c.input.String() != "{}" || strings.TrimSpace(text) == "" {
			return nil
		}
		c.input.Reset()
		c.shape = shape{}
	}
	d.beginCall(c)
	c.input.WriteString(text)
	c.shape.add(text)
	d.emit(model.InputDelta{ID: c.id, Text: text})
	return nil
}

// beginCall sends the start of a call when its arguments begin: before that its name may grow
// and its id may come.
func (d *chatDecoder) beginCall(c *toolCall) {
	if c.began {
		return
	}
	c.began = true
	if c.id == "" {
		c.id = d.callID()
	}
	d.endText() // words that come after it are another text
	d.emit(model.InputStart{ID: c.id, Name: c.name})
}

func (d *chatDecoder) endCalls() {
	for ; d.settled < len(d.calls); d.settled++ {
		d.endCall(d.calls[d.settled])
	}
}

func (d *chatDecoder) endCall(c *toolCall) {
	c.ended = true
	if c.id == "" && c.name == "" && c.input.Len() == 0 {
		return // an empty entry, as some send before the end
	}
	d.beginCall(c)
	if rest := c.join.Flush(); rest != "" {
		c.input.WriteString(rest)
		d.emit(model.InputDelta{ID: c.id, Text: rest})
	}
	input := c.input.String()
	if strings.TrimSpace(input) == "" {
		input = "{}"
	}
	d.emit(model.InputEnd{ID: c.id})
	d.emit(model.ToolCall{ID: c.id, Name: strings.TrimSpace(c.name), Input: input, Meta: callMeta(c.extra)})
}

// callMeta keeps what the server wants to get back with the call, like Google's signatures.
func callMeta(extra json.RawMessage) model.Meta {
	if !isSet(extra) {
		return nil
	}
	b := append([]byte(`{"openai":{"extraContent":`), extra...)
	return append(b, '}', '}')
}

// shape follows JSON as it comes, in pieces, and knows when it is whole.
type shape struct {
	depth          int
	began, loose   bool // loose: neither an object nor a list, so its end is unknown
	inText, escape bool
}

func (s *shape) isWhole() bool { return s.began && !s.loose && s.depth == 0 }

func (s *shape) isOpen() bool { return s.began && !s.isWhole() }

func (s *shape) add(text string) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case s.escape:
			s.escape = false
		case s.inText:
			s.escape, s.inText = c == '\\', c != '"'
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		case c == '{' || c == '[':
			s.began = true
			s.depth++
		case !s.began:
			s.began, s.loose = true, true
		case c == '}' || c == ']':
			s.depth--
		case c == '"':
			s.inText = true
		}
	}
}
