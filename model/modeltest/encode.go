package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/model"
)

// created is when every scripted answer was made, so that equal scripts give equal bytes.
const created = 1768435200

// encoder says the steps of an answer on one wire.
type encoder interface {
	start()
	text(chunk string)
	reason(Reasoning)
	calls([]Call)
	executed(Executed)
	source(Source)
	fail(Fail)
	finish()
}

// answering describes the request and the whole answer before encoding starts, because some
// wires send first what a script says last.
type answering struct {
	req    Request
	usage  Usage
	reason string
	emit   func(string) // sends bytes of the body
}

// newAnswering fills in what the answer leaves out.
func newAnswering(req Request, a Answer) answering {
	out := answering{req: req, usage: Usage{Input: 10, Output: 5}, reason: model.FinishStop}
	for _, s := range a {
		switch s.(type) {
		case Call, Parallel:
			out.reason = model.FinishCalls
		default:
		}
	}
	for _, s := range a {
		switch s := s.(type) {
		case Usage:
			out.usage = s
		case Finish:
			out.reason = string(s)
		default:
		}
	}
	return out
}

// encoder returns the streaming encoder of the request's wire.
func (a answering) encoder() encoder {
	switch a.req.Protocol {
	case Anthropic:
		return &anthropicStream{answering: a}
	case Chat:
		return &chatStream{answering: a}
	case Responses:
		return &responsesStream{answering: a}
	case Bedrock:
		return &bedrockStream{answering: a}
	default:
		return &geminiStream{answering: a}
	}
}

// whole is the answer as one piece, for a request that does not stream.
func (a answering) whole(steps []Step) js {
	switch a.req.Protocol {
	case Anthropic:
		return a.anthropicWhole(steps)
	case Chat:
		return a.chatWhole(steps)
	case Responses:
		return a.responsesWhole(steps)
	case Bedrock:
		return a.bedrockWhole(steps)
	default:
		return a.geminiWhole(steps)
	}
}

func (a answering) id(prefix string) string { return fmt.Sprintf("%s%04d", prefix, a.req.N) }

// word returns the wire's word for the reason to end; what the map lacks is sent as it is.
func (a answering) word(words map[string]string) string {
	if w, ok := words[a.reason]; ok {
		return w
	}
	return a.reason
}

// event sends a server-sent event.
func (a answering) event(name string, data js) {
	if name != "" {
		name = "event: " + name + "\n"
	}
	a.emit(name + "data: " + string(data) + "\n\n")
}

// named gives calls their ids, and arguments to those that have none, so that an encoder need
// not. The same script gives the same ids on every wire.
func named(req Request, a Answer) Answer {
	out, n := make(Answer, len(a)), 0
	name := func(c Call) Call {
		n++
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", req.N, n)
		}
		if c.Args == "" {
			c.Args = "{}"
		}
		return c
	}
	for i, s := range a {
		switch s := s.(type) {
		case Call:
			out[i] = name(s)
		case Parallel:
			calls := make(Parallel, len(s))
			for k, c := range s {
				calls[k] = name(c)
			}
			out[i] = calls
		case Executed:
			c := name(Call{ID: s.ID, Args: s.Args})
			s.ID, s.Args = c.ID, c.Args
			out[i] = s
		default:
			out[i] = s
		}
	}
	return out
}

// merged joins adjacent texts and thoughts and drops other steps: the blocks of an answer that
// does not stream.
func merged(a Answer) (out []Step) {
	for _, s := range a {
		n := len(out)
		switch s := s.(type) {
		case Text:
			text := Text{strings.Join(s, "")}
			if n > 0 {
				if before, ok := out[n-1].(Text); ok {
					out[n-1] = Text{before[0] + text[0]}
					continue
				}
			}
			out = append(out, text)
		case Reasoning:
			r := Reasoning{Chunks: []string{strings.Join(s.Chunks, "")}, Signature: s.Signature}
			if n > 0 {
				if before, ok := out[n-1].(Reasoning); ok && before.Signature == "" {
					r.Chunks[0] = before.Chunks[0] + r.Chunks[0]
					out[n-1] = r
					continue
				}
			}
			out = append(out, r)
		case Parallel:
			for _, c := range s {
				out = append(out, c)
			}
		case Call, Executed, Source:
			out = append(out, s)
		default:
		}
	}
	return out
}

// object returns the arguments as JSON, and whether they are an object.
func object(args string) (js, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &m) != nil || m == nil {
		return "{}", false
	}
	return js(args), true
}

// query is the query of an executed search.
func (e Executed) query() string {
	var q struct{ Query string }
	_ = json.Unmarshal([]byte(e.Args), &q) // a script may write anything
	return q.Query
}
