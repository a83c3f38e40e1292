package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/model"
)

// responsesStream speaks the events of the Responses API: items that open, grow and close, and
// the whole response at the end.
type responsesStream struct {
	answering
	seq  int
	done []js // the items that have closed

	open  string // type of the open item, message or reasoning; "" when none is
	said  strings.Builder
	notes []js // annotations of the open message
}

// item is the id of the n-th item.
func (a answering) item(prefix string, n int) string {
	return fmt.Sprintf("%s%04d_%d", prefix, a.req.N, n)
}

func (a answering) responsesUsage() js {
	u := a.usage
	return obj("input_tokens", u.Input, "input_tokens_details", obj("cached_tokens", u.CacheRead),
		"output_tokens", u.Output, "output_tokens_details", obj("reasoning_tokens", u.Reasoning), "total_tokens", u.Input+u.Output)
}

// response is the object around everything, as it is at that moment.
func (a answering) response(status string, output []js, failure, incomplete, usage any) js {
	return obj("id", a.id("resp_"), "object", "response", "created_at", created, "status", status, "background", false,
		"error", failure, "incomplete_details", incomplete, "instructions", nil, "max_output_tokens", nil, "model", a.req.Prompt.Model,
		"output", list(output...), "parallel_tool_calls", true, "previous_response_id", nil, "store", false, "usage", usage, "metadata", js("{}"))
}

// ended is the final response and its event.
func (a answering) ended(output []js) (string, js) {
	var usage any
	if !a.usage.None {
		usage = a.responsesUsage()
	}
	switch a.reason {
	case model.FinishStop, model.FinishCalls:
		return "response.completed", a.response("completed", output, nil, nil, usage)
	default:
		reason := a.word(map[string]string{model.FinishLength: "max_output_tokens", model.FinishFilter: "content_filter"})
		return "response.incomplete", a.response("incomplete", output, nil, obj("reason", reason), usage)
	}
}

// send sends an event; its number stands last, as in today's streams.
func (s *responsesStream) send(kind string, members ...any) {
	s.event(kind, obj("type", kind).with(members...).with("sequence_number", s.seq))
	s.seq++
}

func (s *responsesStream) start() {
	s.send("response.created", "response", s.response("in_progress", nil, nil, nil, nil))
	s.send("response.in_progress", "response", s.response("in_progress", nil, nil, nil, nil))
}

func (s *responsesStream) added(item js) {
	s.send("response.output_item.added", "item", item, "output_index", len(s.done))
}

func (s *responsesStream) settle(item js) {
	s.send("response.output_item.done", "item", item, "output_index", len(s.done))
	s.done = append(s.done, item)
}

func (s *responsesStream) begin(kind string, item js) {
	s.close("")
	s.open = kind
	s.said.Reset()
	s.notes = nil
	s.added(item)
}

// close ends the open item, if there is one.
func (s *responsesStream) close(signature string) {
	kind := s.open
	s.open = ""
	switch kind {
	case "message":
		id, part := s.item("msg_", len(s.done)), responsesPart(s.said.String(), s.notes)
		at := []any{"content_index", 0, "item_id", id}
		s.send("response.output_text.done", append(at, "logprobs", js("[]"), "output_index", len(s.done), "text", s.said.String())...)
		s.send("response.content_part.done", append(at, "output_index", len(s.done), "part", part)...)
		s.settle(responsesMessage(id, "completed", part))
	case "reasoning":
		id := s.item("rs_", len(s.done))
		if s.said.Len() > 0 {
			s.send("response.reasoning_summary_text.done", "item_id", id, "output_index", len(s.done), "summary_index", 0, "text", s.said.String())
			s.send("response.reasoning_summary_part.done", "item_id", id, "output_index", len(s.done), "summary_index", 0,
				"part", obj("type", "summary_text", "text", s.said.String()))
		}
		s.settle(s.reasoning(id, s.said.String(), signature))
	}
}

func responsesPart(text string, notes []js) js {
	return obj("type", "output_text", "annotations", list(notes...), "logprobs", js("[]"), "text", text)
}

func responsesMessage(id, status string, content ...js) js {
	return obj("id", id, "type", "message", "status", status, "content", list(content...), "role", "assistant")
}

// reasoning is an item of thoughts; what is encrypted comes only if the client asked for it.
func (a answering) reasoning(id, text, signature string) js {
	item := obj("id", id, "type", "reasoning")
	if a.req.wants.encrypted {
		item = item.with("encrypted_content", signature)
	}
	if text == "" {
		return item.with("summary", js("[]"))
	}
	return item.with("summary", list(obj("type", "summary_text", "text", text)))
}

func (s *responsesStream) message() {
	if s.open == "message" {
		return
	}
	s.close("")
	id := s.item("msg_", len(s.done))
	s.begin("message", responsesMessage(id, "in_progress"))
	s.send("response.content_part.added", "content_index", 0, "item_id", id, "output_index", len(s.done), "part", responsesPart("", nil))
}

