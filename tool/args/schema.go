// Package args validates and repairs the arguments that a model sent: it makes schemas from Go
// types, explains errors in words a model can use, and repairs common mistakes.
//
// It is pure, and knows nothing about tools but the names that other agents use for them. Start
// at Compile, Check and RepairInput.
package args

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// Schema is a compiled JSON schema: references are resolved, patterns are compiled. Nothing in
// it changes afterwards.
type Schema struct {
	Root     *jsonschema.Schema
	refs     map[string]*jsonschema.Schema // resolved ones, by the text of $ref
	patterns map[string]*regexp.Regexp     // by their text, only those Go can read
	missing  []string                      // references, patterns and types that cannot be used
}

// Compile reads a schema. What it cannot follow in one from outside (a reference to another
// document, a pattern of another dialect) is left out: such a member is then not checked.
func Compile(raw json.RawMessage) (*Schema, error) {
	if trimmed := skipSpace(raw, 0); trimmed == len(raw) || raw[trimmed] != '{' {
		return nil, errors.New("a schema is a JSON object")
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("not a JSON schema: %w", err)
	}
	return PrepareSchema(s, raw), nil
}

// kinds are the types that values have.
var kinds = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// PrepareSchema finds references and compiles patterns; raw is the document that references point into.
func PrepareSchema(root *jsonschema.Schema, raw []byte) *Schema {
	s := &Schema{Root: root, refs: map[string]*jsonschema.Schema{}, patterns: map[string]*regexp.Regexp{}}
	todo := []*jsonschema.Schema{root}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], children(next)...)
		if len(next.PropertyOrder) < len(next.Properties) {
			next.PropertyOrder = slices.Sorted(maps.Keys(next.Properties))
		}
		for _, t := range typesOf(next) {
			if !slices.Contains(kinds, t) { // nothing would ever fit
				s.missing = append(s.missing, fmt.Sprintf("type %q: there are %s", phrase.Clip(t), strings.Join(kinds, ", ")))
			}
		}
		s.compilePattern(next.Pattern)
		for p := range next.PatternProperties {
			s.compilePattern(p)
		}
		if next.Ref == "" || s.refs[next.Ref] != nil {
			continue
		}
		target, err := point(root, raw, next.Ref)
		if err != nil {
			s.missing = append(s.missing, err.Error())
			continue
		}
		s.refs[next.Ref] = target
		todo = append(todo, target)
	}
	slices.Sort(s.missing) // the library keeps members in maps
	return s
}

func (s *Schema) compilePattern(p string) {
	if p == "" || s.patterns[p] != nil {
		return
	}
	re, err := regexp.Compile(p)
	if err != nil {
		s.missing = append(s.missing, fmt.Sprintf("pattern %q: %v", phrase.Clip(p), err))
		return
	}
	s.patterns[p] = re
}

// point finds what a reference inside the document points to.
func point(root *jsonschema.Schema, raw []byte, ref string) (*jsonschema.Schema, error) {
	fragment, local := strings.CutPrefix(ref, "#")
	if fragment == "" && local {
		return root, nil
	}
	path, err := url.PathUnescape(fragment)
	if !local || err != nil || !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("$ref %q: only places inside the schema (#/$defs/…) can be referred to", phrase.Clip(ref))
	}
	for _, step := range strings.Split(path[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var found []byte
		switch KindOf(raw[skipSpace(raw, 0):]) {
		case "object":
			for _, m := range Members(raw) {
				if m.Key == step {
					found = m.Val
				}
			}
		case "array":
			list := items(raw)
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(list) {
				found = list[i]
			}
		}
		if found == nil {
			return nil, fmt.Errorf("$ref %q: %q not found", phrase.Clip(ref), phrase.Clip(step))
		}
		raw = found
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("$ref %q: not a schema", phrase.Clip(ref))
	}
	return s, nil
}

// children returns the schemas inside s.
func children(s *jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case *jsonschema.Schema:
			out = append(out, f)
		case []*jsonschema.Schema:
			out = append(out, f...)
		case map[string]*jsonschema.Schema:
			for _, sub := range f {
				out = append(out, sub)
			}
		}
	}
	return slices.DeleteFunc(out, func(s *jsonschema.Schema) bool { return s == nil })
}

// CheckSchema refuses a schema that cannot be used for the input of a tool or for a
// structured answer: no object, a reference out of itself, a pattern Go cannot read.
func CheckSchema(raw json.RawMessage) error {
	s, err := compileGiven(raw)
	if err == nil && len(s.missing) > 0 {
		err = lathe.Errorf(lathe.Invalid, "the schema cannot be used: %s", strings.Join(s.missing, "; "))
	}
	return err
}

// compileGiven compiles a schema from outside, which may be anything.
func compileGiven(raw json.RawMessage) (*Schema, error) {
	if !json.Valid(raw) {
		return nil, lathe.Errorf(lathe.Invalid, "the schema is not JSON")
	}
	s, err := Compile(raw)
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "the schema cannot be used: %w", err)
	}
	return s, nil
}

// follow goes through references, and into the one choice that is left beside null.
func (s *Schema) follow(sub *jsonschema.Schema) (target *jsonschema.Schema, nullable bool) {
	for range 32 { // a reference to itself would never end
		switch {
		case sub == nil:
			return nil, nullable
		case sub.Ref != "":
			sub = s.refs[sub.Ref]
		case len(typesOf(sub)) == 0 && len(sub.AnyOf)+len(sub.OneOf) == 2:
			choice := append(slices.Clone(sub.AnyOf), sub.OneOf...)
			i := slices.IndexFunc(choice, func(c *jsonschema.Schema) bool { return c.Type == "null" })
			if i < 0 {
				return sub, nullable
			}
			nullable = true
			sub = choice[1-i]
		default:
			return sub, nullable || slices.Contains(typesOf(sub), "null")
		}
	}
	return nil, nullable
}

func typesOf(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

// accepts reports whether a value of the kind is of one of the types.
func accepts(types []string, kind string) bool {
	return len(types) == 0 || slices.Contains(types, kind) || kind == "integer" && slices.Contains(types, "number")
}
