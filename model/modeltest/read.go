package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/model"
)

// parts reads what a wire allows to be a string or a list of parts: a string is one text.
func parts[T any](raw json.RawMessage, text func(string) T) ([]T, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		return []T{text(s)}, nil
	default:
		var out []T
		err := json.Unmarshal(raw, &out)
		return out, err
	}
}

// say appends content to the prompt: to the last message if it is of the same role, for wires
// that have an entry for each piece.
func (r *Request) say(role model.Role, content ...model.Content) {
	if len(content) == 0 {
		return
	}
	if n := len(r.Prompt.Messages); n > 0 && r.Prompt.Messages[n-1].Role == role {
		m := &r.Prompt.Messages[n-1]
		m.Content = append(m.Content, content...)
		return
	}
	r.Prompt.Messages = append(r.Prompt.Messages, model.Message{Role: role, Content: content})
}

// signed is a signature as a Meta.
func signed(s string) model.Meta {
	if s == "" {
		return nil
	}
	return model.Meta(appendString(nil, s))
}

// media reads a data address; any other stays an address.
func media(name, address string) model.FileContent {
	head, data, ok := strings.Cut(address, ",")
	if !ok || !strings.HasPrefix(head, "data:") {
		return model.FileContent{Name: name, URL: address}
	}
	mime, _, _ := strings.Cut(strings.TrimPrefix(head, "data:"), ";")
	return model.FileContent{Mime: mime, Name: name, Data: data}
}

// arguments reads the text of a call's arguments; what is no JSON becomes a JSON string, for
// the prompt must hold JSON.
func arguments(s string) json.RawMessage {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return appendString(nil, s)
}

// choice reads a tool choice that is a word or names a tool.
func choice(raw json.RawMessage) string {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		return word
	}
	var named struct {
		Type, Name string
		Function   struct{ Name string }
	}
	_ = json.Unmarshal(raw, &named) // an unknown form has no name
	switch {
	case named.Function.Name != "":
		return named.Function.Name
	case named.Name != "":
		return named.Name
	case named.Type == "any":
		return "required"
	default:
		return named.Type
	}
}

// unknown is the error for a type that the wire does not have.
func unknown(where, kind string) error {
	return fmt.Errorf("%s: the type %q is not known", where, kind)
}
