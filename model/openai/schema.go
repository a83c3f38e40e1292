package openai

import (
	"bytes"
	"encoding/json"
	"strings"
)

// emptySchema is that of a tool without arguments.
const emptySchema = `{"type":"object","properties":{}}`

// cleanSchema makes a schema one that servers take: of an object that says what it holds, and
// at the plain level only of keywords that every grammar knows.
func cleanSchema(schema json.RawMessage, level SchemaLevel) []byte {
	var s map[string]any
	if d := decodeNumbers(schema, &s); d != nil || s == nil {
		return []byte(emptySchema)
	}
	_, hasType := s["type"]
	_, hasProperties := s["properties"]
	if level == SchemaFull && hasType && hasProperties {
		var b bytes.Buffer
		_ = json.Compact(&b, schema) // it was decoded a moment ago
		return b.Bytes()
	}
	if level == SchemaPlain {
		p := plainer{root: s}
		s, _ = p.schema(s, 0).(map[string]any)
	}
	s["type"] = "object"
	if _, ok := s["properties"].(map[string]any); !ok {
		s["properties"] = map[string]any{}
	}
	b, err := encodeJSON(s)
	if err != nil {
		return []byte(emptySchema)
	}
	return b
}

// decodeNumbers keeps numbers as they are written.
func decodeNumbers(raw []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(to)
}

// encodeJSON writes members of maps sorted, so that equal schemas are equal bytes.
func encodeJSON(s any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return bytes.TrimSpace(b.Bytes()), err
}

// maxSchemaDepth ends schemas that refer to themselves.
const maxSchemaDepth = 12

// plainer takes out of a schema what simple servers refuse.
type plainer struct{ root map[string]any }

func (p plainer) schema(v any, depth int) any {
	s, ok := v.(map[string]any)
	if !ok || depth > maxSchemaDepth {
		return map[string]any{}
	}
	if ref, ok := s["$ref"].(string); ok {
		return p.schema(p.resolve(ref), depth+1)
	}
	out := map[string]any{}
	for name, value := range s {
		switch name {
		case "description", "required", "enum":
			out[name] = value
		case "type":
			out[name] = oneType(value)
		case "const":
			out["enum"] = []any{value}
		case "properties":
			out[name] = p.properties(value, depth)
		case "items":
			out[name] = p.schema(value, depth+1)
		case "anyOf", "oneOf":
			out["anyOf"] = p.list(value, depth)
		case "allOf":
			p.merge(out, value, depth)
		case "additionalProperties":
			if b, ok := value.(bool); ok {
				out[name] = b
			}
		}
	}
	return out
}

func (p plainer) properties(v any, depth int) map[string]any {
	out := map[string]any{}
	if all, ok := v.(map[string]any); ok {
		for name, s := range all {
			out[name] = p.schema(s, depth+1)
		}
	}
	return out
}

func (p plainer) list(v any, depth int) []any {
	out := []any{}
	if all, ok := v.([]any); ok {
		for _, s := range all {
			out = append(out, p.schema(s, depth+1))
		}
	}
	return out
}

// merge puts the members of all into one; what is there already stays.
func (p plainer) merge(out map[string]any, v any, depth int) {
	for _, s := range p.list(v, depth) {
		for name, value := range s.(map[string]any) {
			if _, ok := out[name]; !ok {
				out[name] = value
			}
		}
	}
}

// resolve finds what a reference within the schema stands for.
func (p plainer) resolve(ref string) any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	var at any = p.root
	for _, step := range strings.Split(path, "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return at
}

// oneType is the type of a value that may have several: the first that is not null.
func oneType(v any) any {
	all, ok := v.([]any)
	if !ok {
		return v
	}
	for _, t := range all {
		if t != "null" {
			return t
		}
	}
	return "string"
}
