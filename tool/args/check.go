package args

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// The library that reads schemas also checks values, but it stops at the first fault, names
// the place in the schema instead of the place in the value, and a schema that refers to
// itself overflows its stack, which ends the process. A model wants all faults at once and a
// schema may come from anywhere, so the check is ours.

const (
	maxDepth  = 200 // of a value inside the schemas that describe it, references included
	maxFaults = 100
	// mostListed is how many choices a message has.
	mostListed = 40
)

// checker walks a value along a schema.
type checker struct {
	schema *Schema
	faults Faults
	depth  int
	left   int // bytes that may still be looked at: choices inside choices may double at every level
}

// Check returns all that is wrong; raw is valid JSON without space before it.
func Check(s *Schema, raw []byte) Faults {
	c := checker{schema: s, left: 1<<20 + 200*len(raw)}
	c.value(s.Root, raw, nil)
	if c.left < 0 && len(c.faults) == 0 { // lost inside a choice or a negation
		c.fault(nil, "too complex to be checked")
	}
	return c.faults
}

func (c *checker) fault(at *place, format string, args ...any) {
	c.faults = append(c.faults, Fault{Path: at.String(), Problem: fmt.Sprintf(format, args...)})
}

// count checks how many there are of something against the bounds of a schema, which may be nil.
func (c *checker) count(at *place, n int, least, most *int, noun, kind string) {
	if least != nil && n < *least {
		c.fault(at, "must have at least %s%s, has %d", phrase.Count(*least, noun), kind, n)
	}
	if most != nil && n > *most {
		c.fault(at, "must have at most %s%s, has %d", phrase.Count(*most, noun), kind, n)
	}
}

// value checks a value against its schema and collects every problem, not only the first.
func (c *checker) value(s *jsonschema.Schema, raw []byte, at *place) {
	if s == nil || c.left < 0 || len(c.faults) >= maxFaults {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.left -= 16 + len(raw); c.left < 0 || c.depth > maxDepth {
		c.left = -1
		c.fault(at, "nested too deep to be checked")
		return
	}
	if s.Ref != "" {
		c.value(c.schema.refs[s.Ref], raw, at)
	}
	kind, types := KindOf(raw), typesOf(s)
	if !accepts(types, kind) {
		c.fault(at, "must be %s, got %s", typeWords(types), shown(raw))
		return
	}
	if !c.enum(s, raw, at) {
		return
	}
	switch kind {
	case "integer", "number":
		c.number(s, raw, at)
	case "string":
		c.text(s, raw, at)
	case "array":
		c.array(s, raw, at)
	case "object":
		c.object(s, raw, at)
	}
	c.logic(s, raw, at)
}

func (c *checker) enum(s *jsonschema.Schema, raw []byte, at *place) bool {
	if s.Enum == nil && s.Const == nil {
		return true
	}
	value := decoded(raw)
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, value) }) {
		c.fault(at, "must be one of %s, got %s", listed(s.Enum), shown(raw))
		return false
	}
	if s.Const != nil && !reflect.DeepEqual(*s.Const, value) {
		c.fault(at, "must be %s, got %s", listed([]any{*s.Const}), shown(raw))
		return false
	}
	return true
}

func (c *checker) number(s *jsonschema.Schema, raw []byte, at *place) {
	if len(raw) < 300 && s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil &&
		s.ExclusiveMaximum == nil && s.MultipleOf == nil && !bytes.ContainsAny(raw, "eE") {
		return // nothing to compare, and not too large
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		c.fault(at, "%s is too large for a number", shown(raw))
		return
	}
	for _, limit := range []struct {
		bound *float64
		ok    func(bound float64) bool
		words string
	}{
		{s.Minimum, func(b float64) bool { return n >= b }, "at least"},
		{s.Maximum, func(b float64) bool { return n <= b }, "at most"},
		{s.ExclusiveMinimum, func(b float64) bool { return n > b }, "more than"},
		{s.ExclusiveMaximum, func(b float64) bool { return n < b }, "less than"},
		{s.MultipleOf, func(b float64) bool { return b == 0 || n/b == math.Trunc(n/b) }, "a multiple of"},
	} {
		if limit.bound != nil && !limit.ok(*limit.bound) {
			c.fault(at, "must be %s %s, got %s", limit.words, strconv.FormatFloat(*limit.bound, 'g', -1, 64), shown(raw))
		}
	}
}

func (c *checker) text(s *jsonschema.Schema, raw []byte, at *place) {
	if s.MinLength == nil && s.MaxLength == nil && s.Pattern == "" {
		return
	}
	text := Unquote(raw)
	c.count(at, utf8.RuneCountInString(text), s.MinLength, s.MaxLength, "character", "")
	if re := c.schema.patterns[s.Pattern]; re != nil && !re.MatchString(text) {
		c.fault(at, "must match the pattern %s, got %s", phrase.Clip(s.Pattern), shown(raw))
	}
}

