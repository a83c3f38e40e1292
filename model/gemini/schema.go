package gemini

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// cleanSchema cuts a JSON schema down to what the provider takes: it knows a part of an
// older draft and refuses the rest. An empty object stands for no parameters at all.
func cleanSchema(schema json.RawMessage) json.RawMessage {
	var v map[string]any
	if json.Unmarshal(schema, &v) != nil {
		return nil
	}
	c, ok := cleanValue(v, 0).(map[string]any)
	if !ok {
		return nil
	}
	if props, _ := c["properties"].(map[string]any); c["type"] == "object" && len(props) == 0 {
		return nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	return b
}

// taken are the keys of a schema the provider knows.
var taken = []string{
	"type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties", "required",
	"minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf", "propertyOrdering",
}

const maxDepth = 64

// cleanValue reduces a JSON schema to the subset that Gemini accepts.
func cleanValue(v any, depth int) any {
	in, ok := v.(map[string]any)
	if !ok || depth > maxDepth {
		return map[string]any{"type": "string"} // true, false and what is too deep
	}
	in = foldUnions(in)
	out := map[string]any{}
	for _, key := range taken {
		if val, ok := in[key]; ok {
			out[key] = val
		}
	}
	if c, ok := in["const"]; ok {
		out["enum"] = []any{c}
	}
	cleanType(out)
	cleanEnum(out)
	if props, ok := out["properties"].(map[string]any); ok {
		for name, p := range props {
			props[name] = cleanValue(p, depth+1)
		}
		cleanRequired(out, props)
	} else {
		delete(out, "properties")
		delete(out, "required")
	}
	if items, ok := out["items"]; ok || out["type"] == "array" {
		out["items"] = cleanValue(items, depth+1)
	}
	if list, ok := out["anyOf"].([]any); ok {
		for i := range list {
			list[i] = cleanValue(list[i], depth+1)
		}
	}
	return out
}

// foldUnions writes oneOf and allOf as what the provider has: anyOf, and one object.
func foldUnions(in map[string]any) map[string]any {
	out := maps.Clone(in)
	if out == nil {
		out = map[string]any{}
	}
	if list, ok := out["oneOf"].([]any); ok && out["anyOf"] == nil {
		out["anyOf"] = list
	}
	if list, ok := out["allOf"].([]any); ok {
		for _, one := range list {
			addMissing(out, one)
		}
	}
	if list, ok := out["anyOf"].([]any); ok {
		rest := slices.DeleteFunc(slices.Clone(list), isNull)
		if len(rest) < len(list) {
			out["nullable"] = true
		}
		out["anyOf"] = rest
		if one, ok := first(rest).(map[string]any); ok && len(rest) == 1 {
			delete(out, "anyOf")
			addMissing(out, one)
		}
	}
	return out
}

// addMissing adds the missing members of an object.
func addMissing(to map[string]any, object any) {
	m, _ := object.(map[string]any)
	for k, v := range m {
		if _, has := to[k]; !has {
			to[k] = v
		}
	}
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func isNull(v any) bool {
	m, ok := v.(map[string]any)
	return ok && m["type"] == "null"
}

// cleanType turns a list of types into one that may be null, or into alternatives.
func cleanType(out map[string]any) {
	list, ok := out["type"].([]any)
	if !ok {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == "null" })
	if len(rest) < len(list) {
		out["nullable"] = true
	}
	if len(rest) == 1 {
		out["type"] = rest[0]
		return
	}
	delete(out, "type")
	var kinds []any
	for _, t := range rest {
		kinds = append(kinds, map[string]any{"type": t})
	}
	if len(kinds) > 0 {
		out["anyOf"] = kinds
	}
}

// cleanEnum: only strings can be enumerated.
func cleanEnum(out map[string]any) {
	list, ok := out["enum"].([]any)
	if !ok {
		return
	}
	for i, v := range list {
		if _, isText := v.(string); !isText {
			list[i] = fmt.Sprint(v)
		}
	}
	out["type"], out["enum"] = "string", list
	delete(out, "format")
}

// cleanRequired keeps the names that are properties.
func cleanRequired(out, props map[string]any) {
	list, ok := out["required"].([]any)
	if !ok {
		return
	}
	list = slices.DeleteFunc(slices.Clone(list), func(v any) bool {
		name, _ := v.(string)
		_, has := props[name]
		return !has
	})
	if len(list) == 0 {
		delete(out, "required")
		return
	}
	out["required"] = list
}
