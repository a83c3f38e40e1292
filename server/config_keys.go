package server

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe/internal/scrub"
)

// withoutSecrets removes members with keys, and replaces secrets in URLs and arguments by a mark.
// A client that sends the rest back as a change loses none of them: see withoutMarks.
func withoutSecrets(raw json.RawMessage) (configBody, error) {
	if len(raw) == 0 {
		return configBody("{}"), nil
	}
	clean, err := scrubbed(raw)
	if err != nil {
		return nil, err
	}
	return configBody(scrub.JSON(clean)), nil
}

// withoutMarks returns a change without the members that contain the mark of a secret, since
// clients send back the config they received.
func withoutMarks(change json.RawMessage) json.RawMessage {
	if !bytes.Contains(change, []byte(scrub.Mark)) {
		return change
	}
	out, err := keep(change, "", func(_, _ string, value json.RawMessage) bool {
		return value[0] == '{' || !bytes.Contains(value, []byte(scrub.Mark))
	})
	if err != nil {
		return change // not JSON, which the reader reports
	}
	return out
}

// secretMember reports whether a member holds a value that only the provider should see.
func secretMember(name string, value json.RawMessage) bool {
	return value[0] == '"' && (scrub.IsSecret(name) || strings.EqualFold(name, "clientSecret"))
}

// scrubbed copies a value without its secret members, in their order.
func scrubbed(raw json.RawMessage) (json.RawMessage, error) {
	return keep(raw, "", func(around, name string, value json.RawMessage) bool {
		return !secretMember(name, value) && (value[0] != '"' || !scrub.HoldsSecrets(around))
	})
}

// keep copies a value with those members of objects that are wanted, in their order. Around is the name
// of the member that an object is the value of.
func keep(raw json.RawMessage, around string, wanted func(around, name string, value json.RawMessage) bool) (json.RawMessage, error) {
	switch raw = bytes.TrimSpace(raw); {
	case bytes.HasPrefix(raw, []byte("{")):
		return keepMembers(raw, around, wanted)
	case bytes.HasPrefix(raw, []byte("[")):
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, err
		}
		out := json.RawMessage{'['}
		for i, item := range items {
			clean, err := keep(item, "", wanted)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, clean...)
		}
		return append(out, ']'), nil
	default:
		return raw, nil
	}
}

func keepMembers(raw json.RawMessage, around string, wanted func(around, name string, value json.RawMessage) bool) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := json.RawMessage{'{'}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if !wanted(around, name, value) {
			continue
		}
		if value, err = keep(value, name, wanted); err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(name) // a string
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}
