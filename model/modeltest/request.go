package modeltest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/lathe-agent/lathe/internal/scrub"
	"github.com/lathe-agent/lathe/model"
)

// Request is a request that the server received. Headers and query are without keys.
type Request struct {
	N        int // from 1, in the order of arrival
	Protocol Protocol
	Method   string
	Path     string
	Query    url.Values
	Header   http.Header
	Body     []byte
	Stream   bool
	// Prompt is the body in neutral words, so that requests of different wires compare equal:
	// results of tools stand in their own messages, and messages of one side that follow each
	// other are one. A Meta is a signature, as a JSON string; options are left out.
	Prompt model.Request
	// Problem is why a real provider would refuse the request; "" when it would not.
	Problem string

	wants   wants
	keys    map[[sha256.Size]byte]bool
	outcome *outcome
}

// wants lists the optional parts that the client asked for.
type wants struct {
	usage     bool // the chunk with the usage, of Chat Completions
	encrypted bool // encrypted reasoning, of Responses
	sse       bool // alt=sse, of Gemini
}

// outcome is the outcome of an answer.
type outcome struct {
	done chan struct{} // closed when the server has ended with the request
	left bool          // the client went away before; read after done
}

// HasKey reports whether the request carried that key; keys themselves are not stored.
func (r Request) HasKey(key string) bool { return r.keys[sha256.Sum256([]byte(key))] }

// Done is closed when the server has ended with the request.
func (r Request) Done() <-chan struct{} { return r.outcome.done }

// ClientLeft waits for the end of the answer and reports whether the client went away before it.
func (r Request) ClientLeft() bool {
	<-r.outcome.done
	return r.outcome.left
}

// newRequest decodes what arrived.
func newRequest(n int, h *http.Request, body []byte) Request {
	r := Request{
		N: n, Method: h.Method, Path: h.URL.Path, Query: scrub.Query(h.URL.Query()), Header: scrub.Header(h.Header),
		Body: body, keys: map[[sha256.Size]byte]bool{}, outcome: &outcome{done: make(chan struct{})},
	}
	for _, s := range scrub.Secrets(h.Header, h.URL) {
		r.keys[sha256.Sum256([]byte(s))] = true
	}
	if r.isList() {
		return r
	}
	name, action := r.route()
	if r.Protocol == "" || r.Method != http.MethodPost {
		r.Problem = fmt.Sprintf("%s %s not found", r.Method, r.Path)
		return r
	}
	if !json.Valid(body) {
		r.Problem = "the body is not valid JSON"
		return r
	}
	var err error
	switch r.Protocol {
	case Anthropic:
		err = r.readAnthropic()
		if name != "" {
			r.Prompt.Model, r.Stream = name, action == "streamRawPredict"
		}
	case Chat:
		err = r.readChat()
	case Responses:
		err = r.readResponses()
	case Gemini:
		r.Prompt.Model, r.Stream, r.wants.sse = name, action == "streamGenerateContent", r.Query.Get("alt") == "sse"
		err = r.readGemini()
	case Bedrock:
		r.Prompt.Model, r.Stream = name, action == "converse-stream"
		err = r.readBedrock()
	}
	if err != nil {
		r.Problem = err.Error()
		return r
	}
	r.Problem = problem(r.Protocol, r.Prompt)
	return r
}

// isList reports whether the request asks which models there are.
func (r Request) isList() bool {
	return r.Method == http.MethodGet && path.Base(r.Path) == "models"
}

// route finds the protocol by the end of the path; some have the model and what to do there.
func (r *Request) route() (name, action string) {
	rest, last := path.Split(r.Path)
	switch {
	case strings.HasSuffix(r.Path, "/chat/completions"):
		r.Protocol = Chat
	case last == "messages":
		r.Protocol = Anthropic
	case last == "responses":
		r.Protocol = Responses
	case last == "converse" || last == "converse-stream":
		r.Protocol = Bedrock
		return path.Base(rest), last
	default:
		name, action, _ = strings.Cut(last, ":")
		switch action {
		case "generateContent", "streamGenerateContent":
			r.Protocol = Gemini
			return name, action
		case "rawPredict", "streamRawPredict":
			r.Protocol = Anthropic
			return name, action
		}
	}
	return "", ""
}

// problem finds what providers refuse: the rules that all of them share, and the stricter ones.
func problem(p Protocol, r model.Request) string {
	switch {
	case r.Model == "":
		return "model: this field is required"
	case len(r.Messages) == 0:
		return "messages: at least one message is required"
	case p == Anthropic && r.MaxOutput <= 0:
		return "max_tokens: this field is required"
	}
	waiting, used := map[string]bool{}, map[string]bool{} // calls of the message before, and of all
	for i, m := range r.Messages {
		if len(m.Content) == 0 {
			return fmt.Sprintf("messages.%d: the content must not be empty", i)
		}
		if m.Role != model.ToolRole && len(waiting) > 0 {
			return fmt.Sprintf("messages.%d: %d calls before it have no result", i, len(waiting))
		}
		for _, c := range m.Content {
			switch c := c.(type) {
			case model.TextContent:
				if p == Anthropic && strings.TrimSpace(c.Text) == "" && m.Role == model.UserRole {
					return fmt.Sprintf("messages.%d: text content blocks must not be empty", i)
				}
			case model.CallContent:
				if waiting[c.ID] || p == Anthropic && used[c.ID] {
					return fmt.Sprintf("messages.%d: two calls have the id %q", i, c.ID)
				}
				if used[c.ID] = true; !c.Executed {
					waiting[c.ID] = true
				}
			case model.ResultContent:
				if !c.Executed && !waiting[c.ID] {
					return fmt.Sprintf("messages.%d: the result %q has no call before it", i, c.ID)
				}
				delete(waiting, c.ID)
			case model.ReasoningContent, model.FileContent:
			}
		}
	}
	if len(waiting) > 0 {
		return fmt.Sprintf("messages: %d calls have no result", len(waiting))
	}
	return ""
}

// String shows the prompt as lines, for goldens and for people.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s\n", r.Prompt.Model)
	for _, s := range r.Prompt.System {
		fmt.Fprintf(&b, "system %q\n", s)
	}
	for _, t := range r.Prompt.Tools {
		fmt.Fprintf(&b, "tool %s\n", t.Name)
	}
	for _, m := range r.Prompt.Messages {
		for _, c := range m.Content {
			fmt.Fprintf(&b, "%s %s\n", m.Role, line(c))
		}
	}
	return b.String()
}

// line prints a content in one line, for readable differences in tests.
func line(c model.Content) string {
	switch c := c.(type) {
	case model.TextContent:
		return fmt.Sprintf("text %q", c.Text)
	case model.ReasoningContent:
		return fmt.Sprintf("reasoning %q", c.Text)
	case model.FileContent:
		return fmt.Sprintf("file %s %s %d", c.Mime, c.Name+c.URL, len(c.Data))
	case model.CallContent:
		return fmt.Sprintf("call %s %s %s", c.ID, c.Name, c.Input)
	case model.ResultContent:
		word := "result"
		if c.Failed {
			word = "failed"
		}
		return fmt.Sprintf("%s %s %q and %d files", word, c.ID, c.Text, len(c.Media))
	}
	return ""
}
