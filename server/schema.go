package server

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/lathe-agent/lathe"
)

// schema is a JSON Schema, of the dialect of OpenAPI 3.1. Members are written in this order.
type schema struct {
	Ref         string             `json:"$ref,omitempty"`
	Type        any                `json:"type,omitempty"` // a name, or several
	Description string             `json:"description,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Const       any                `json:"const,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	More        *schema            `json:"additionalProperties,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	AnyOf       []*schema          `json:"anyOf,omitempty"`
	OneOf       []*schema          `json:"oneOf,omitempty"`
	AllOf       []*schema          `json:"allOf,omitempty"`
	Kind        *discriminator     `json:"discriminator,omitempty"`
}

type discriminator struct {
	Property string            `json:"propertyName"`
	Mapping  map[string]string `json:"mapping,omitempty"`
}

// schemas collects the named ones that a document refers to.
type schemas struct {
	named map[string]*schema
	wire  map[reflect.Type]string // types of the vocabulary and their names
}

// of describes a Go type as encoding/json writes it. Types of the vocabulary write themselves;
// wire.txt has their schemas.
func (s *schemas) of(t reflect.Type) *schema {
	if name, ok := s.wire[t]; ok {
		return ref(name)
	}
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return &schema{}
	case reflect.TypeFor[lathe.Money]():
		return &schema{Type: "number"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Slice, reflect.Array:
		return &schema{Type: "array", Items: s.of(t.Elem())}
	case reflect.Map:
		return &schema{Type: "object", More: s.of(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	case reflect.Interface:
		return &schema{}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &schema{Type: "integer"}
	case reflect.Float64:
		return &schema{Type: "number"}
	default:
		panic("server: no schema for " + t.String())
	}
}

// object describes a struct. A named one goes to the schemas of the document.
func (s *schemas) object(t reflect.Type) *schema {
	name := ""
	if n, ok := reflect.Zero(t).Interface().(interface{ schemaName() string }); ok {
		name = n.schemaName()
	} else if t == reflect.TypeFor[lathe.LoginMethod]() {
		name = "ProviderAuthMethod"
	}
	if name != "" {
		if s.named[name] != nil {
			return ref(name)
		}
	}
	out := &schema{Type: "object", Properties: map[string]*schema{}}
	if name != "" {
		s.named[name] = out // before its members, which may hold it
	}
	for i := range t.NumField() {
		f := t.Field(i)
		member, optional := jsonName(f)
		if member == "" {
			continue
		}
		one := *s.of(f.Type)
		if words := f.Tag.Get("enum"); words != "" {
			one.Enum = strings.Split(words, ",")
		}
		one.Description = f.Tag.Get("doc")
		out.Properties[member] = &one
		if !optional {
			out.Required = append(out.Required, member)
		}
	}
	if name != "" {
		return ref(name)
	}
	return out
}

func ref(name string) *schema { return &schema{Ref: "#/components/schemas/" + name} }
