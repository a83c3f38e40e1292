package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/wiretest"
)

const secret = "sk-very-secret-0123456789"

// protocols are both, as clients of a server.
var protocols = map[string]func(e model.Endpoint, d Dialect) model.Model{
	"chat":      func(e model.Endpoint, d Dialect) model.Model { return NewChat(e, wiretest.IDs(), d) },
	"responses": func(e model.Endpoint, d Dialect) model.Model { return NewResponses(e, wiretest.IDs(), d) },
}

// endpoint reaches a server of a test, over connections of its own.
func endpoint(url string, client *http.Client) model.Endpoint {
	return model.Endpoint{Provider: "test", BaseURL: url + "/v1", Header: map[string]string{"Authorization": "Bearer " + secret}, Client: client}
}

func collect(ctx context.Context, m model.Model, r model.Request) ([]model.Event, error) {
	return wiretest.Collect(m.Stream(ctx, r))
}

// serve starts a server that answers with a function.
func serve(t *testing.T, f http.HandlerFunc) (model.Endpoint, *httptest.Server) {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return endpoint(s.URL, s.Client()), s
}

// TestClient_Script plays one script to both protocols: a server that speaks them
// takes the requests, and the answers say the same.
func TestClient_Script(t *testing.T) {
	script := func() modeltest.Script {
		return modeltest.Script{
			{
				modeltest.Reasoning{Chunks: []string{"I ", "think."}, Signature: "sig"},
				modeltest.Text{"Hel", "lo \xed\xa0\xbd", "\xed\xb8\x80"},
				modeltest.Parallel{{ID: "call_1", Name: "bash", Args: `{"command":"ls"}`, Pieces: 5}, {ID: "call_2", Name: "now", Args: `{}`}},
				modeltest.Usage{Input: 100, CacheRead: 30, Output: 20, Reasoning: 5},
				modeltest.Finish(model.FinishCalls),
			},
			{modeltest.Text{"Fine."}, modeltest.Source{URL: "https://a", Title: "A"}, modeltest.Finish(model.FinishLength)},
			{modeltest.Text{"No"}, modeltest.Fail{Type: "server_error", Message: "Oops"}},
			{modeltest.Text{"Half"}, modeltest.Cut{How: modeltest.Clean}},
			{modeltest.Text{"Half"}, modeltest.Cut{How: modeltest.Reset}},
			{modeltest.Status{Code: 429, Header: map[string]string{"Retry-After": "3"}}},
		}
	}
	want := [][]string{
		{`reasoning * + "I think."`, `text * + "Hello 😀"`, `call call_1 bash {"command":"ls"}`, "call call_2 now {}", "used in=100 read=30 write=0 out=20 reasoning=5 total=120", "finish tool-calls"},
		{`text * + "Fine."`, "source https://a A", "used in=", "finish length"},
		{`text * + "No"`, "error unavailable: Oops"},
		{`text * + "Half"`, "error unavailable: the answer ended early"},
		{`text * + "Half"`, "error unavailable:"},
		{"error limited:"},
	}
	for name, client := range protocols {
		t.Run(name, func(t *testing.T) {
			s := modeltest.Start(t, script())
			m := client(endpoint(s.URL, s.Client), Dialect{Reasoning: "reasoning_content", Cache: "content"})
			for i, lines := range want {
				r := richRequest(encryptedMeta, model.Target{})
				r.Messages[0].Content = r.Messages[0].Content[:7] // the server knows no audio
				events, err := collect(t.Context(), m, r)
				if shape := wiretest.CheckShape(events, err); shape != nil {
					t.Errorf("answer %d: %v", i, shape)
				}
				checkLines(t, fmt.Sprintf("answer %d", i), show(events, err), lines)
				if p := s.Last().Problem; p != "" {
					t.Errorf("the server refuses: %s", p)
				}
				if !s.Last().HasKey(secret) {
					t.Error("the key is missing")
				}
			}
		})
	}
}

