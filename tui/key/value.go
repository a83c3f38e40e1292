package key

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// parseValue reads the value of a setting: a text with keys, "none", false, an object with a key, or a list of
// those.
func parseValue(raw json.RawMessage) ([]chord, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, errNotKeys
		}
		var out []chord
		for _, item := range list {
			if item = bytes.TrimSpace(item); len(item) > 0 && item[0] == '[' {
				return nil, errors.New("a list of keys cannot contain another list")
			}
			set, err := parseValue(item)
			if err != nil {
				return nil, err
			}
			out = appendNew(out, set)
		}
		return out, nil
	}
	return parseOne(raw)
}

var errNotKeys = errors.New(`write keys as "ctrl+k", "ctrl+k,f2", "none", false, {"key": "ctrl+k"} or a list of these`)

// parseOne reads one value of a keybinding: a string, an object, or false for no key.
func parseOne(raw json.RawMessage) ([]chord, error) {
	if len(raw) == 0 {
		return nil, errNotKeys
	}
	switch raw[0] {
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, errNotKeys
		}
		return parseKeys(s)
	case '{':
		return parseObject(raw)
	default:
		if string(raw) == "false" {
			return nil, nil
		}
		return nil, errNotKeys
	}
}

// parseObject reads {key, event?, preventDefault?, fallthrough?}. The last two have no effect here: the first
// region that uses a key handles it.
func parseObject(raw json.RawMessage) ([]chord, error) {
	var o struct {
		Key            *string `json:"key"`
		Event          string  `json:"event"`
		PreventDefault bool    `json:"preventDefault"`
		Fallthrough    bool    `json:"fallthrough"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&o); err != nil || o.Key == nil {
		return nil, fmt.Errorf(`an object needs "key" and can have "event", "preventDefault" and "fallthrough"`)
	}
	if o.Event != "" && o.Event != "press" {
		return nil, fmt.Errorf(`most terminals do not report the event %q; omit it, or write "press"`, o.Event)
	}
	return parseKeys(*o.Key)
}

// parseKeys reads keys with commas between them. A comma where a key should begin is the key of that name.
func parseKeys(s string) ([]chord, error) {
	if strings.EqualFold(strings.TrimSpace(s), "none") {
		return nil, nil
	}
	var out []chord
	for _, word := range splitKeys(s) {
		c, err := parseChord(word)
		if err != nil {
			return nil, err
		}
		out = appendNew(out, []chord{c})
	}
	return out, nil
}

// splitKeys splits at commas, but not at a comma that is itself a key.
func splitKeys(s string) []string {
	var out []string
	start := 0
	for i := 0; i < len(s); i++ {
		if s[i] != ',' {
			continue
		}
		word := strings.TrimSpace(s[start:i])
		if word == "" || strings.HasSuffix(strings.ToLower(word), leaderMark) || strings.HasSuffix(word, "+") && !isPlusKey(word) {
			continue
		}
		out = append(out, s[start:i])
		start = i + 1
	}
	return append(out, s[start:])
}

// isPlusKey reports whether a text ends with the key + and not with the sign behind a modifier.
func isPlusKey(word string) bool {
	return word == "+" || strings.HasSuffix(word, "++") || strings.HasSuffix(strings.ToLower(word), leaderMark+"+")
}

func appendNew(out, more []chord) []chord {
	for _, c := range more {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
