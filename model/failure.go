package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/scrub"
)

// maxErrorBody limits the stored part of an error body.
const maxErrorBody = 64 << 10

// Failure is a provider's refusal before it becomes an error code. The protocol fills in the fields of
// its wire.
type Failure struct {
	Provider string
	URL      string
	Status   int         // of HTTP; 0 for an error inside a stream
	Header   http.Header // of the response
	Body     []byte
	Type     string // the provider's own words for the kind
	Code     string
	Message  string
}

// Error converts the failure to a *lathe.Error. Its code says who must act, its fault is shown in
// messages. Neither contains secrets.
func (f Failure) Error() *lathe.Error {
	said := f.text()
	code, retry := f.classify(said) // also by what people do not get to read
	message := f.readable(said)
	e := &lathe.Error{Code: code, Message: message}
	switch code {
	case lathe.Overflow:
		e.Fault = &lathe.OverflowFault{Message: message, ResponseBody: string(f.Body)}
	case lathe.Refused:
		e.Fault = &lathe.ContentFilterFault{Message: message}
	default:
		api := &lathe.APIFault{Message: message, StatusCode: f.Status, Retryable: retry, ResponseBody: string(f.Body), ResponseHeaders: f.headers()}
		meta := map[string]string{}
		if f.URL != "" {
			meta["url"] = f.URL
		}
		if f.Code != "" {
			meta["code"] = f.Code
		}
		if len(meta) > 0 {
			api.Metadata, _ = json.Marshal(meta)
		}
		e.Fault = api
	}
	return e
}

// readable is the message without JSON: the innermost message in it, else its sentences, else the status. The fault has
// the whole body.
func (f Failure) readable(message string) string {
	before, object := message, ""
	if i := strings.IndexAny(message, "{["); i >= 0 && json.Valid([]byte(message[i:])) {
		before, object = strings.TrimRight(message[:i], ": \n"), message[i:]
	}
	if object == "" {
		return phrase.Shorten(message, len(f.Message)+500)
	}
	found := innerMessage([]byte(object), 0)
	if found == "" && before == "" {
		if before = http.StatusText(f.Status); before == "" {
			return noReason
		}
		found = "the provider gave no reason"
	}
	return phrase.Shorten(strings.Trim(before+": "+found, ": "), 500)
}

// innerMessage finds the message in an error of any shape, "" if there is none. Gateways put errors into errors, also
// as JSON in a text.
func innerMessage(raw []byte, depth int) string {
	const deepest = 8
	var text string
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case depth > deepest:
		return ""
	case json.Unmarshal(raw, &text) == nil:
		if inner := strings.TrimSpace(text); strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
			if json.Valid([]byte(inner)) {
				return innerMessage([]byte(inner), depth+1)
			}
		}
		return strings.TrimSpace(text)
	case json.Unmarshal(raw, &list) == nil:
		for _, one := range list {
			if found := innerMessage(one, depth+1); found != "" {
				return found
			}
		}
	case json.Unmarshal(raw, &object) == nil:
		for _, name := range []string{"message", "msg", "error", "detail", "errors", "error_description", "error_message", "reason", "title"} {
			if found := innerMessage(object[name], depth+1); found != "" {
				return found
			}
		}
		for _, name := range slices.Sorted(maps.Keys(object)) { // a sentence under another name
			if found := innerMessage(object[name], depth+1); strings.Contains(found, " ") {
				return found
			}
		}
	}
	return ""
}

const noReason = "the provider failed without a reason"

// text is the message as it came: the provider's own, else its body, else the status. A message that
// only repeats the status is replaced by the body.
func (f Failure) text() string {
	message := strings.TrimSpace(f.Message)
	reason := http.StatusText(f.Status)
	if message != "" && message != reason {
		return message
	}
	body := strings.TrimSpace(string(f.Body))
	switch {
	case isHTML(body) && (f.Status == 401 || f.Status == 403):
		return fmt.Sprintf("%s: a gateway before %s rejected the request; log in again or check your account's permissions", reason, f.Provider)
	case !isHTML(body) && body != "" && message == "":
		return bodyMessage(body)
	case !isHTML(body) && body != "":
		return message + ": " + bodyMessage(body)
	case reason != "":
		return reason
	default:
		return noReason
	}
}

// bodyMessage is the message inside a body of JSON, else the body.
func bodyMessage(body string) string {
	var m struct{ Message, Error json.RawMessage }
	if json.Unmarshal([]byte(body), &m) != nil {
		return body
	}
	for _, raw := range []json.RawMessage{m.Message, m.Error} {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
	}
	return body
}

func isHTML(s string) bool {
	head := strings.ToLower(phrase.Shorten(s, 100))
	return strings.HasPrefix(head, "<!doctype") || strings.HasPrefix(head, "<html")
}

func (f Failure) headers() json.RawMessage {
	out := map[string]string{}
	for k, v := range f.Header {
		if k = strings.ToLower(k); k != "set-cookie" {
			out[k] = strings.Join(v, ", ")
		}
	}
	if len(out) == 0 {
		return nil
	}
	b, _ := json.Marshal(out)
	return b
}