// checkLines looks for lines in their order; "*" stands for an id.
func checkLines(t *testing.T, what, got string, want []string) {
	t.Helper()
	rest := strings.Split(got, "\n")
	for _, w := range want {
		i := 0
		for ; i < len(rest); i++ {
			if head, tail, any := strings.Cut(w, "*"); strings.HasPrefix(rest[i], head) && (!any || strings.Contains(rest[i], tail)) {
				break
			}
		}
		if i == len(rest) {
			t.Errorf("%s: no %q in:\n%s", what, w, got)
			return
		}
		rest = rest[i+1:]
	}
}

// TestClient_NoStream asks servers that answer in one piece.
func TestClient_NoStream(t *testing.T) {
	for name, client := range protocols {
		t.Run(name, func(t *testing.T) {
			e, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"id":"x","model":"m","status":"completed","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"Hi"}]}]}`)
			})
			events, err := collect(t.Context(), client(e, Dialect{}), model.Request{})
			checkLines(t, name, show(events, err), []string{"start x m", `text * + "Hi"`, "finish stop"})
		})
	}
}

// TestClient_Path has where requests go, at Azure and elsewhere.
func TestClient_Path(t *testing.T) {
	for _, c := range []struct {
		protocol string
		dialect  Dialect
		want     string
	}{
		{"chat", Dialect{}, "/v1/chat/completions"},
		{"responses", Dialect{}, "/v1/responses"},
		{"chat", Dialect{Azure: Azure{Version: "2024-10-21", Deployments: true}}, "/v1/deployments/my%20model%2F1/chat/completions?api-version=2024-10-21"},
		{"responses", Dialect{Azure: Azure{Version: "preview"}}, "/v1/responses?api-version=preview"},
	} {
		var got, key string
		e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			got, key = r.URL.RequestURI(), r.Header.Get("Api-Key")
			w.WriteHeader(http.StatusUnauthorized)
		})
		e.Header = map[string]string{"api-key": secret}
		_, err := collect(t.Context(), protocols[c.protocol](e, c.dialect), model.Request{Model: "my model/1"})
		if got != c.want || key != secret || lathe.CodeOf(err) != lathe.Unauthorized {
			t.Errorf("%s, key %q, %v; want %s", got, key, err, c.want)
		}
	}
}

// TestClient_Refusals has the error bodies of many servers.
func TestClient_Refusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		code   lathe.Code
		retry  bool
		want   string
	}{
		{"OpenAI key", 401, `{"error":{"message":"Incorrect API key provided: ` + secret + `.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, lathe.Unauthorized, false, "Incorrect API key provided: "},
		{"OpenAI context", 400, `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`, lathe.Overflow, false, "Your input exceeds"},
		{"OpenAI quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, lathe.Unauthorized, false, "You exceeded"},
		{"OpenAI limit", 429, `{"error":{"message":"Rate limit reached for gpt-5: too many tokens","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, lathe.Limited, true, "Rate limit reached"},
		{"OpenAI server", 500, `{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`, lathe.Unavailable, true, "The server had an error"},
		{"OpenAI parameter", 400, `{"error":{"message":"Unknown parameter: 'x'.","type":"invalid_request_error","param":"x","code":"unknown_parameter"}}`, lathe.Invalid, false, "Unknown parameter: 'x'."},
		{"Azure key", 401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, lathe.Unauthorized, false, "Access denied"},
		{"Azure filter", 400, `{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, lathe.Refused, false, "The response was filtered"},
		{"Azure deployment", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, lathe.NotFound, false, "The API deployment"},
		{"OpenRouter", 402, `{"error":{"message":"Insufficient credits","code":402},"user_id":"u"}`, lathe.Invalid, false, "Insufficient credits"},
		{"OpenRouter upstream", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 5 tokens > 4 maximum\"}}","provider_name":"Anthropic"}}}`, lathe.Overflow, false, "Provider returned error: prompt is too long"},
		{"Groq", 413, `{"error":{"message":"Request too large for model","type":"tokens","code":"rate_limit_exceeded"}}`, lathe.Overflow, false, "Request too large"},
		{"Groq tools", 400, `{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<x>"}}`, lathe.Invalid, false, "Failed to call"},
		{"Ollama", 404, `{"error":"model 'x' not found"}`, lathe.NotFound, false, "model 'x' not found"},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000.","type":"BadRequestError","param":null,"code":400}`, lathe.Overflow, false, "This model's maximum"},
		{"llama.cpp", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, lathe.Unavailable, true, "Loading model"},
		{"Gemini", 429, `[{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}]`, lathe.Limited, true, "Quota exceeded"},
		{"FastAPI", 422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, lathe.Invalid, false, "field required"},
		{"Mistral", 401, `{"message":"Unauthorized","request_id":"r"}`, lathe.Unauthorized, false, "Unauthorized"},
		{"a gateway", 403, `<!DOCTYPE html><html></html>`, lathe.Unauthorized, false, "Forbidden: a gateway"},
		{"nothing", 503, ``, lathe.Unavailable, true, "Service Unavailable"},
		{"text", 502, `upstream connect error`, lathe.Unavailable, true, "upstream connect error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", "req_1")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			for _, client := range protocols {
				_, err := collect(t.Context(), client(e, Dialect{}), model.Request{})
				var known *lathe.Error
				if !errors.As(err, &known) || known.Code != c.code || !strings.HasPrefix(known.Message, c.want) {
					t.Fatalf("%v (%s), want %s: %s", err, lathe.CodeOf(err), c.code, c.want)
				}
				if api, ok := known.Fault.(*lathe.APIFault); ok && (api.Retryable != c.retry || api.StatusCode != c.status || !strings.Contains(string(api.ResponseHeaders), "req_1")) {
					t.Errorf("%+v", api)
				}
				if all := fmt.Sprintf("%+v %+v", known, known.Fault); strings.Contains(all, secret) {
					t.Errorf("the key is in the error: %s", all)
				}
			}
		})
	}
}

