package wire

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/jsonscan"
	"github.com/lathe-agent/lathe/model"
)

// Joiner reads the strings of a block's deltas and puts together surrogate pairs whose halves
// came in two of them.
type Joiner struct{ half []byte }

// Text reads a JSON string with its quotes, and reports whether it is one. It stores the first
// half of a surrogate pair at its end for the next.
func (j *Joiner) Text(raw []byte) (string, bool) {
	if len(j.half) > 0 && len(raw) >= 2 && raw[0] == '"' {
		joined := make([]byte, 0, len(j.half)+len(raw))
		joined = append(append(joined, '"'), j.half...)
		raw = append(joined, raw[1:]...)
		j.half = nil
	}
	if n := len(raw); n >= 8 && jsonscan.IsHighSurrogate(raw[n-7:]) && !escaped(raw, n-7) {
		j.half = append([]byte(nil), raw[n-7:n-1]...)
		raw = append(append(make([]byte, 0, n-6), raw[:n-7]...), '"')
	}
	return lathe.UnquoteJSON(raw)
}

// Flush returns what the end of a block leaves of a half whose other one never came.
func (j *Joiner) Flush() string {
	if len(j.half) == 0 {
		return ""
	}
	j.half = nil
	return "\uFFFD"
}

// escaped reports whether the backslash at i is itself escaped.
func escaped(b []byte, i int) bool {
	n := 0
	for i > 0 && b[i-1] == '\\' {
		i--
		n++
	}
	return n%2 == 1
}

// Unmarshal decodes what fits and leaves out what has another type than expected: servers
// differ, and one odd member must not cost the answer.
func Unmarshal(data []byte, to any) error {
	err := json.Unmarshal(data, to)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); odd {
		return nil
	}
	return err
}

// MalformedEvent is the error for an event that cannot be read: cut off in its middle, or not JSON.
func MalformedEvent(provider string, data []byte, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && int(syntax.Offset) >= len(data) {
		return model.IncompleteError()
	}
	return model.Failure{Provider: provider, Body: data, Type: "server_error", Message: "the provider sent invalid JSON"}.Error()
}

// Number is a count or an index that may be anything on the wire: a whole number in any form is
// known, the rest is left out.
type Number struct {
	N     int64
	Known bool
}

// Tokens is the number as a count of tokens: 0 if it makes no sense, like one below 0 or one so
// large that sums of it would overflow.
func (n Number) Tokens() int64 {
	if n.N < 0 || n.N > 1<<40 {
		return 0
	}
	return n.N
}

// UnmarshalJSON takes whole numbers, also with a point behind them or as a text.
func (n *Number) UnmarshalJSON(data []byte) error {
	s := string(data)
	if text, ok := lathe.UnquoteJSON(data); ok {
		s = text
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		*n = Number{N: i, Known: true}
	} else if f, err := strconv.ParseFloat(s, 64); err == nil && f >= -1e15 && f <= 1e15 {
		*n = Number{N: int64(f), Known: true}
	}
	return nil
}
