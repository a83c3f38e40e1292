package openai

import (
	"bytes"
	"encoding/json"
)

// emptySchema is that of a tool without arguments.
const emptySchema = `{"type":"object","properties":{}}`

// cleanSchema makes a schema one that servers accept: of an object with properties.
func cleanSchema(schema json.RawMessage) []byte {
	var s map[string]any
	if d := decodeNumbers(schema, &s); d != nil || s == nil {
		return []byte(emptySchema)
	}
	_, hasType := s["type"]
	_, hasProperties := s["properties"]
	if hasType && hasProperties {
		var b bytes.Buffer
		_ = json.Compact(&b, schema) // it was decoded a moment ago
		return b.Bytes()
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