func (c *checker) array(s *jsonschema.Schema, raw []byte, at *place) {
	list := items(raw)
	c.count(at, len(list), s.MinItems, s.MaxItems, "item", "")
	first, rest := s.PrefixItems, s.Items
	if s.ItemsArray != nil { // as older drafts have it
		first, rest = s.ItemsArray, s.AdditionalItems
	}
	for i, item := range list {
		sub := rest
		if i < len(first) {
			sub = first[i]
		}
		if sub != nil {
			c.value(sub, item, at.item(i))
		}
	}
	if s.UniqueItems {
		c.unique(list, at)
	}
	if s.Contains != nil {
		c.contains(s, list, at)
	}
}

func (c *checker) unique(list [][]byte, at *place) {
	seen := make(map[string]bool, len(list))
	for i, item := range list {
		canonical, _ := json.Marshal(decoded(item)) // a decoded value always encodes
		if seen[string(canonical)] {
			c.fault(at.item(i), "is there twice: %s", shown(item))
		}
		seen[string(canonical)] = true
	}
}

func (c *checker) contains(s *jsonschema.Schema, list [][]byte, at *place) {
	n := 0
	for _, item := range list {
		if len(c.try(s.Contains, item, at)) == 0 {
			n++
		}
	}
	c.count(at, n, cmp.Or(s.MinContains, new(1)), s.MaxContains, "item", " of the kind the schema asks for")
}

func (c *checker) object(s *jsonschema.Schema, raw []byte, at *place) {
	ms := object(lastOfEach(Members(raw)))
	lost := c.required(s, ms, at)
	for _, name := range s.PropertyOrder {
		if val := ms.find(name); val != nil {
			c.value(s.Properties[name], val, at.member(name))
		}
	}
	for _, m := range ms {
		if s.PropertyNames != nil {
			c.value(s.PropertyNames, AppendText(nil, m.Key), at.member(m.Key))
		}
		c.other(s, m, at, lost)
	}
	c.count(at, len(ms), s.MinProperties, s.MaxProperties, "member", "")
	c.dependent(s, raw, ms, at)
}

// required reports the members that are missing, and whether any is.
func (c *checker) required(s *jsonschema.Schema, ms object, at *place) bool {
	lost := false
	for _, name := range s.Required {
		if ms.find(name) == nil {
			lost = true
			c.fault(at.member(name), "required, missing")
		}
	}
	return lost
}

// other checks a member that is not among the properties. Where one of those is missing, it is
// named: it may be the one that was meant.
func (c *checker) other(s *jsonschema.Schema, m Member, at *place, lost bool) {
	matched := s.Properties[m.Key] != nil
	if matched && len(s.PatternProperties) == 0 {
		return
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.PatternProperties)) {
		if re := c.schema.patterns[pattern]; re == nil || re.MatchString(m.Key) {
			matched = true
			if re != nil {
				c.value(s.PatternProperties[pattern], m.Val, at.member(m.Key))
			}
		}
	}
	switch {
	case matched:
	case isFalse(s.AdditionalProperties):
		c.fault(at.member(m.Key), "not known here; the members are %s", JoinNames(s.PropertyOrder))
	case s.AdditionalProperties != nil:
		c.value(s.AdditionalProperties, m.Val, at.member(m.Key))
	case lost && len(s.Properties) > 0:
		c.fault(at.member(m.Key), "not known here, ignored; the members are %s", JoinNames(s.PropertyOrder))
	}
}

// place is where in the input a value is; nil is the input itself. It becomes a text only
// when there is a fault to tell of.
type place struct {
	in    *place
	name  string
	index int // of an item, where name is empty and known is false
	known bool
}

func (p *place) member(name string) *place { return &place{in: p, name: name, known: true} }

func (p *place) item(i int) *place { return &place{in: p, index: i} }

func (p *place) String() string {
	switch {
	case p == nil:
		return ""
	case !p.known:
		return fmt.Sprintf("%s[%d]", p.in, p.index)
	case p.in == nil:
		return phrase.Clip(p.name)
	default:
		return p.in.String() + "." + phrase.Clip(p.name)
	}
}

// isFalse reports whether nothing fits.
func isFalse(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && reflect.ValueOf(*s.Not).IsZero()
}

func decoded(raw []byte) any {
	var v any
	_ = json.Unmarshal(raw, &v) // it is valid
	return v
}

// shown is a value as a message shows it.
func shown(raw []byte) string {
	const most = 1000 // bytes looked at; clip counts characters
	return phrase.Clip(strings.ToValidUTF8(string(raw[:min(len(raw), most)]), ""))
}

func typeWords(types []string) string {
	var out []string
	for _, t := range types {
		switch t {
		case "integer", "array", "object":
			out = append(out, "an "+t)
		case "boolean":
			out = append(out, "true or false")
		case "null":
			out = append(out, t)
		default:
			out = append(out, "a "+t)
		}
	}
	return strings.Join(out, " or ")
}

func listed(values []any) string {
	var out []string
	for _, v := range values {
		b, _ := json.Marshal(v) // it was decoded from JSON
		out = append(out, shown(b))
	}
	return clipList(out, mostListed, ", ")
}

func JoinNames(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, strconv.Quote(phrase.Clip(n)))
	}
	return clipList(out, mostListed, ", ")
}

// clipList keeps a long list readable.
func clipList(list []string, most int, between string) string {
	if len(list) > most {
		list = append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(list, between)
}
