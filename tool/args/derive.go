package args

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Derive makes the schema of a struct: members by their json tags, in the order of the
// fields, required unless omitempty or omitzero; descriptions by jsonschema tags, allowed
// words by enum tags ("a,b"; of a list, for its items).
func Derive(t reflect.Type) (*jsonschema.Schema, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the input of a tool is a struct, not %s", t)
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[[]byte]():          {Type: "string"},
	}})
	if err != nil {
		return nil, err
	}
	simplify(s, t)
	return s, nil
}

// simplify removes parts that confuse models: null as a type, and the ban on unknown members,
// which they add anyway.
func simplify(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	switch {
	case s.Items != nil:
		simplify(s.Items, t.Elem())
	case t.Kind() == reflect.Map && s.AdditionalProperties != nil:
		simplify(s.AdditionalProperties, t.Elem())
	case t.Kind() == reflect.Struct && s.Properties != nil:
		s.AdditionalProperties = nil
		for _, f := range reflect.VisibleFields(t) {
			if p := s.Properties[jsonName(f)]; p != nil && !f.Anonymous {
				simplify(p, f.Type)
				addEnum(p, f.Tag.Get("enum"))
			}
		}
	case t.Kind() == reflect.Struct:
		s.AdditionalProperties = nil
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}

func addEnum(s *jsonschema.Schema, words string) {
	if words == "" {
		return
	}
	if s.Items != nil {
		s = s.Items
	}
	for word := range strings.SplitSeq(words, ",") {
		s.Enum = append(s.Enum, word)
	}
}

// AppendSchema writes a derived schema. The order of its keys is fixed, because a request
// must have the same bytes each time, and what is required comes before the members.
func AppendSchema(dst []byte, s *jsonschema.Schema) []byte {
	var ms []Member
	add := func(key string, val []byte) { ms = append(ms, Member{key, val}) }
	if s.Type != "" {
		add("type", AppendText(nil, s.Type))
	}
	if s.Description != "" {
		add("description", AppendText(nil, s.Description))
	}
	if len(s.Enum) > 0 {
		add("enum", AppendTexts(nil, words(s.Enum)))
	}
	for _, limit := range []struct {
		key   string
		value *float64
	}{{"minimum", s.Minimum}, {"maximum", s.Maximum}, {"minItems", float(s.MinItems)}, {"maxItems", float(s.MaxItems)}} {
		if limit.value != nil {
			add(limit.key, strconv.AppendFloat(nil, *limit.value, 'f', -1, 64))
		}
	}
	if s.Items != nil {
		add("items", AppendSchema(nil, s.Items))
	}
	if s.AdditionalProperties != nil {
		add("additionalProperties", AppendSchema(nil, s.AdditionalProperties))
	} else if s.Type == "object" {
		var properties []Member
		for _, name := range s.PropertyOrder {
			properties = append(properties, Member{name, AppendSchema(nil, s.Properties[name])})
		}
		add("required", AppendTexts(nil, s.Required))
		add("properties", AppendMembers(nil, properties))
	}
	return AppendMembers(dst, ms)
}

func AppendTexts(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendText(dst, s)
	}
	return append(dst, ']')
}

// words returns the texts among the values of an enum.
func words(enum []any) []string {
	var out []string
	for _, v := range enum {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func float(n *int) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}
