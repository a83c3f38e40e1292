package modeltest

import (
	"github.com/lathe-agent/lathe/model"
)

// geminiStream speaks the chunks of generateContent: whole parts, and what was used in each.
type geminiStream struct {
	answering
	started   bool   // of the array that streams without alt=sse are
	signature string // waits for a part to sit on
	malformed bool   // a call's arguments were no object, which this wire cannot say
	ground    grounding
}

// grounding is the result of a search, sent at the end.
type grounding struct {
	queries []js
	chunks  []js
}

func (g *grounding) add(e Executed) {
	if q := e.query(); q != "" {
		g.queries = append(g.queries, js(appendString(nil, q)))
	}
	for _, s := range e.Sources {
		g.source(s)
	}
}

func (g *grounding) source(s Source) {
	g.chunks = append(g.chunks, obj("web", obj("uri", s.URL, "title", s.Title)))
}

func (a answering) geminiReason(malformed bool) string {
	if malformed {
		return "MALFORMED_FUNCTION_CALL"
	}
	return a.word(map[string]string{
		model.FinishStop: "STOP", model.FinishCalls: "STOP", model.FinishLength: "MAX_TOKENS", model.FinishFilter: "SAFETY",
	})
}

// geminiUsage counts candidates without thoughts, as this provider does.
func (a answering) geminiUsage(done bool) js {
	u := a.usage
	out := obj("promptTokenCount", u.Input)
	if u.CacheRead != 0 {
		out = out.with("cachedContentTokenCount", u.CacheRead)
	}
	if !done {
		return out.with("totalTokenCount", u.Input)
	}
	out = out.with("candidatesTokenCount", u.Output-u.Reasoning, "totalTokenCount", u.Input+u.Output)
	if u.Reasoning != 0 {
		out = out.with("thoughtsTokenCount", u.Reasoning)
	}
	return out
}

func (a answering) geminiChunk(candidate js, done bool) js {
	out := obj("candidates", list(candidate))
	if !a.usage.None {
		out = out.with("usageMetadata", a.geminiUsage(done))
	}
	return out.with("modelVersion", a.req.Prompt.Model, "responseId", a.id("resp_"))
}

func geminiContent(parts ...js) js { return obj("parts", list(parts...), "role", "model") }

func (s *geminiStream) send(chunk js) {
	if s.req.wants.sse {
		s.event("", chunk)
		return
	}
	sep := ",\r\n"
	if !s.started {
		s.started, sep = true, "["
	}
	s.emit(sep + string(chunk))
}

func (s *geminiStream) parts(parts ...js) {
	s.send(s.geminiChunk(obj("content", geminiContent(parts...), "index", 0), false))
}

func (s *geminiStream) start() {}

func (s *geminiStream) text(chunk string) { s.parts(obj("text", chunk)) }

func (s *geminiStream) reason(r Reasoning) {
	for _, c := range r.Chunks {
		s.parts(obj("text", c, "thought", true))
	}
	if r.Signature != "" {
		s.signature = r.Signature
	}
}

// signed puts a waiting signature on the part: it comes with what the thoughts led to.
func (s *geminiStream) signed(part js) js {
	if s.signature != "" {
		part = part.with("thoughtSignature", s.signature)
		s.signature = ""
	}
	return part
}

// calls sends tool calls in one chunk. Arguments that are not JSON end the answer as malformed, as Gemini does.
func (s *geminiStream) calls(calls []Call) {
	var parts []js
	for _, c := range calls {
		call, ok := c.gemini()
		if !ok {
			s.malformed = true
			continue
		}
		parts = append(parts, s.signed(call))
	}
	if len(parts) > 0 {
		s.parts(parts...)
	}
}

func (c Call) gemini() (js, bool) {
	args, ok := object(c.Args)
	return obj("functionCall", obj("name", c.Name, "args", args, "id", c.ID)), ok
}

func (s *geminiStream) executed(e Executed) { s.ground.add(e) }
func (s *geminiStream) source(src Source)   { s.ground.source(src) }

func (s *geminiStream) fail(f Fail) {
	body, _ := f.body(Gemini)
	s.send(body)
	s.closeArray()
}

func (s *geminiStream) finish() {
	s.send(s.geminiEnd(geminiContent(s.signed(obj("text", ""))), s.malformed, s.ground))
	s.closeArray()
}

func (s *geminiStream) closeArray() {
	if !s.req.wants.sse {
		s.emit("]")
	}
}

func (a answering) geminiEnd(content js, malformed bool, g grounding) js {
	candidate := obj("content", content, "finishReason", a.geminiReason(malformed), "index", 0)
	if len(g.queries)+len(g.chunks) > 0 {
		candidate = candidate.with("groundingMetadata", obj("webSearchQueries", list(g.queries...), "groundingChunks", list(g.chunks...)))
	}
	return a.geminiChunk(candidate, true)
}

// geminiWhole is the response body for a request without streaming.
func (a answering) geminiWhole(steps []Step) js {
	s := geminiStream{answering: a}
	var parts []js
	for _, step := range steps {
		switch step := step.(type) {
		case Text:
			parts = append(parts, obj("text", step[0]))
		case Reasoning:
			if step.Chunks[0] != "" {
				parts = append(parts, obj("text", step.Chunks[0], "thought", true))
			}
			if step.Signature != "" {
				s.signature = step.Signature
			}
		case Call:
			if call, ok := step.gemini(); ok {
				parts = append(parts, s.signed(call))
			} else {
				s.malformed = true
			}
		case Executed:
			s.ground.add(step)
		case Source:
			s.ground.source(step)
		default:
		}
	}
	if s.signature != "" {
		parts = append(parts, s.signed(obj("text", "")))
	}
	return a.geminiEnd(geminiContent(parts...), s.malformed, s.ground)
}
