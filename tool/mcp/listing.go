package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// Limits of a server's lists. Real servers stay far below.
const (
	mostPages        = 1000
	mostTools        = 1000
	mostPrompts      = 1000
	mostResources    = 5000
	mostDescription  = 16 << 10
	mostSchema       = 128 << 10
	mostListed       = 4 << 20 // descriptions and schemas of all tools together
	mostInstructions = 2 << 10
	mostNotes        = 20
	mostError        = 32 << 10 // of the text of a failure
)

// listing is the tools, prompts and resources that a server offers. Its exported members are
// cached on disk.
type listing struct {
	Tools        []offer  `json:"tools,omitempty"`
	Prompts      []Prompt `json:"prompts,omitempty"`
	Instructions string   `json:"instructions,omitempty"`
	Resources    bool     `json:"resources,omitempty"` // it has some

	notes []string
}

// offer is a tool as its server describes it, cleaned.
type offer struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	ReadOnly    bool            `json:"readOnly,omitempty"`
	Repeatable  bool            `json:"repeatable,omitempty"` // doing it twice is as doing it once
}

// note adds what users should know of the lists.
func (l *listing) note(format string, args ...any) {
	if len(l.notes) < mostNotes {
		l.notes = append(l.notes, fmt.Sprintf(format, args...))
	}
}

// same reports whether two listings say the same; nil says nothing.
func (l *listing) same(other *listing) bool {
	if l == nil || other == nil {
		return l == other
	}
	a, err1 := json.Marshal(l)
	b, err2 := json.Marshal(other)
	return err1 == nil && err2 == nil && bytes.Equal(a, b)
}

// sameTools is same for the tools alone.
func (l *listing) sameTools(other *listing) bool {
	mine, theirs := &listing{}, &listing{}
	if l != nil {
		mine.Tools = l.Tools
	}
	if other != nil {
		theirs.Tools = other.Tools
	}
	return mine.same(theirs)
}

// list asks a server for everything it offers that can be cached.
func (l *conn) list(ctx context.Context) (*listing, error) {
	out := &listing{}
	init := l.session.InitializeResult()
	tools, prompts := true, false
	if init != nil {
		out.Instructions = phrase.Shorten(strings.TrimSpace(clean(init.Instructions)), mostInstructions)
		if c := init.Capabilities; c != nil {
			prompts, out.Resources = c.Prompts != nil, c.Resources != nil
			tools = c.Tools != nil || !prompts && !out.Resources // a server without declarations may still have tools
		}
	}
	if tools {
		if err := l.listTools(ctx, out); err != nil {
			return nil, fmt.Errorf("list its tools: %w", err)
		}
	}
	if prompts {
		if err := l.listPrompts(ctx, out); err != nil { // which are worth less than its tools
			out.note("its prompts could not be listed: %s", l.p.show(err))
		}
	}
	return out, nil
}

// listTools fetches all pages of the server's tools and skips unusable ones.
func (l *conn) listTools(ctx context.Context, out *listing) error {
	names, size := map[string]bool{}, 0
	more, err := l.pages(ctx, "tools/list", "tools", mostTools, func(raw json.RawMessage) {
		o, err := readOffer(raw)
		switch {
		case err != nil:
			out.note("a tool was left out: %v", err)
			return
		case names[sanitize(o.Name)]:
			out.note("tool %s was left out: the server has another of that name", phrase.Shorten(o.Name, 100))
			return
		}
		if size += len(o.Description) + len(o.Schema); size > mostListed {
			out.note("tool %s was left out: the descriptions of the server's tools are larger than %d MiB", phrase.Shorten(o.Name, 100), mostListed>>20)
			return
		}
		names[sanitize(o.Name)] = true
		out.Tools = append(out.Tools, o)
	})
	if more {
		out.note("only the first %d tools are used", mostTools)
	}
	var said *serverError
	if errors.As(err, &said) && said.code == -32601 { // there is no such method: it has none
		return nil
	}
	return err
}

