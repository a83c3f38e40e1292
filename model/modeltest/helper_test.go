package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// asked is the smallest right request of each wire, streaming or not.
func asked(p modeltest.Protocol, stream bool) (path, body string) {
	flag := "false"
	if stream {
		flag = "true"
	}
	switch p {
	case modeltest.Anthropic:
		return "/v1/messages", `{"model":"m","max_tokens":100,"stream":` + flag + `,"messages":[{"role":"user","content":"hi"}]}`
	case modeltest.Chat:
		return "/v1/chat/completions", `{"model":"m","stream":` + flag + `,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`
	case modeltest.Responses:
		return "/v1/responses", `{"model":"m","stream":` + flag + `,"include":["reasoning.encrypted_content"],"input":"hi"}`
	case modeltest.Bedrock:
		action := "/converse"
		if stream {
			action = "/converse-stream"
		}
		return "/model/m" + action, `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`
	default:
		action := ":generateContent"
		if stream {
			action = ":streamGenerateContent?alt=sse"
		}
		return "/v1beta/models/m" + action, `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	}
}

// post sends a request and returns the response; its body is closed with the test.
func post(t *testing.T, s *modeltest.Server, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-secret-1")
	resp, err := s.Client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// decoded is what a client of any wire understands of an answer.
type decoded struct {
	Text, Reasoning, Signature string
	Calls                      []decodedCall
	Executed                   []string // names of tools the provider ran
	Sources                    []string
	Usage                      modeltest.Usage
	Finish                     string // the wire's own word
	Error                      string
	Ended                      bool
}

type decodedCall struct {
	ID, Name, Args string
}

// listen reads a stream with the decoder of its wire, which knows nothing of the server's.
func listen(t *testing.T, p modeltest.Protocol, body io.Reader) decoded {
	t.Helper()
	h, err := tryListen(p, body)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func tryListen(p modeltest.Protocol, body io.Reader) (decoded, error) {
	var h decoded
	if p == modeltest.Bedrock {
		return h, h.frames(body)
	}
	events, args := sse.NewReader(body), map[int]int{}
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return h, nil
		}
		if err != nil {
			return h, err
		}
		if string(e.Data) == "[DONE]" {
			h.Ended = true
			continue
		}
		var v any
		if err := json.Unmarshal(e.Data, &v); err != nil {
			return h, err
		}
		d := tree{v}
		if name := d.at("type").text(); e.Name != nil && name != string(e.Name) {
			return h, errors.New("the event " + string(e.Name) + " holds a " + name)
		}
		switch p {
		case modeltest.Anthropic:
			h.anthropic(d, args)
		case modeltest.Chat:
			h.chat(d, args)
		case modeltest.Responses:
			h.responses(d, args)
		case modeltest.Gemini:
			h.gemini(d)
		}
	}
}

// frames reads Amazon's event stream with Amazon's own code.
func (h *decoded) frames(body io.Reader) error {
	args := map[int]int{}
	for d := eventstream.NewDecoder(); ; {
		m, err := d.Decode(body, nil)
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(m.Payload, &v); err != nil {
			return err
		}
		h.bedrock(m.Headers.Get(":message-type").String(), text(m.Headers.Get(":event-type")), text(m.Headers.Get(":exception-type")), tree{v}, args)
	}
}

func text(v eventstream.Value) string {
	if v == nil {
		return ""
	}
	return v.String()
}

// tree is decoded JSON that answers nothing where nothing is.
type tree struct{ v any }

func (t tree) at(path ...any) tree {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := t.v.(map[string]any)
			t.v = m[step]
		case int:
			l, _ := t.v.([]any)
			if step >= len(l) {
				return tree{}
			}
			t.v = l[step]
		}
	}
	return t
}

func (t tree) text() string { s, _ := t.v.(string); return s }
func (t tree) int() int64   { f, _ := t.v.(float64); return int64(f) }
func (t tree) is() bool     { return t.v != nil }

func (t tree) each() (out []tree) {
	l, _ := t.v.([]any)
	for _, v := range l {
		out = append(out, tree{v})
	}
	return out
}

func (t tree) json() string {
	b, err := json.Marshal(t.v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func get(ctx context.Context, c *http.Client, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return c.Do(req)
}
