package args

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// logic checks what a schema says by other schemas of the same value.
func (c *checker) logic(s *jsonschema.Schema, raw []byte, at *place) {
	for _, sub := range s.AllOf {
		c.value(sub, raw, at)
	}
	if s.AnyOf != nil {
		c.choose(s.AnyOf, raw, at)
	}
	if s.OneOf != nil && c.choose(s.OneOf, raw, at) > 1 {
		c.fault(at, "fits more than one of the forms the schema allows; it must fit exactly one")
	}
	switch {
	case s.Not == nil:
	case isFalse(s):
		c.fault(at, "not allowed")
	case len(c.try(s.Not, raw, at)) == 0:
		c.fault(at, "is what the schema excludes: %s", shown(raw))
	}
	if s.If == nil {
		return
	}
	if len(c.try(s.If, raw, at)) == 0 {
		c.value(s.Then, raw, at)
	} else {
		c.value(s.Else, raw, at)
	}
}

// try returns what is wrong with a value without counting it as wrong.
func (c *checker) try(s *jsonschema.Schema, raw []byte, at *place) Faults {
	outer := c.faults
	c.faults = nil
	c.value(s, raw, at)
	out := c.faults
	c.faults = outer
	if c.left < 0 && len(out) == 0 { // not looked at is not right
		out = Faults{{Path: at.String(), Problem: "too complex to be checked"}}
	}
	return out
}

// choose returns how many of the forms fit. If none does, it reports the faults of the form
// that comes nearest: one of the right type, with the fewest faults.
func (c *checker) choose(forms []*jsonschema.Schema, raw []byte, at *place) int {
	fit := 0
	var best Faults
	var types []string
	for _, form := range forms {
		faults := c.try(form, raw, at)
		if len(faults) == 0 {
			fit++
			continue
		}
		target, _ := c.schema.follow(form)
		if target != nil && !accepts(typesOf(target), KindOf(raw)) {
			types = append(types, typesOf(target)...)
			continue
		}
		if best == nil || len(faults) < len(best) {
			best = faults
		}
	}
	switch {
	case fit > 0:
	case best != nil:
		c.faults = append(c.faults, best...)
	case len(types) > 0:
		slices.Sort(types)
		c.fault(at, "must be %s, got %s", typeWords(slices.Compact(types)), shown(raw))
	default:
		c.fault(at, "fits none of the forms the schema allows")
	}
	return fit
}

// dependent checks what the presence of one member asks of others.
func (c *checker) dependent(s *jsonschema.Schema, raw []byte, ms object, at *place) {
	if len(s.DependentRequired)+len(s.DependencyStrings)+len(s.DependentSchemas)+len(s.DependencySchemas) == 0 {
		return
	}
	for _, needs := range []map[string][]string{s.DependentRequired, s.DependencyStrings} {
		for _, name := range slices.Sorted(maps.Keys(needs)) {
			if ms.find(name) == nil {
				continue
			}
			for _, other := range needs[name] {
				if ms.find(other) == nil {
					c.fault(at.member(other), "required beside %q, missing", strings.ToValidUTF8(name, ""))
				}
			}
		}
	}
	for _, schemas := range []map[string]*jsonschema.Schema{s.DependentSchemas, s.DependencySchemas} {
		for _, name := range slices.Sorted(maps.Keys(schemas)) {
			if ms.find(name) != nil {
				c.value(schemas[name], raw, at)
			}
		}
	}
}
