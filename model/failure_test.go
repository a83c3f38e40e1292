package model_test

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// retryable reports what the fault says.
func retryable(e *lathe.Error) bool {
	api, ok := e.Fault.(*lathe.APIFault)
	return ok && api.Retryable
}

// Every phrase of spec/engine.md §3.4, in any case and inside other words.
func TestFailure_OverflowPhrases(t *testing.T) {
	for _, phrase := range []string{
		"prompt is too long: 200001 tokens > 200000 maximum",
		"request_too_large",
		"Input is too long for requested model.",
		"Your input exceeds the context window of this model.",
		"exceeds the maximum context length of 8192 tokens",
		"exceeds the model's maximum context length of 8192 tokens",
		"This exceeds maximum context length (8192)",
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		"tokens in request more than max tokens allowed",
		"This model's maximum prompt length is 131072 but the request contains 200000 tokens",
		"Please reduce the length of the messages or completion.",
		"This model's maximum context length is 8192 tokens. However, you requested 9000.",
		"exceeds the maximum allowed input length of 4096 tokens",
		"exceeds maximum allowed input length of 4096 tokens",
		"the input (5000 tokens) is longer than the model's context length (4096 tokens)",
		"prompt token count of 9000 exceeds the limit of 8000",
		"the request exceeds the available context size, try increasing it",
		"the prompt is greater than the context length",
		"invalid params, context window exceeds limit",
		"Your request exceeded model token limit: 8192",
		"context_length_exceeded",
		"context length exceeded",
		"Request Entity Too Large",
		"the model's context length is only 4096 tokens",
		"input length 5000 exceeds the model's context length 4096",
		"prompt too long; exceeded max context length by 7 tokens",
		"prompt too long; exceeded context length",
		"request is too large for model with 8192 maximum context length",
		"prompt has 9000 tokens, but the configured context size is 8192 tokens",
		"model_context_window_exceeded",
		"too many tokens in the prompt",
		"token limit exceeded",
		"400 (no body)", "413 (no body)", "400 status code (no body)", "413 status code (no body)",
	} {
		for _, message := range []string{phrase, strings.ToUpper(phrase)} {
			e := model.Failure{Status: 400, Message: message}.Error()
			want := &lathe.OverflowFault{Message: message}
			if e.Code != lathe.Overflow || !cmp.Equal(lathe.Fault(want), e.Fault) {
				t.Errorf("%q is %s: %+v", message, e.Code, e.Fault)
			}
		}
		// In a body without its own message the phrase counts as well.
		if e := (model.Failure{Status: 400, Body: []byte(phrase)}).Error(); e.Code != lathe.Overflow {
			t.Errorf("a body of %q is %s", phrase, e.Code)
		}
	}
}

func TestFailure_NotOverflow(t *testing.T) {
	for message, want := range map[string]lathe.Code{
		"Throttling error: too many tokens, slow down":         lathe.Invalid,
		"Service unavailable: too many tokens in flight":       lathe.Unavailable,
		"Rate limit reached: token limit exceeded for the day": lathe.Unavailable,
		"Too many requests: too many tokens per minute":        lathe.Unavailable,
		"429 (no body)":                         lathe.Unavailable,
		"error 400 (no body)":                   lathe.Invalid, // not at the start
		"the throttling error: too many tokens": lathe.Overflow,
		"maximum context length is many tokens": lathe.Invalid,
	} {
		for _, f := range []model.Failure{{Status: 400, Message: message}, {Status: 400, Body: []byte(message)}} {
			if e := f.Error(); e.Code != want {
				t.Errorf("%q is %s, want %s", message, e.Code, want)
			}
		}
	}
}

func TestFailure_Statuses(t *testing.T) {
	for _, c := range []struct {
		status   int
		provider string
		code     lathe.Code
		retry    bool
	}{
		{400, "", lathe.Invalid, false},
		{401, "", lathe.Unauthorized, false},
		{402, "", lathe.Invalid, false},
		{403, "", lathe.Unauthorized, false},
		{404, "", lathe.NotFound, false},
		{404, "openai", lathe.Unavailable, true},
		{404, "openai-compatible", lathe.Unavailable, true},
		{408, "", lathe.Unavailable, true},
		{409, "", lathe.Unavailable, true},
		{413, "", lathe.Overflow, false},
		{422, "", lathe.Invalid, false},
		{429, "", lathe.Limited, true},
		{500, "", lathe.Unavailable, true},
		{502, "", lathe.Unavailable, true},
		{503, "", lathe.Unavailable, true},
		{529, "", lathe.Unavailable, true},
	} {
		e := model.Failure{Status: c.status, Provider: c.provider, Message: "no"}.Error()
		if e.Code != c.code || retryable(e) != c.retry {
			t.Errorf("%d of %q is %s, retry %v", c.status, c.provider, e.Code, retryable(e))
		}
	}
}