// TestClient_Leave breaks out of a stream: the server notices, and nothing is left running.
func TestClient_Leave(t *testing.T) {
	for name, client := range protocols {
		t.Run(name, func(t *testing.T) {
			left := make(chan struct{})
			e, s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, sseBody(`{"id":"c","choices":[{"delta":{"content":"Hi"}}]}`, created))
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				close(left)
			})
			before := runtime.NumGoroutine()
			for range client(e, Dialect{}).Stream(t.Context(), model.Request{}) {
				break
			}
			select {
			case <-left:
			case <-time.After(10 * time.Second):
				t.Fatal("the connection is still open")
			}
			s.Client().CloseIdleConnections()
			for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
				if time.Now().After(deadline) {
					buf := make([]byte, 1<<20)
					t.Fatalf("goroutines are left: %s", buf[:runtime.Stack(buf, true)])
				}
			}
		})
	}
}

// TestClient_Cancel ends the context in the middle of a stream.
func TestClient_Cancel(t *testing.T) {
	for name, client := range protocols {
		t.Run(name, func(t *testing.T) {
			e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, sseBody(`{"id":"c","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`, created))
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var err error
			for ev, failed := range client(e, Dialect{}).Stream(ctx, model.Request{}) {
				if _, ok := ev.(model.Finish); ok {
					t.Error("it finished")
				}
				cancel()
				err = failed
			}
			if lathe.CodeOf(err) != lathe.Canceled {
				t.Error(err)
			}
		})
	}
}

// TestClient_Large reads events of many megabytes, and refuses those beyond the limit.
func TestClient_Large(t *testing.T) {
	for _, c := range []struct {
		size int
		ok   bool
	}{{20 << 20, true}, {65 << 20, false}} {
		body := io.MultiReader(strings.NewReader(`data: {"id":"c","choices":[{"delta":{"content":"`), io.LimitReader(letters{}, int64(c.size)), strings.NewReader(`"},"finish_reason":"stop"}]}`+"\n\n"))
		events, err := drain(chatForTest(), body)
		if (err == nil) != c.ok {
			t.Errorf("%d bytes: %v", c.size, err)
		}
		if c.ok && len(events[2].(model.TextDelta).Text) != c.size {
			t.Error("a part of the text is missing")
		}
	}
}

// letters is a text without an end.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
