package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// wireError is an error in any of the shapes that servers have for it.
type wireError struct {
	Error    json.RawMessage `json:"error"`
	Message  json.RawMessage `json:"message"`
	Detail   json.RawMessage `json:"detail"`
	Msg      json.RawMessage `json:"msg"`
	Type     string          `json:"type"`
	Code     json.RawMessage `json:"code"`
	Status   json.RawMessage `json:"status"`
	Response *struct {
		Error json.RawMessage `json:"error"`
	} `json:"response"`
	Choices []struct {
		Error json.RawMessage `json:"error"`
	} `json:"choices"`
	Metadata *struct {
		Raw json.RawMessage `json:"raw"`
	} `json:"metadata"`
}

// failure reads the server's words for what went wrong, in a body or in a stream.
func failure(f model.Failure) *lathe.Error {
	w := readError(f.Body, 0)
	f.Type, f.Code, f.Message = w.kind, w.code, w.message
	if n, err := strconv.Atoi(w.code); err == nil && f.Status == 0 && n >= 400 && n < 600 {
		f.Status = n // gateways return the status of the server behind them
	}
	return f.Error()
}

// said is the content of an error.
type said struct{ kind, code, message string }

// readError takes an error apart. Gateways wrap errors in objects and as JSON in a text: the
// innermost one counts.
func readError(raw []byte, depth int) said {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || depth > 5 {
		return said{message: asText(raw)}
	}
	switch raw[0] {
	case '"':
		inner := asText(raw)
		if strings.HasPrefix(strings.TrimSpace(inner), "{") && json.Valid([]byte(inner)) {
			return readError([]byte(inner), depth+1)
		}
		return said{message: inner}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
			return readError(list[0], depth+1)
		}
		return said{message: string(raw)}
	case '{':
		return readErrorObject(raw, depth)
	default:
		return said{}
	}
}

// readErrorObject finds the message and code in the error formats of compatible servers.
func readErrorObject(raw []byte, depth int) said {
	var w wireError
	if wire.Unmarshal(raw, &w) != nil {
		return said{}
	}
	if w.Response != nil && isSet(w.Response.Error) {
		w.Error = w.Response.Error
	}
	for _, c := range w.Choices {
		if isSet(c.Error) {
			w.Error = c.Error
		}
	}
	if isSet(w.Error) {
		inner := readError(w.Error, depth+1)
		inner.fill(said{code: asText(w.Code), message: asText(w.Message)})
		return inner
	}
	own := said{kind: w.Type, code: asText(w.Code)}
	if own.kind == "error" {
		own.kind = ""
	}
	if own.kind == "" && len(w.Status) > 0 && w.Status[0] == '"' {
		own.kind = asText(w.Status)
	}
	for _, m := range []json.RawMessage{w.Message, w.Detail, w.Msg} {
		if isSet(m) {
			inner := readError(m, depth+1)
			inner.fill(own)
			own = inner
			break
		}
	}
	if w.Metadata != nil && isSet(w.Metadata.Raw) { // a gateway's own message says nothing
		if behind := readError(w.Metadata.Raw, depth+1); behind.message != "" {
			own.message += ": " + behind.message
			own.kind += " " + behind.kind + " " + behind.code
		}
	}
	own.kind = strings.TrimSpace(own.kind)
	return own
}

// fill takes missing values from o.
func (s *said) fill(o said) {
	s.kind, s.code, s.message = or(s.kind, o.kind), or(s.code, o.code), or(s.message, o.message)
}

// isSet reports whether a value says anything.
func isSet(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}

// asText is a value as text: that of a string, the JSON of anything else.
func asText(raw []byte) string {
	if s, ok := lathe.UnquoteJSON(raw); ok {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// number is a count or an index that may be anything on the wire.
type number = wire.Number