// What the provider calls it counts before the status and the words.
func TestFailure_CodesFirst(t *testing.T) {
	for _, c := range []struct {
		failure model.Failure
		code    lathe.Code
		retry   bool
	}{
		{model.Failure{Status: 400, Code: "context_length_exceeded", Message: "too many requests"}, lathe.Overflow, false},
		{model.Failure{Code: "context_length_exceeded"}, lathe.Overflow, false},
		{model.Failure{Status: 400, Type: "request_too_large"}, lathe.Overflow, false},
		{model.Failure{Status: 429, Code: "insufficient_quota", Message: "You exceeded your current quota"}, lathe.Unauthorized, false},
		{model.Failure{Code: "usage_not_included", Message: "x"}, lathe.Unauthorized, false},
		{model.Failure{Code: "invalid_prompt", Message: "x"}, lathe.Unauthorized, false},
		{model.Failure{Code: "server_is_overloaded", Message: "x"}, lathe.Unavailable, true},
		{model.Failure{Code: "server_error", Message: "x"}, lathe.Unavailable, true},
		{model.Failure{Type: "overloaded_error", Message: "Overloaded"}, lathe.Unavailable, true},
		{model.Failure{Type: "api_error", Message: "x"}, lathe.Unavailable, true},
		{model.Failure{Type: "rate_limit_error", Message: "x"}, lathe.Limited, true},
		{model.Failure{Code: "too_many_requests", Message: "x"}, lathe.Limited, true},
		{model.Failure{Type: "RESOURCE_EXHAUSTED", Message: "x"}, lathe.Limited, true},
		{model.Failure{Status: 429, Type: "rate_limit", Message: "Too many tokens, please wait before trying again."}, lathe.Limited, true},
		{model.Failure{Status: 429, Message: "Quota exceeds the limit of 60 requests"}, lathe.Limited, true},
		{model.Failure{Status: 429, Code: "context_length_exceeded", Message: "x"}, lathe.Overflow, false},
		{model.Failure{Type: "UNAVAILABLE", Message: "x"}, lathe.Unavailable, true},
		{model.Failure{Type: "authentication_error", Message: "x"}, lathe.Unauthorized, false},
		{model.Failure{Type: "permission_error", Message: "x"}, lathe.Unauthorized, false},
		{model.Failure{Status: 400, Code: "invalid_api_key", Message: "x"}, lathe.Unauthorized, false},
		{model.Failure{Status: 400, Code: "content_filter", Message: "x"}, lathe.Refused, false},
		{model.Failure{Status: 400, Code: "content_policy_violation", Message: "x"}, lathe.Refused, false},
		{model.Failure{Type: "invalid_request_error", Message: "x"}, lathe.Invalid, false},
		{model.Failure{Message: "x"}, lathe.Invalid, false},
	} {
		e := c.failure.Error()
		if e.Code != c.code || retryable(e) != c.retry {
			t.Errorf("%+v is %s, retry %v", c.failure, e.Code, retryable(e))
		}
	}
}

// Words that pass: each of spec/engine.md §5.1, where neither code nor status tells.
func TestFailure_TransientWords(t *testing.T) {
	for _, words := range []string{
		"got 429", "error 500", "502 Bad Gateway", "HTTP 503", "504", "524: a timeout occurred",
		"rate limit", "rate-limit", "rate_limit", "Rate increased too quickly", "Too Many Requests", "overloaded", "Service Unavailable",
		"service_unavailable", "internal error", "Internal Server Error", "internal_server_error", "server error", "server-error",
		"Provider returned error", "provider_returned_error", "terminated", "fetch failed", "Failed to fetch", "network error",
		"upstream connect error", "connection error", "connection refused", "connection lost", "The socket connection was closed",
		"socket hang up", "reset before headers", "getaddrinfo ENOTFOUND", "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT",
		"timeout", "request timeout", "response timed out", "connection time out", "network timeout", "stream timed out", "read timeout",
		"please try your request again", "retry your request", "Resource exhausted",
	} {
		if e := (model.Failure{Status: 400, Message: words}).Error(); e.Code != lathe.Unavailable || !retryable(e) {
			t.Errorf("%q is %s", words, e.Code)
		}
	}
	for _, words := range []string{"error 4290", "the timeout is over", "your rate", "connection", "exhausted"} {
		if e := (model.Failure{Status: 400, Message: words}).Error(); e.Code != lathe.Invalid || retryable(e) {
			t.Errorf("%q is %s", words, e.Code)
		}
	}
	if e := (model.Failure{Status: 400, Message: "no", Body: []byte(`{"why":"socket hang up"}`)}).Error(); e.Code != lathe.Unavailable {
		t.Errorf("words in the body: %s", e.Code)
	}
}

