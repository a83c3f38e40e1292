package args

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Example is a value for a schema, made of what its descriptions say after their colon.
func Example(s *Schema, of *jsonschema.Schema, depth int) []byte {
	of, _ = s.follow(of)
	if of == nil || depth > maxDepth {
		return []byte("null")
	}
	types, text := typesOf(of), said(of)
	has := func(t string) bool { return slices.Contains(types, t) }
	switch {
	case has("object"):
		var ms []Member
		for _, name := range of.PropertyOrder {
			if slices.Contains(of.Required, name) {
				ms = append(ms, Member{name, Example(s, of.Properties[name], depth+1)})
			}
		}
		return AppendMembers(nil, ms)
	case has("array"):
		return slices.Concat([]byte{'['}, Example(s, of.Items, depth+1), []byte{']'})
	case has("boolean"):
		return []byte("false")
	case has("integer"), has("number"):
		if n, err := strconv.Atoi(text); err == nil {
			return strconv.AppendInt(nil, int64(n), 10)
		}
		return []byte("1")
	default:
		return AppendText(nil, text)
	}
}

// said is the value that a description has as an example: after its colon, else the first of a
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
