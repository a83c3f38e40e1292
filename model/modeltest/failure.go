package modeltest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// kind is an error that every provider knows, each by its own name.
type kind struct {
	anthropic   string
	typ, code   string // OpenAI's
	status      int    // of HTTP; Anthropic's own
	google      string
	googleCode  int
	words       string // how Anthropic and Google say what has no name there
	googleWords string
}

// kinds is read only; the first that fits counts.
var kinds = []kind{
	{
		anthropic: "invalid_request_error", typ: "invalid_request_error", code: "context_length_exceeded",
		status: 400, google: "INVALID_ARGUMENT", googleCode: 400,
		words: "prompt is too long", googleWords: "The input token count exceeds the maximum number of tokens allowed",
	},
	{anthropic: "invalid_request_error", typ: "invalid_request_error", code: "", status: 400, google: "INVALID_ARGUMENT", googleCode: 400},
	{anthropic: "overloaded_error", typ: "server_error", code: "server_is_overloaded", status: 529, google: "UNAVAILABLE", googleCode: 503},
	{anthropic: "rate_limit_error", typ: "requests", code: "rate_limit_exceeded", status: 429, google: "RESOURCE_EXHAUSTED", googleCode: 429},
	{anthropic: "billing_error", typ: "insufficient_quota", code: "insufficient_quota", status: 402, google: "RESOURCE_EXHAUSTED", googleCode: 429},
	{anthropic: "authentication_error", typ: "invalid_request_error", code: "invalid_api_key", status: 401, google: "UNAUTHENTICATED", googleCode: 401},
	{anthropic: "permission_error", typ: "invalid_request_error", code: "permission_denied", status: 403, google: "PERMISSION_DENIED", googleCode: 403},
	{anthropic: "not_found_error", typ: "invalid_request_error", code: "model_not_found", status: 404, google: "NOT_FOUND", googleCode: 404},
	{anthropic: "request_too_large", typ: "invalid_request_error", code: "request_too_large", status: 413, google: "INVALID_ARGUMENT", googleCode: 413},
	{anthropic: "timeout_error", typ: "server_error", code: "timeout", status: 504, google: "DEADLINE_EXCEEDED", googleCode: 504},
	{anthropic: "api_error", typ: "server_error", code: "server_error", status: 500, google: "INTERNAL", googleCode: 500},
}

// find returns the kind that goes by that name with any provider.
func find(name string) (kind, bool) {
	for _, fits := range []func(kind) bool{
		func(k kind) bool { return k.code == name },
		func(k kind) bool { return k.words == "" && (k.anthropic == name || k.google == name) },
	} {
		if i := slices.IndexFunc(kinds, fits); i >= 0 && name != "" {
			return kinds[i], true
		}
	}
	return kind{}, false
}

// kind says the failure in the words of all providers. Words that none knows are sent as they are.
func (f Fail) kind() kind {
	if k, ok := find(f.Code); ok {
		return k
	}
	if k, ok := find(f.Type); ok {
		if f.Code != "" {
			k.code = f.Code
		}
		return k
	}
	status := 500
	if n, err := strconv.Atoi(f.Code); err == nil && n >= 400 && n < 600 {
		status = n
	}
	typ := f.Type
	if typ == "" {
		typ = f.Code
	}
	return kind{
		anthropic: typ, typ: typ, code: f.Code, status: status,
		google: strings.ToUpper(typ), googleCode: status,
	}
}

// failOf is the error of a provider for a status.
func failOf(status int) Fail {
	f := Fail{Type: "invalid_request_error", Message: http.StatusText(status)}
	for _, k := range kinds {
		if k.words == "" && k.status == status {
			return Fail{Type: k.anthropic, Code: k.code, Message: f.Message}
		}
	}
	if status >= 500 {
		f.Type = "api_error"
	}
	return f
}

func prefixed(prefix, message string) string {
	if prefix == "" || strings.Contains(message, prefix) {
		return message
	}
	return prefix + ": " + message
}

// body is the error as the wire's JSON, and the HTTP status it comes with where it stands alone.
func (f Fail) body(p Protocol) (js, int) {
	k := f.kind()
	switch p {
	case Anthropic:
		inner := obj("type", k.anthropic, "message", prefixed(k.words, f.Message))
		return obj("type", "error", "error", inner, "request_id", "req_modeltest"), k.status
	case Bedrock:
		status := k.status
		if status == 529 {
			status = 503
		}
		return obj("message", prefixed(k.amazonWords(), f.Message)), status
	case Gemini:
		inner := obj("code", k.googleCode, "message", prefixed(k.googleWords, f.Message), "status", k.google)
		return obj("error", inner), k.googleCode
	default:
		status := k.status
		if status == 529 {
			status = 503
		}
		return obj("error", k.openai(f.Message)), status
	}
}

func (k kind) amazonWords() string {
	if k.words == "" {
		return ""
	}
	return "Input is too long for requested model."
}

func (k kind) openai(message string) js {
	var code any
	if k.code != "" {
		code = k.code
	}
	return obj("message", message, "type", k.typ, "param", nil, "code", code)
}