func TestFailure_Messages(t *testing.T) {
	html := []byte("<!DOCTYPE html><html><body>Sign in</body></html>")
	for _, c := range []struct {
		failure model.Failure
		want    string
	}{
		{model.Failure{Status: 400, Message: " what it said \n", Body: []byte("body")}, "what it said"},
		{model.Failure{Status: 400, Body: []byte(" the body ")}, "the body"},
		{model.Failure{Status: 400}, "Bad Request"},
		{model.Failure{}, "the provider failed without a reason"},
		{model.Failure{Status: 799}, "the provider failed without a reason"},
		{model.Failure{Status: 400, Message: "Bad Request", Body: []byte(`{"message":"inner"}`)}, "Bad Request: inner"},
		{model.Failure{Status: 400, Message: "Bad Request", Body: []byte(`{"error":"inner"}`)}, "Bad Request: inner"},
		{model.Failure{Status: 400, Message: "Bad Request", Body: []byte(`{"error":{"x":1}}`)}, "Bad Request"},
		// No JSON for people, whatever its shape.
		{model.Failure{Status: 400, Body: []byte(`{"foo":{"bar":1},"baz":[1,2,3]}`)}, "Bad Request: the provider gave no reason"},
		{model.Failure{Status: 400, Body: []byte(`{"detail":[{"loc":["body"],"msg":"field required"}]}`)}, "field required"},
		{model.Failure{Status: 400, Message: "{\"error\": {\n\"message\": \"{\\\"error\\\":{\\\"message\\\":\\\"deep\\\"}}\"}}"}, "deep"},
		{model.Failure{Status: 400, Message: `upstream said: [{"x":{"y":"the quota is used up"}}]`}, "upstream said: the quota is used up"},
		{model.Failure{Status: 400, Body: []byte(`{"pad":"` + strings.Repeat("x", 900) + `","error":{"message":"far"}}`)}, "far"},
		{model.Failure{Status: 400, Body: []byte(strings.Repeat(`{"error":`, 50) + `"deep"` + strings.Repeat("}", 50))}, "Bad Request: the provider gave no reason"},
		{model.Failure{Status: 400, Message: `use [brackets] and {braces} freely`}, `use [brackets] and {braces} freely`},
		{model.Failure{Status: 400, Message: "Bad Request", Body: []byte(`plain`)}, "Bad Request: plain"},
		{model.Failure{Status: 400, Message: "Bad Request"}, "Bad Request"},
		{model.Failure{Status: 400, Body: []byte(`{"message":"inner"}`)}, "inner"},
		{model.Failure{Status: 502, Message: "Bad Gateway", Body: html}, "Bad Gateway"},
		{model.Failure{Status: 502, Body: []byte("  <HTML>")}, "Bad Gateway"},
		{model.Failure{Status: 403, Provider: "acme", Body: html}, "Forbidden: a gateway before acme rejected the request; log in again or check your account's permissions"},
		{model.Failure{Status: 401, Provider: "acme", Message: "Unauthorized", Body: html}, "Unauthorized: a gateway before acme rejected the request; log in again or check your account's permissions"},
		{model.Failure{Status: 400, Body: []byte(strings.Repeat("é", 400))}, strings.Repeat("é", 250) + "…"},
	} {
		e := c.failure.Error()
		if e.Error() != c.want || lathe.FaultMessage(e.Fault) != c.want {
			t.Errorf("%+v says %q and %q, want %q", c.failure, e.Error(), lathe.FaultMessage(e.Fault), c.want)
		}
	}
}

