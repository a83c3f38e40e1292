package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Some servers stream the arguments of a call value by value: each piece names its place by a JSON
// path, as $.files[0].name, and a string may come in many pieces. Paths come from outside, so what
// they can make is bounded.
const (
	mostDepth  = 64
	mostItems  = 100_000  // of one list; they are made one after the other
	mostBytes  = 32 << 20 // of all strings
	mostValues = 200_000  // of all kinds, in all
)

// partialArg is a piece of the arguments of a call.
type partialArg struct {
	Path         string          `json:"jsonPath"`
	String       *string         `json:"stringValue"`
	Number       json.RawMessage `json:"numberValue"`
	Bool         *bool           `json:"boolValue"`
	Null         *string         `json:"nullValue"`
	WillContinue bool            `json:"willContinue"`
}

// partialCall is a call whose arguments have not come to their end.
type partialCall struct {
	id, name, signature string
	args                *argument
	bytes, values       int
}

// argument is a value of the arguments; one of its members is set.
type argument struct {
	raw     json.RawMessage // a number, a word, or a value that came whole
	text    *strings.Builder
	open    bool // the string continues
	members map[string]*argument
	items   []*argument
}

// add puts a piece in its place.
func (c *partialCall) add(p partialArg) error {
	steps, err := parsePath(p.Path)
	if err != nil {
		return err
	}
	at := c.args
	for _, s := range steps {
		if at, err = c.child(at, s); err != nil {
			return fmt.Errorf("%s: %w", clipped(p.Path), err)
		}
	}
	switch {
	case p.String != nil:
		if c.bytes += len(*p.String); c.bytes > mostBytes {
			return fmt.Errorf("the arguments are longer than %d bytes", mostBytes)
		}
		if !at.open {
			*at = argument{text: &strings.Builder{}}
		}
		at.text.WriteString(*p.String)
		at.open = p.WillContinue
	case p.Bool != nil:
		*at = argument{raw: strconv.AppendBool(nil, *p.Bool)}
	case len(p.Number) > 0:
		*at = argument{raw: bytes.Clone(p.Number)}
	case p.Null != nil:
		*at = argument{raw: json.RawMessage("null")}
	}
	return nil
}

// take adds what one piece of the call says.
func (c *partialCall) take(f functionCall) error {
	if len(f.Args) > 0 && string(f.Args) != "null" {
		if err := c.whole(f.Args); err != nil {
			return err
		}
	}
	for _, p := range f.PartialArgs {
		if err := c.add(p); err != nil {
			return err
		}
	}
	return nil
}

// whole puts the members of arguments that came at once.
func (c *partialCall) whole(args json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(args, &members); err != nil {
		return err
	}
	for name, raw := range members {
		m, err := c.child(c.args, pathStep{name: name})
		if err != nil {
			return err
		}
		*m = argument{raw: bytes.Clone(raw)}
	}
	return nil
}

// child is the value at a step below another, made if it is not there. Items of a list are made in
// their order.
func (c *partialCall) child(at *argument, s pathStep) (*argument, error) {
	if at.raw != nil || at.text != nil {
		return nil, fmt.Errorf("a value has no members")
	}
	if s.isIndex {
		switch {
		case at.members != nil:
			return nil, fmt.Errorf("an object has no index")
		case s.index < len(at.items):
			return at.items[s.index], nil
		case s.index > len(at.items) || s.index >= mostItems:
			return nil, fmt.Errorf("the index %d is out of order", s.index)
		}
	} else if at.items != nil {
		return nil, fmt.Errorf("a list has no members")
	} else if m := at.members[s.name]; m != nil {
		return m, nil
	}
	if c.values++; c.values > mostValues {
		return nil, fmt.Errorf("the arguments have more than %d values", mostValues)
	}
	made := &argument{}
	if s.isIndex {
		at.items = append(at.items, made)
		return made, nil
	}
	if at.members == nil {
		at.members = map[string]*argument{}
	}
	at.members[s.name] = made
	return made, nil
}

// append writes the value as JSON.
func (a *argument) append(b []byte) []byte {
	switch {
	case a.raw != nil:
		return append(b, a.raw...)
	case a.text != nil:
		return lathe.AppendJSONString(b, a.text.String())
	case a.items != nil:
		b = append(b, '[')
		for i, item := range a.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(a.members)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.members[name].append(append(lathe.AppendJSONString(b, name), ':'))
	}
	return append(b, '}')
}

// pathStep is one step of a path: a member or an item.
type pathStep struct {
	name    string
	index   int
	isIndex bool
}

// parsePath reads the paths that name one value: $, .name, ['name'], ["name"] and [0].
func parsePath(path string) (steps []pathStep, err error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok || rest == "" {
		return nil, fmt.Errorf("%s is not the path of an argument", clipped(path))
	}
	for rest != "" {
		if len(steps) == mostDepth {
			return nil, fmt.Errorf("%s is deeper than %d values", clipped(path), mostDepth)
		}
		var s pathStep
		if s, rest, ok = parseStep(rest); !ok {
			return nil, fmt.Errorf("%s is not a path that is understood", clipped(path))
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// parseStep reads one step of a JSONPath: a name, a quoted name, or an index.
func parseStep(text string) (s pathStep, rest string, ok bool) {
	if name, isName := strings.CutPrefix(text, "."); isName {
		n := strings.IndexAny(name, ".[")
		if n < 0 {
			n = len(name)
		}
		return pathStep{name: name[:n]}, name[n:], n > 0 && name[:n] != "*"
	}
	inner, ok := strings.CutPrefix(text, "[")
	if !ok || inner == "" {
		return s, "", false
	}
	if quote := inner[0]; quote == '\'' || quote == '"' {
		name, rest, ok := strings.Cut(inner[1:], string(quote)+"]")
		return pathStep{name: name}, rest, ok && !strings.Contains(name, `\`)
	}
	digits, rest, ok := strings.Cut(inner, "]")
	n, err := strconv.ParseUint(digits, 10, 31)
	return pathStep{index: int(n), isIndex: true}, rest, ok && err == nil
}

func clipped(path string) string { return strconv.Quote(path[:min(len(path), 80)]) }