// Patterns that classify a failure without a code. They are compiled at the first failure, since most
// runs have none.
var (
	overflowWords = words(`(?i)prompt is too long|request_too_large|input is too long for requested model|exceeds the context window|` +
		`exceeds (the |the model's |model's )*maximum context length|input token count.*exceeds the maximum|tokens in request more than max tokens allowed|` +
		`maximum prompt length is \d+|reduce the length of the messages|maximum context length is \d+ tokens|exceeds (the )?maximum allowed input length|` +
		`input \(\d+ tokens\) is longer than the model's context length|exceeds the limit of \d+|exceeds the available context size|` +
		`greater than the context length|context window exceeds limit|exceeded model token limit|context[_ ]length[_ ]exceeded|request entity too large|` +
		`context length is only \d+ tokens|input length.*exceeds.*context length|prompt too long; exceeded (max )?context length|` +
		`too large for model with \d+ maximum context length|prompt has \d+ tokens, but the configured context size is \d+|model_context_window_exceeded|` +
		`too many tokens|token limit exceeded|^(400|413)\s*(status code)?\s*\(no body\)`)
	notOverflow    = words(`(?i)^(throttling error|service unavailable):|rate limit|too many requests`)
	transientWords = words(`(?i)\b(429|500|502|503|504|524)\b|rate[ _-]?limit|rate increased too quickly|too many requests|overloaded|` +
		`service[ _-]unavailable|internal[ _-](server[ _-])?error|server[ _-]error|provider[ _-]returned[ _-]error|terminated|fetch failed|failed to fetch|` +
		`network error|upstream connect|connection (error|refused|lost)|socket connection was closed|socket hang up|reset before headers|getaddrinfo|` +
		`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|^timeout$|(request|response|connection|network|stream|read) ?(timeout|timed out|time out)|` +
		`(re)?try your request|resource exhausted`)
)

func words(pattern string) func() *regexp.Regexp {
	return phrase.Regexp(pattern)
}

// classify decides by code first, then by status, then by words.
func (f Failure) classify(message string) (lathe.Code, bool) {
	kind := strings.ToLower(f.Code + " " + f.Type)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(kind, w) })
	}
	// Too many tokens are too many in a minute, then: a shorter history would not help.
	limited := f.Status == 429 || has("rate_limit", "too_many_requests", "resource_exhausted")
	switch {
	case has("context_length_exceeded", "request_too_large", "model_context_window_exceeded") || f.Status == 413:
		return lathe.Overflow, false
	case !limited && !notOverflow().MatchString(message) && overflowWords().MatchString(message):
		return lathe.Overflow, false
	case has("content_filter", "content_policy", "safety", "refusal"):
		return lathe.Refused, false
	case has("insufficient_quota", "usage_not_included", "billing", "invalid_prompt"):
		return lathe.Unauthorized, false
	case f.Status == 401 || f.Status == 403 || has("authentication_error", "permission_error", "invalid_api_key"):
		return lathe.Unauthorized, false
	case limited:
		return lathe.Limited, true
	case f.Status == 404 && strings.HasPrefix(f.Provider, "openai"):
		return lathe.Unavailable, true // it comes and goes there
	case f.Status == 408 || f.Status == 409 || f.Status >= 500 || has("overloaded", "server_error", "server_is_overloaded", "unavailable", "api_error", "timeout"):
		return lathe.Unavailable, true
	case f.Status == 404:
		return lathe.NotFound, false
	case transientWords().MatchString(message) || transientWords().Match(f.Body):
		return lathe.Unavailable, true
	default:
		return lathe.Invalid, false
	}
}

// maxRetryAfter is the longest reported wait, which other clients' timers can hold.
const maxRetryAfter = 2147483647 * time.Millisecond

// RetryAfter returns the wait that a provider requests, and whether it does.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if ms, ok := leadingNumber(h.Get("Retry-After-Ms")); ok {
		return retryIn(ms), true
	}
	after := h.Get("Retry-After")
	if sec, ok := leadingNumber(after); ok {
		return retryIn(math.Ceil(sec * 1000)), true
	}
	if at, err := http.ParseTime(after); err == nil && at.After(now) {
		return min(at.Sub(now), maxRetryAfter), true
	}
	return 0, false
}

func retryIn(ms float64) time.Duration {
	return time.Duration(min(ms, float64(maxRetryAfter/time.Millisecond)) * float64(time.Millisecond))
}

// leadingNumber reads the number a text begins with, as lenient clients do.
func leadingNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	end, dot := 0, false
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' && !dot) {
		dot = dot || s[end] == '.'
		end++
	}
	f, err := strconv.ParseFloat(s[:end], 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

// ReadFailure reads the body of a refusal; the protocol then parses it. Some providers repeat the
// rejected key, which is removed here.
func ReadFailure(provider string, resp *http.Response) Failure {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	f := Failure{Provider: provider, Status: resp.StatusCode, Header: scrub.Header(resp.Header), Body: bytes.ToValidUTF8(body, []byte("\uFFFD"))}
	if resp.Request == nil {
		return f
	}
	secrets := scrub.Secrets(resp.Request.Header, resp.Request.URL)
	f.Body = scrub.Bytes(f.Body, secrets)
	for _, values := range f.Header {
		for i, v := range values {
			values[i] = scrub.String(v, secrets)
		}
	}
	u := *resp.Request.URL
	u.RawQuery, u.User = "", nil // keys travel there
	f.URL = scrub.String(u.String(), secrets)
	return f
}
