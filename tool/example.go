package tool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// exampleOf shows a call of a tool that fits its schema, for a model whose call did not; "" for a
// tool of others, whose schema says too little.
func exampleOf(t Tool) string {
	c, ok := t.(*checked)
	if !ok || c.derived == nil || c.fitting() == nil {
		return ""
	}
	return fmt.Sprintf(" A call of %s looks like this: %s", c.spec.Name, example(c.schema, c.schema.root, 0))
}

// example is a value for a schema, made of what its descriptions say behind their colon.
func example(s *schema, of *jsonschema.Schema, depth int) []byte {
	of, _ = s.follow(of)
	if of == nil || depth > maxDepth {
		return []byte("null")
	}
	types, text := typesOf(of), said(of)
	has := func(t string) bool { return slices.Contains(types, t) }
	switch {
	case has("object"):
		var ms []member
		for _, name := range of.PropertyOrder {
			if slices.Contains(of.Required, name) {
				ms = append(ms, member{name, example(s, of.Properties[name], depth+1)})
			}
		}
		return appendMembers(nil, ms)
	case has("array"):
		return slices.Concat([]byte{'['}, example(s, of.Items, depth+1), []byte{']'})
	case has("boolean"):
		return []byte("false")
	case has("integer"), has("number"):
		if n, err := strconv.Atoi(text); err == nil {
			return strconv.AppendInt(nil, int64(n), 10)
		}
		return []byte("1")
	default:
		return appendText(nil, text)
	}
}

// said is the value that a description has as an example: behind its colon, else the first of a
// list, else the words themselves.
func said(s *jsonschema.Schema) string {
	if w := words(s.Enum); len(w) > 0 {
		return w[0]
	}
	if _, value, ok := strings.Cut(s.Description, ": "); ok {
		return value
	}
	if first, _, ok := strings.Cut(s.Description, ", "); ok {
		return first
	}
	return s.Description
}
