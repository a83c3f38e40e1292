package config

import "encoding/json"

// Schema is the JSON schema of config files, for editors.
func Schema() []byte { return schemaOf(settings(), "lathe config") }

func schemaOf(s *spec, title string) []byte {
	m := s.jsonSchema()
	m["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	m["title"] = title
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil { // a table of strings and numbers always encodes
		panic(err)
	}
	return append(b, '\n')
}

// jsonSchema describes a value for editors, with the same words as the reference page.
func (s *spec) jsonSchema() map[string]any {
	out := map[string]any{}
	if s.doc != "" {
		out["description"] = s.doc
	}
	if s.any != nil {
		var any []map[string]any
		for _, a := range s.any {
			any = append(any, a.jsonSchema())
		}
		out["anyOf"] = any
		return out
	}
	switch s.kind {
	case isObject:
		s.objectSchema(out)
	case isArray:
		s.arraySchema(out)
	case isNumber:
		s.numberSchema(out)
	case isBool:
		out["type"] = "boolean"
		if s.enum != nil {
			out["const"] = false // the only value a switch is ever narrowed to
		}
	case isString:
		s.stringSchema(out)
	}
	return out
}

func (s *spec) stringSchema(out map[string]any) {
	out["type"] = "string"
	switch {
	case s.enum != nil && s.match != nil:
		out["anyOf"] = []map[string]any{{"enum": s.enum}, {"pattern": s.match.String()}}
	case s.enum != nil:
		out["enum"] = s.enum
	case s.match != nil:
		out["pattern"] = s.match.String()
	}
}

func (s *spec) numberSchema(out map[string]any) {
	out["type"] = "number"
	if s.whole {
		out["type"] = "integer"
	}
	switch {
	case s.bound && s.above:
		out["exclusiveMinimum"] = s.least
	case s.bound:
		out["minimum"] = s.least
	}
	if s.most > 0 && s.most < 1<<53 {
		out["maximum"] = s.most
	}
}

func (s *spec) arraySchema(out map[string]any) {
	out["type"] = "array"
	if s.first != nil {
		out["prefixItems"], out["minItems"] = []map[string]any{s.first.jsonSchema()}, 1
	}
	if s.items != nil {
		out["items"] = s.items.jsonSchema()
	}
}

// objectSchema describes the known keys, and allows unknown ones as loading does.
func (s *spec) objectSchema(out map[string]any) {
	out["type"] = "object"
	props, required := map[string]any{}, []string{}
	for _, e := range s.keys {
		p := e.spec.jsonSchema()
		if e.old != "" {
			p["deprecated"], p["description"] = true, "Deprecated: "+e.old
		}
		props[e.key] = p
		if e.must {
			required = append(required, e.key)
		}
	}
	if s.keys != nil {
		out["properties"] = props
	}
	if len(required) > 0 {
		out["required"] = required
	}
	if s.rest != nil {
		out["additionalProperties"] = s.rest.jsonSchema()
	}
}