func (s *responsesStream) text(chunk string) {
	s.message()
	s.said.WriteString(chunk)
	s.send("response.output_text.delta", "content_index", 0, "delta", chunk, "item_id", s.item("msg_", len(s.done)),
		"logprobs", js("[]"), "obfuscation", "", "output_index", len(s.done))
}

// reason streams a thought as a summary. Its item opens with the first chunk.
func (s *responsesStream) reason(r Reasoning) {
	if s.open != "reasoning" {
		s.close("")
		s.begin("reasoning", s.reasoning(s.item("rs_", len(s.done)), "", ""))
	}
	id := s.item("rs_", len(s.done))
	for _, c := range r.Chunks {
		if s.said.Len() == 0 {
			s.send("response.reasoning_summary_part.added", "item_id", id, "output_index", len(s.done), "summary_index", 0,
				"part", obj("type", "summary_text", "text", ""))
		}
		s.said.WriteString(c)
		s.send("response.reasoning_summary_text.delta", "item_id", id, "output_index", len(s.done), "summary_index", 0,
			"delta", c, "obfuscation", "")
	}
	if r.Signature != "" {
		s.close(r.Signature)
	}
}

// calls come in turns: all open, a piece of each, then all close.
func (s *responsesStream) calls(calls []Call) {
	s.close("")
	first, pieces, most := len(s.done), make([][]string, len(calls)), 0
	forms := make([]callForm, len(calls))
	for i, c := range calls {
		forms[i] = s.form(c)
		s.send("response.output_item.added", "item", forms[i].item(c, s.item("fc_", first+i), "in_progress", ""), "output_index", first+i)
		pieces[i] = cut(forms[i].input, c.Pieces)
		most = max(most, len(pieces[i]))
	}
	for k := range most {
		for i := range calls {
			if k < len(pieces[i]) {
				s.send("response."+forms[i].event+".delta", "delta", pieces[i][k], "item_id", s.item("fc_", first+i),
					"obfuscation", "", "output_index", first+i)
			}
		}
	}
	for i, c := range calls {
		id := s.item("fc_", first+i)
		s.send("response."+forms[i].event+".done", forms[i].member, forms[i].input, "item_id", id, "output_index", first+i)
		s.settle(forms[i].item(c, id, "completed", forms[i].input))
	}
}

// callForm is how a call stands on the wire: as a function with JSON, or as a custom tool with text.
type callForm struct{ kind, event, member, input string }

func (s *responsesStream) form(c Call) callForm {
	var members map[string]string
	for _, t := range s.req.Prompt.Tools {
		if t.Name == c.Name && t.Freeform != nil && json.Unmarshal([]byte(c.Args), &members) == nil && len(members) == 1 {
			for _, text := range members {
				return callForm{"custom_tool_call", "custom_tool_call_input", "input", text}
			}
		}
	}
	return callForm{"function_call", "function_call_arguments", "arguments", c.Args}
}

func (f callForm) item(c Call, id, status, input string) js {
	return obj("id", id, "type", f.kind, "status", status, f.member, input, "call_id", c.ID, "name", c.Name)
}

func (e Executed) responses(id string) js {
	var found []js
	for _, src := range e.Sources {
		found = append(found, obj("type", "url", "url", src.URL))
	}
	status := "completed"
	if e.Failed != "" {
		status = "failed"
	}
	return obj("id", id, "type", e.Name+"_call", "status", status,
		"action", obj("type", "search", "query", e.query(), "sources", list(found...)))
}

func (s *responsesStream) executed(e Executed) {
	s.close("")
	id, kind := s.item("ws_", len(s.done)), e.Name+"_call"
	s.added(obj("id", id, "type", kind, "status", "in_progress"))
	for _, state := range []string{"in_progress", "searching", "completed"} {
		s.send("response."+kind+"."+state, "output_index", len(s.done), "item_id", id)
	}
	s.settle(e.responses(id))
}

func (s Source) responses() js {
	return obj("type", "url_citation", "end_index", 0, "start_index", 0, "title", s.Title, "url", s.URL)
}

func (s *responsesStream) source(src Source) {
	s.message()
	s.send("response.output_text.annotation.added", "item_id", s.item("msg_", len(s.done)), "output_index", len(s.done),
		"content_index", 0, "annotation_index", len(s.notes), "annotation", src.responses())
	s.notes = append(s.notes, src.responses())
}

// fail sends the error twice, as the provider does.
func (s *responsesStream) fail(f Fail) {
	k := f.kind()
	k.code = cmp.Or(k.code, k.typ)
	s.send("error", "error", obj("type", k.typ, "code", k.code, "message", f.Message, "param", nil))
	s.send("response.failed", "response", s.response("failed", s.done, obj("code", k.code, "message", f.Message), nil, nil))
}

func (s *responsesStream) finish() {
	s.close("")
	kind, response := s.ended(s.done)
	s.send(kind, "response", response)
}
