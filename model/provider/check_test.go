package provider

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

const testKey = "sk-test-0123456789"

// keyServer imitates a provider: it answers the right key, and refuses others in its own words.
func keyServer(t *testing.T, header, path string, status int, body string) (base string, asked *int) {
	t.Helper()
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		if r.URL.RequestURI() != path {
			t.Errorf("asked for %s, not %s", r.URL.RequestURI(), path)
		}
		if got := strings.TrimPrefix(r.Header.Get(header), "Bearer "); got != testKey {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

// Every protocol, with the words of its vendor for each outcome.
func TestCheckKey(t *testing.T) {
	for _, c := range []struct {
		name, npm, header, path string
		status                  int
		body                    string
		want                    Verdict
	}{
		{"Anthropic", catalog.Anthropic, "X-Api-Key", "/v1/models?limit=1", 200, `{"data":[{"id":"claude-x"}]}`, Works},
		{"Anthropic, wrong key", catalog.Anthropic, "X-Api-Key", "/v1/models?limit=1", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, Refused},
		{"Anthropic, no credit", catalog.Anthropic, "X-Api-Key", "/v1/models?limit=1", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, NoCredit},
		{"OpenAI", catalog.OpenAI, "Authorization", "/v1/models", 200, `{"data":[]}`, Works},
		{"OpenAI, wrong key", catalog.OpenAI, "Authorization", "/v1/models", 401, `{"error":{"message":"Incorrect API key provided: ` + testKey + `.","type":"invalid_request_error","code":"invalid_api_key"}}`, Refused},
		{"OpenAI, no credit", catalog.OpenAI, "Authorization", "/v1/models", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, NoCredit},
		{"OpenAI, a key for some calls", catalog.OpenAI, "Authorization", "/v1/models", 403, `{"error":{"message":"You have insufficient permissions for this operation. Missing scopes: api.model.read."}}`, Unchecked},
		{"OpenAI, too many requests", catalog.OpenAI, "Authorization", "/v1/models", 429, `{"error":{"message":"Rate limit reached"}}`, Unreachable},
		{"Gemini", catalog.Google, "X-Goog-Api-Key", "/v1/models?pageSize=1", 200, `{"models":[]}`, Works},
		{"Gemini, wrong key", catalog.Google, "X-Goog-Api-Key", "/v1/models?pageSize=1", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, Refused},
		{"Gemini, no quota", catalog.Google, "X-Goog-Api-Key", "/v1/models?pageSize=1", 429, `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED"}}`, NoCredit},
		{"OpenRouter", catalog.OpenRouter, "Authorization", "/v1/key", 200, `{"data":{"label":"x","limit_remaining":null,"is_free_tier":true}}`, Works},
		{"OpenRouter, nothing left", catalog.OpenRouter, "Authorization", "/v1/key", 200, `{"data":{"limit":10,"limit_remaining":0}}`, NoCredit},
		{"OpenRouter, wrong key", catalog.OpenRouter, "Authorization", "/v1/key", 401, `{"error":{"message":"No auth credentials found","code":401}}`, Refused},
		{"Vercel, nothing left", catalog.Gateway, "Authorization", "/v1/credits", 200, `{"balance":"0","total_used":"5.1"}`, NoCredit},
		{"DeepSeek, no credit", catalog.Compatible, "Authorization", "/v1/models", 402, `{"error":{"message":"Insufficient Balance"}}`, NoCredit},
		{"compatible", catalog.Compatible, "Authorization", "/v1/models", 200, `{"data":[]}`, Works},
		{"xAI, wrong key", catalog.XAI, "Authorization", "/v1/models", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk***89."}`, Refused},
		{"Mistral, wrong key", catalog.Mistral, "Authorization", "/v1/models", 401, `{"message":"Unauthorized","request_id":"x"}`, Refused},
		{"Bedrock", catalog.Bedrock, "Authorization", "/v1/foundation-models", 200, `{"modelSummaries":[]}`, Works},
		{"Bedrock, wrong key", catalog.Bedrock, "Authorization", "/v1/foundation-models", 403, `{"Message":"Authentication failed: Please make sure your API Key is valid."}`, Refused},
		{"Azure", catalog.Azure, "Api-Key", "/v1/models?api-version=preview", 200, `{"data":[]}`, Works},
		{"no list of models", catalog.Compatible, "Authorization", "/v1/models", 404, `not found`, Unchecked},
		{"a broken server", catalog.Compatible, "Authorization", "/v1/models", 503, `<html>`, Unreachable},
		{"the page of a network", catalog.OpenAI, "Authorization", "/v1/models", 200, `<html>Log in to the network</html>`, Unreachable},
		{"nothing", catalog.OpenAI, "Authorization", "/v1/models", 200, ``, Unreachable},
		{"a redirect", catalog.Compatible, "Authorization", "/v1/models", 302, ``, Unreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, asked := keyServer(t, c.header, c.path, c.status, c.body)
			p := newCatalog(t, `{"acme":{"name":"Acme","npm":"`+c.npm+`","options":{"baseURL":"`+base+`","apiKey":"another"},"models":{"m":{}}}}`).Provider("acme")
			got := CheckKey(t.Context(), p, auth.Key{Key: auth.NewSecret(testKey)}, Deps{})
			if got.Verdict != c.want || strings.Contains(got.Detail, testKey) || (c.want != Works && got.Detail == "") {
				t.Errorf("%+v after %d requests", got, *asked)
			}
			wrong := CheckKey(t.Context(), p, auth.Key{Key: auth.NewSecret("sk-wrong")}, Deps{})
			if wrong.Verdict != Refused {
				t.Errorf("a wrong key: %+v", wrong)
			}
		})
	}
}

// A server that lists its models to anyone has not looked at the key.
func TestCheckKey_PublicList(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":[]}`)) }))
	defer s.Close()
	p := newCatalog(t, `{"acme":{"name":"Acme","npm":"`+catalog.Compatible+`","options":{"baseURL":"`+s.URL+`"},"models":{"m":{}}}}`).Provider("acme")
	if got := CheckKey(t.Context(), p, auth.Key{Key: auth.NewSecret(testKey)}, Deps{}); got.Verdict != Unchecked || !strings.Contains(got.Detail, "without a key") {
		t.Errorf("%+v", got)
	}
}

func TestCheckKey_NoNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	_ = l.Close() // nobody listens there now
	soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	for _, c := range []struct {
		ctx        context.Context
		base, want string
	}{{t.Context(), "http://" + l.Addr().String(), "cannot be reached"}, {soon, silent.URL, "did not answer in time"}} {
		p := newCatalog(t, `{"acme":{"npm":"`+catalog.OpenAI+`","options":{"baseURL":"`+c.base+`"},"models":{"m":{}}}}`).Provider("acme")
		if got := CheckKey(c.ctx, p, auth.Key{Key: auth.NewSecret(testKey)}, Deps{}); got.Verdict != Unreachable || !strings.Contains(got.Detail, c.want) {
			t.Errorf("%s: %+v", c.want, got)
		}
	}
	if text := unreachable("x.test", &net.DNSError{Name: "x.test"}); !strings.Contains(text, "was not found; is there a network?") {
		t.Error(text)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add(401, []byte(`{"error":{"message":"no"}}`))
	f.Add(200, []byte(`{"balance":"0"}`))
	f.Add(400, []byte(`{"error":"x","detail":{"a":1}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		got := judge(status, body)
		if got.Verdict == "" || (status == 200) != (got.Verdict == Works || status == 200) || len(got.Detail) > 400 || strings.Contains(got.Detail, "\n") {
			t.Errorf("%+v", got)
		}
	})
}