func TestFailure_Fault(t *testing.T) {
	e := model.Failure{
		Provider: "acme", URL: "https://h/v1", Status: 429, Type: "t", Code: "rate_limit", Message: "slow", Body: []byte(`{"e":1}`),
		Header: http.Header{"Retry-After": {"2"}, "X-A": {"1", "2"}, "Set-Cookie": {"s"}},
	}.Error()
	want := `{"name":"APIError","data":{"message":"slow","statusCode":429,"isRetryable":true,` +
		`"responseHeaders":{"retry-after":"2","x-a":"1, 2"},"responseBody":"{\"e\":1}","metadata":{"code":"rate_limit","url":"https://h/v1"}}}`
	if diff := cmp.Diff(want, string(lathe.EncodeFault(e.Fault))); diff != "" {
		t.Error(diff)
	}
	e = model.Failure{Message: "x"}.Error()
	if got := string(lathe.EncodeFault(e.Fault)); got != `{"name":"APIError","data":{"message":"x","isRetryable":false}}` {
		t.Error(got)
	}
	e = model.Failure{Status: 413, Body: []byte("b"), Message: "m"}.Error()
	if got := string(lathe.EncodeFault(e.Fault)); got != `{"name":"ContextOverflowError","data":{"message":"m","responseBody":"b"}}` {
		t.Error(got)
	}
	e = model.Failure{Code: "content_filter", Message: "m"}.Error()
	if got := string(lathe.EncodeFault(e.Fault)); got != `{"name":"ContentFilterError","data":{"message":"m"}}` {
		t.Error(got)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	const most = 2147483647 * time.Millisecond
	for _, c := range []struct {
		ms, after string
		want      time.Duration
		ok        bool
	}{
		{"", "", 0, false},
		{"1500", "", 1500 * time.Millisecond, true},
		{"1500.5", "9", 1500500 * time.Microsecond, true},
		{"x", "9", 9 * time.Second, true},
		{"", "2", 2 * time.Second, true},
		{"", "0", 0, true},
		{"", " 0.5 ", 500 * time.Millisecond, true},
		{"", "5abc", 5 * time.Second, true},
		{"", "1.2.3", 1200 * time.Millisecond, true},
		{"", "0.0001", time.Millisecond, true}, // rounded up
		{"", "-5", 0, false},
		{"", ".", 0, false},
		{"", "abc", 0, false},
		{"", "7200", 2 * time.Hour, true},
		{"", "1" + strings.Repeat("0", 400), most, true},
		{"99999999999", "", most, true},
		{"", now.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second, true},
		{"", now.Add(90 * 24 * time.Hour).Format(http.TimeFormat), most, true},
		{"", now.Add(-time.Second).Format(http.TimeFormat), 0, false},
		{"", now.Format(http.TimeFormat), 0, false},
		{"", "Wed, 99 Foo", 0, false},
	} {
		h := http.Header{}
		if c.ms != "" {
			h.Set("retry-after-ms", c.ms)
		}
		if c.after != "" {
			h.Set("retry-after", c.after)
		}
		if got, ok := model.RetryAfter(h, now); got != c.want || ok != c.ok {
			t.Errorf("RetryAfter(%q, %q) = %s, %v, want %s, %v", c.ms, c.after, got, ok, c.want, c.ok)
		}
	}
}

// A key is in no error, wherever it travelled and whatever the provider repeats of it.
func TestFailure_NoSecrets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-zA-Z0-9+/=_-]{8,40}`).Draw(t, "key")
		name := rapid.SampledFrom([]string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie"}).Draw(t, "header")
		u := &url.URL{Scheme: "https", Host: "h", Path: "/v1", RawQuery: url.Values{"key": {key}}.Encode(), User: url.UserPassword("me", key)}
		resp := &http.Response{
			StatusCode: rapid.SampledFrom([]int{400, 401, 403, 404, 413, 429, 500}).Draw(t, "status"),
			Header:     http.Header{"X-Echo": {"you sent " + key}, "Set-Cookie": {key}, "X-Api-Key": {key}},
			Body:       io.NopCloser(strings.NewReader(`{"error":{"message":"Incorrect API key provided: ` + key + `"}}`)),
			Request:    &http.Request{URL: u, Header: http.Header{name: {rapid.SampledFrom([]string{"", "Bearer "}).Draw(t, "scheme") + key}}},
		}
		f := model.ReadFailure("acme", resp)
		if rapid.Bool().Draw(t, "message") {
			var body struct{ Error struct{ Message string } }
			if err := json.Unmarshal(f.Body, &body); err == nil {
				f.Message = body.Error.Message // as a protocol does
			}
		}
		noKey(t, key, f.Error())
		cause := &url.Error{Op: "Post", URL: u.String(), Err: errors.New("connect: no route to host")}
		noKey(t, key, model.TransportError(context.Background(), cause))
		noKey(t, key, model.TransportError(context.Background(), fmt.Errorf("send: %w", cause)))
	})
}

// noKey looks at every text of an error and its causes.
func noKey(t *rapid.T, key string, err error) {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), key) {
			t.Fatalf("%q is in %q", key, e.Error())
		}
	}
	var known *lathe.Error
	if !errors.As(err, &known) {
		t.Fatalf("%T has no code", err)
	}
	if fault := string(lathe.EncodeFault(known.Fault)); strings.Contains(fault, key) || strings.Contains(fault, url.QueryEscape(key)) {
		t.Fatalf("%q is in %s", key, fault)
	}
}

func TestReadFailure(t *testing.T) {
	u, err := url.Parse("https://me:secret-1@h/v1/x?key=secret-2&alt=sse")
	if err != nil {
		t.Fatal(err)
	}
	got := model.ReadFailure("acme", &http.Response{
		StatusCode: 500, Header: http.Header{"A": {"b"}}, Body: io.NopCloser(strings.NewReader("\xffx")), Request: &http.Request{URL: u},
	})
	want := model.Failure{Provider: "acme", URL: "https://h/v1/x", Status: 500, Header: http.Header{"A": {"b"}}, Body: []byte("\uFFFDx")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = model.ReadFailure("acme", &http.Response{StatusCode: 500, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", 1<<20)))})
	if len(got.Body) != 64<<10 || got.URL != "" {
		t.Errorf("%d bytes of %q", len(got.Body), got.URL)
	}
}

// lateError is a timeout of the network.
type lateError struct{}

func (lateError) Error() string   { return "i/o timeout" }
func (lateError) Timeout() bool   { return true }
func (lateError) Temporary() bool { return true }

func TestTransportError(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	own := lathe.Errorf(lathe.Limited, "ours")
	withCause, cancelCause := context.WithCancelCause(context.Background())
	cancelCause(own)
	for _, c := range []struct {
		name    string
		ctx     context.Context
		err     error
		code    lathe.Code
		message string
		fault   string
	}{
		{"cancelled", canceled, context.Canceled, lathe.Canceled, "Aborted", `{"name":"MessageAbortedError","data":{"message":"Aborted"}}`},
		{"cancelled, seen as something else", canceled, errors.New("gzip: invalid header"), lathe.Canceled, "Aborted", `{"name":"MessageAbortedError","data":{"message":"Aborted"}}`},
		{"cancelled with a cause", withCause, context.Canceled, lathe.Limited, "ours", ""},
		{"ours already", context.Background(), fmt.Errorf("x: %w", own), lathe.Limited, "x: ours", ""},
		{"late", context.Background(), lateError{}, lathe.Unavailable, "the provider timed out", "timeout"},
		{"end", context.Background(), io.EOF, lathe.Unavailable, "the answer ended early", "incomplete"},
		{"broken", context.Background(), io.ErrUnexpectedEOF, lathe.Unavailable, "the answer ended early", "incomplete"},
		{"reset", context.Background(), &net.OpError{Op: "read", Err: syscall.ECONNRESET}, lathe.Unavailable, "Connection reset by server", `{"name":"APIError","data":{"message":"Connection reset by server","isRetryable":true,"metadata":{"code":"ECONNRESET","message":"connection reset by peer","syscall":"read"}}}`},
		{"garbled", context.Background(), fmt.Errorf("body: %w", gzip.ErrHeader), lathe.Unavailable, "Response decompression failed", "decompression"},
		{"garbled in the middle", context.Background(), flate.CorruptInputError(7), lathe.Unavailable, "Response decompression failed", "decompression"},
		{"refused", context.Background(), &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, lathe.Unavailable, "the provider cannot be reached: the connection was refused", "ECONNREFUSED"},
		{
			"another", context.Background(), &url.Error{Op: "Post", URL: "http://h?key=k", Err: errors.New("no route")},
			lathe.Unavailable, "the connection to the provider failed: no route", "transport",
		},
	} {
		err := model.TransportError(c.ctx, c.err)
		if lathe.CodeOf(err) != c.code || err.Error() != c.message {
			t.Errorf("%s: %s %v", c.name, lathe.CodeOf(err), err)
		}
		var e *lathe.Error
		if !errors.As(err, &e) || c.fault == "" {
			continue
		}
		want := c.fault
		if want[0] != '{' {
			want = fmt.Sprintf(`{"name":"APIError","data":{"message":%q,"isRetryable":true,"metadata":{"code":%q}}}`, c.message, c.fault)
		}
		if diff := cmp.Diff(want, string(lathe.EncodeFault(e.Fault))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if err := model.TransportError(context.Background(), nil); err != nil {
		t.Error(err)
	}
	if err := model.IncompleteError(); lathe.CodeOf(err) != lathe.Unavailable || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}