// pages reads a list to its end, or until there is more than is wanted.
func (l *conn) pages(ctx context.Context, method, member string, most int, each func(json.RawMessage)) (more bool, err error) {
	seen, cursor, n := map[string]bool{}, "", 0
	for range mostPages {
		raw, err := l.ask(ctx, method, &question{Cursor: cursor})
		if err != nil {
			return false, err
		}
		var page map[string]json.RawMessage
		var items []json.RawMessage
		if json.Unmarshal(raw, &page) != nil || present(page[member]) && json.Unmarshal(page[member], &items) != nil {
			return false, fmt.Errorf("the answer to %s cannot be read", method)
		}
		for _, item := range items {
			if n++; n > most {
				return true, nil
			}
			each(item)
		}
		cursor = textOf(page["nextCursor"])
		switch {
		case cursor == "":
			return false, nil
		case seen[cursor]:
			return false, fmt.Errorf("%s repeats itself: the server gives the same cursor twice", method)
		}
		seen[cursor] = true
	}
	return false, fmt.Errorf("%s does not end: more than %d pages", method, mostPages)
}

// present reports whether a member is there and says something.
func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// textOf is a text of JSON, "" for all else.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func isTrue(raw json.RawMessage) bool { return string(raw) == "true" }

// readOffer reads a tool; what of it is odd is as if it were not there.
func readOffer(raw json.RawMessage) (offer, error) {
	var m, hints, execution map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return offer{}, errors.New("it is not an object")
	}
	name := textOf(m["name"])
	if strings.TrimSpace(name) == "" || len(name) > 256 {
		return offer{}, errors.New("it has no usable name")
	}
	_ = json.Unmarshal(m["annotations"], &hints) // they are hints
	if json.Unmarshal(m["execution"], &execution) == nil && textOf(execution["taskSupport"]) == "required" {
		return offer{}, fmt.Errorf("%s can only be run as a task, which is not supported", line(name, 100))
	}
	description := cmp.Or(strings.TrimSpace(clean(textOf(m["description"]))), line(textOf(m["title"]), 500))
	return offer{
		Name: name, Description: phrase.Shorten(description, mostDescription), Schema: usable(m["inputSchema"]),
		ReadOnly: isTrue(hints["readOnlyHint"]), Repeatable: isTrue(hints["idempotentHint"]) || isTrue(hints["readOnlyHint"]),
	}, nil
}

// anything is the schema of a tool that has none which could be used: its server judges the input.
const anything = `{"type":"object","properties":{}}`

// usable is a schema as models are shown it: an object with properties that takes no others.
// Its other members and their order are the server's. A schema that allows other properties
// stays so, and one without properties stays open: closed, it could not be called.
func usable(raw json.RawMessage) json.RawMessage {
	members, ok := membersOf(raw)
	if !ok || len(raw) > mostSchema || deep(raw, mostDepth) {
		return json.RawMessage(anything)
	}
	var out bytes.Buffer
	out.WriteByte('{')
	put := func(name string, value []byte) {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		key, _ := json.Marshal(name) // a text
		out.Write(key)
		out.WriteByte(':')
		_ = json.Compact(&out, value) // it was valid
	}
	had := map[string]bool{}
	for _, m := range members {
		switch {
		case had[m.name], m.name == "$ref" && textOf(m.value) == "#": // which is itself, without end
			continue
		case m.name == "type":
			m.value = json.RawMessage(`"object"`)
		case m.name == "properties" && !isObject(m.value), m.name == "additionalProperties" && !isObject(m.value) && !isTrue(m.value):
			continue
		}
		had[m.name] = true
		put(m.name, m.value)
	}
	named := had["properties"]
	for _, m := range []member{{"type", []byte(`"object"`)}, {"properties", []byte(`{}`)}, {"additionalProperties", []byte(`false`)}} {
		if !had[m.name] && (m.name != "additionalProperties" || named) {
			put(m.name, m.value)
		}
	}
	out.WriteByte('}')
	return out.Bytes()
}

type member struct {
	name  string
	value json.RawMessage
}

// membersOf are those of an object, in their order.
func membersOf(raw json.RawMessage) ([]member, bool) {
	if !isObject(raw) || !json.Valid(raw) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	var out []member
	for d.More() {
		name, err := d.Token()
		text, isText := name.(string)
		var value json.RawMessage
		if err != nil || !isText || d.Decode(&value) != nil {
			return nil, false
		}
		out = append(out, member{text, value})
	}
	return out, true
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{"))
}

// mostDepth is how deep a schema may be nested.
const mostDepth = 64

// deep reports whether valid JSON is nested deeper than that.
func deep(raw []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
