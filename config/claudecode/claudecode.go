// Package claudecode translates the project files of Claude Code into the format of lathe's config.
//
// It owns the correspondence of the two programs: settings, permission rules, MCP servers, agents,
// slash commands, hooks, and the names and arguments of tools. It is pure: it reads no file, no
// environment and no clock. Package config reads the files of a project with it, package hook speaks
// to hooks in its words, and `lathe import --from claude` writes its documents to a config file.
//
// Start reading at [Settings]. Each function returns a [Document], which is a part of a config file
// and the settings that have no counterpart.
package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Document is a part of lathe's config, made from a file of Claude Code.
type Document struct {
	// Config is an object in the format of lathe.json. The order of its rules matters.
	Config json.RawMessage
	// Warnings are the settings without an effect, in the order of the file.
	Warnings []Warning
}

// Warning says why a setting has no effect, or another one.
type Warning struct {
	Key     string // the setting, as a path with dots
	Message string
	// Important says that the user may rely on the setting, as on a rule that denies.
	Important bool
}

// notes collects warnings.
type notes []Warning

// add notes a setting without an effect that hardly matters.
func (n *notes) add(key, format string, args ...any) {
	*n = append(*n, Warning{Key: key, Message: fmt.Sprintf(format, args...)})
}

// important notes one that the user may rely on, so that every start shows it.
func (n *notes) important(key, format string, args ...any) {
	*n = append(*n, Warning{Key: key, Message: fmt.Sprintf(format, args...), Important: true})
}

const noCounterpart = "has no counterpart in lathe and is ignored"

// object is a JSON object that keeps the order of its members.
type object struct {
	keys   []string
	values map[string]any
}

// put sets a member. One that is there already moves to the end.
func (o *object) put(key string, value any) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, ok := o.values[key]; ok {
		o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
	}
	o.keys = append(o.keys, key)
	o.values[key] = value
}

// child returns the object under a key and makes it if it is missing.
func (o *object) child(key string) *object {
	if c, ok := o.values[key].(*object); ok {
		return c
	}
	c := &object{}
	o.put(key, c)
	return c
}

// isEmpty reports whether nothing was put in.
func (o *object) isEmpty() bool { return len(o.keys) == 0 }

// MarshalJSON writes the members in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, key := range o.keys {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.values[key])
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// document encodes a config. Its values come from JSON, so that they can be written as JSON.
func document(o *object, n notes) Document {
	text, err := json.Marshal(o)
	if err != nil {
		n.important("", "cannot be translated: %v", err)
		text = []byte("{}")
	}
	return Document{Config: text, Warnings: n}
}

// member is one setting of a file.
type member struct {
	key   string
	value json.RawMessage
}

// members reads an object in the order of its members. Names count letter by letter.
func members(text []byte) ([]member, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		if err == nil {
			err = errors.New("it must be an object")
		}
		return nil, syntaxError(text, err)
	}
	var out []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, syntaxError(text, err)
		}
		m := member{key: t.(string)} // a token before a value in an object is its name
		if err := d.Decode(&m.value); err != nil {
			return nil, syntaxError(text, err)
		}
		out = slices.DeleteFunc(out, func(o member) bool { return o.key == m.key }) // the last one counts
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, syntaxError(text, err)
	}
	return out, nil
}

// SyntaxError is a file that is not JSON.
type SyntaxError struct {
	Offset int // in bytes
	Err    error
}

func (e *SyntaxError) Error() string { return e.Err.Error() }

// Unwrap returns the decoder's own error.
func (e *SyntaxError) Unwrap() error { return e.Err }

// syntaxError adds the offset, so that people see the line.
func syntaxError(text []byte, err error) error {
	at := len(text)
	var bad *json.SyntaxError
	if errors.As(err, &bad) && int(bad.Offset) < at {
		at = int(bad.Offset)
	}
	return &SyntaxError{Offset: at, Err: err}
}

// decode reads a value of the expected kind, and notes one of another.
func decode[T any](n *notes, key string, value json.RawMessage) (out T, ok bool) {
	if err := json.Unmarshal(value, &out); err != nil {
		n.add(key, "must be %s and is ignored", kindOf(out))
		return out, false
	}
	return out, true
}

// kindOf names the kind of value that was expected.
func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case bool:
		return "true or false"
	case int, float64:
		return "a number"
	case []string:
		return "a list of strings"
	case map[string]string:
		return "an object of strings"
	default:
		return "an object"
	}
}

// wordList reads a list that is written as an array or as one string with commas.
func wordList(n *notes, key string, value json.RawMessage) []string {
	var list []string
	if json.Unmarshal(value, &list) == nil {
		return trimmed(list)
	}
	var line string
	if json.Unmarshal(value, &line) == nil {
		return splitRules(line)
	}
	n.add(key, "must be a list of strings and is ignored")
	return nil
}

// splitRules splits at commas and at spaces that are not in parentheses.
func splitRules(line string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range line {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth <= 0 && (r == ',' || r == ' ' || r == '\t'):
			out = append(out, line[start:i])
			start = i + 1
		}
	}
	return trimmed(append(out, line[start:]))
}

// trimmed leaves out what is empty.
func trimmed(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
