package claudecode

import (
	"encoding/json"
	"strings"
)

// MCP translates the servers of a file .mcp.json, or of "mcpServers" in another. env answers ${NAME} and
// ${NAME:-default}; nil leaves them as they are, for a project that is not trusted.
func MCP(text []byte, env func(string) (string, bool)) (Document, error) {
	list, err := members(text)
	if err != nil {
		return Document{Config: json.RawMessage("{}")}, err
	}
	var out object
	var n notes
	for _, m := range list {
		if m.key != "mcpServers" {
			if m.key != "$schema" {
				n.add(m.key, noCounterpart)
			}
			continue
		}
		servers, err := members(m.value)
		if err != nil {
			n.add(m.key, "must be an object and is ignored")
			continue
		}
		for _, s := range servers {
			translate := serverTranslator{key: m.key + "." + s.key, env: env, notes: &n}
			if config := translate.server(s.value); config != nil {
				out.child("mcp").put(s.key, config)
			}
		}
	}
	return document(&out, n), nil
}

// serverTranslator translates one server and collects the variables that it lacks.
type serverTranslator struct {
	key     string
	env     func(string) (string, bool)
	notes   *notes
	missing []string
}

// server translates one server; nil means that it cannot be used.
func (t *serverTranslator) server(value json.RawMessage) *object {
	list, err := members(value)
	if err != nil {
		t.notes.add(t.key, "must be an object and is ignored")
		return nil
	}
	in := map[string]json.RawMessage{}
	for _, m := range list {
		in[m.key] = m.value
	}
	kind, _ := t.text(in, "type")
	if kind == "" && in["url"] != nil && in["command"] == nil {
		kind = "http"
	}
	var out *object
	switch kind {
	case "", "stdio":
		out = t.local(in)
	case "http", "sse", "streamable-http":
		out = t.remote(in)
	default:
		t.notes.important(t.key, "a server of type %q %s", kind, noCounterpart)
		return nil
	}
	if out == nil {
		return nil
	}
	for _, m := range list {
		t.common(m, out)
	}
	if len(t.missing) > 0 {
		t.notes.important(t.key, "is disabled: the variable %s is not set", strings.Join(t.missing, ", "))
		out.put("enabled", false)
	}
	return out
}

// local translates a server that lathe starts. Without a command nothing can be started.
func (t *serverTranslator) local(in map[string]json.RawMessage) *object {
	command, ok := t.text(in, "command")
	if !ok || command == "" {
		t.notes.important(t.key, "has no command and is ignored")
		return nil
	}
	words := []string{command}
	if raw, ok := in["args"]; ok {
		args, _ := decode[[]string](t.notes, t.key+".args", raw)
		for _, a := range args {
			words = append(words, t.expand(a))
		}
	}
	out := &object{}
	out.put("type", "local")
	out.put("command", words)
	if raw, ok := in["env"]; ok {
		t.texts(raw, t.key+".env", out, "environment")
	}
	return out
}

// remote translates a server with an address.
func (t *serverTranslator) remote(in map[string]json.RawMessage) *object {
	address, ok := t.text(in, "url")
	if !ok || address == "" {
		t.notes.important(t.key, "has no url and is ignored")
		return nil
	}
	out := &object{}
	out.put("type", "remote")
	out.put("url", address)
	if raw, ok := in["headers"]; ok {
		t.texts(raw, t.key+".headers", out, "headers")
	}
	return out
}

// common translates the keys that all servers have.
func (t *serverTranslator) common(m member, out *object) {
	switch m.key {
	case "type", "command", "args", "env", "url", "headers":
	case "timeout":
		if ms, ok := decode[float64](t.notes, t.key+".timeout", m.value); ok && ms >= 1 {
			out.put("timeout", int64(ms))
		}
	case "disabled":
		if off, ok := decode[bool](t.notes, t.key+".disabled", m.value); ok && off {
			out.put("enabled", false)
		}
	default:
		t.notes.add(t.key+"."+m.key, noCounterpart)
	}
}

// text reads a string with its variables put in.
func (t *serverTranslator) text(in map[string]json.RawMessage, key string) (string, bool) {
	raw, ok := in[key]
	if !ok {
		return "", false
	}
	text, ok := decode[string](t.notes, t.key+"."+key, raw)
	return t.expand(text), ok
}

// texts translates an object of strings.
func (t *serverTranslator) texts(raw json.RawMessage, key string, out *object, to string) {
	list, err := members(raw)
	if err != nil {
		t.notes.add(key, "must be an object of strings and is ignored")
		return
	}
	for _, m := range list {
		if text, ok := decode[string](t.notes, key+"."+m.key, m.value); ok {
			out.child(to).put(m.key, t.expand(text))
		}
	}
}

// expand replaces ${NAME} and ${NAME:-default}. It notes a variable that is not set and has no default.
func (t *serverTranslator) expand(s string) string {
	if t.env == nil {
		return s
	}
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return out.String() + s
		}
		out.WriteString(before)
		name, standard, hasDefault := strings.Cut(name, ":-")
		switch value, set := t.env(name); {
		case set && (value != "" || !hasDefault):
			out.WriteString(value)
		case hasDefault:
			out.WriteString(standard)
		default:
			t.missing = append(t.missing, name)
		}
		s = after
	}
}
