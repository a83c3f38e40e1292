package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/jsonrepair"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool/args"
)

// Set is the tools a model may call, by name. It does not change.
type Set struct {
	tools   []Tool // in the order they were given
	names   map[string]Tool
	lower   map[string]Tool // by the lower case of their names; nil where two share it
	invalid Tool
}

// NewSet makes a set. A later tool replaces an earlier one of the same name, in its place.
// The tool [Invalid] is always there.
func NewSet(tools ...Tool) *Set {
	s := &Set{names: map[string]Tool{}, lower: map[string]Tool{}, invalid: Invalid()}
	at := map[string]int{}
	for _, t := range append([]Tool{s.invalid}, tools...) {
		name := t.Spec().Name
		if i, ok := at[name]; ok {
			s.tools[i] = t
		} else {
			at[name] = len(s.tools)
			s.tools = append(s.tools, t)
		}
		s.names[name] = t
	}
	for _, t := range s.tools {
		low := strings.ToLower(t.Spec().Name)
		if _, twice := s.lower[low]; twice {
			s.lower[low] = nil
		} else {
			s.lower[low] = t
		}
	}
	return s
}

// Find returns the tool of exactly that name.
func (s *Set) Find(name string) (Tool, bool) {
	t, ok := s.names[name]
	return t, ok
}

// All returns every tool in the order given, hidden ones too.
func (s *Set) All() []Tool { return slices.Clone(s.tools) }

// Visible returns the tools to show to a model, sorted by name: a request must have the same
// bytes each time. It leaves out hidden tools and those hide says; hide may be nil.
//
// A call of a tool that was not shown is a call of an unknown tool: resolve calls in a set
// of what was shown.
func (s *Set) Visible(hide func(Spec) bool) []Tool {
	out := slices.DeleteFunc(s.All(), func(t Tool) bool {
		spec := t.Spec()
		return spec.Hidden || hide != nil && hide(spec)
	})
	slices.SortFunc(out, func(a, b Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return out
}

// Hidden returns whether rules take a tool out of a model's sight: the last rule for its
// permission, whatever its pattern, denies everything. A narrower denial leaves the tool
// visible and refuses the call.
func Hidden(rules ...lathe.Ruleset) func(Spec) bool {
	all := slices.Concat(rules...)
	return func(s Spec) bool {
		permission := cmp.Or(s.Permission, s.Name)
		for _, r := range slices.Backward(all) {
			if lathe.Wildcard(r.Permission, permission) {
				return r.Pattern == "*" && r.Action == lathe.Deny
			}
		}
		return false
	}
}

// Resolved is a call as it will be run.
type Resolved struct {
	Tool    Tool
	Input   json.RawMessage // a JSON object
	Repairs []args.Repair   // nil where none was needed
}

// Resolve is [Set.Repair] without the account of what was repaired.
func (s *Set) Resolve(name, input string) (t Tool, fixed json.RawMessage) {
	r := s.Repair(name, input)
	return r.Tool, r.Input
}

// Repair finds the tool a model meant and repairs its arguments. It never fails: a call of an
// unknown name, or with arguments that are not JSON, becomes a call of [Invalid] with the
// reason. Arguments that do not fit the schema are the tool's own to refuse.
func (s *Set) Repair(name, input string) Resolved {
	raw, repairs, err := arguments(input)
	t := s.named(name)
	if t == nil && err == nil {
		if r, ok := s.foreign(name, raw); ok {
			r.Repairs = append(repairs, r.Repairs...)
			return r
		}
	}
	switch {
	case t == nil:
		return s.refuse(name, s.unknown(name))
	case err != nil:
		return s.refuse(name, notJSON(t, err))
	}
	if t.Spec().Name != name {
		repairs = append(repairs, args.RepairTool)
	}
	fixed, more := fit(t, raw)
	return Resolved{Tool: t, Input: fixed, Repairs: append(repairs, more...)}
}

// named returns the tool of that name, also in other letters or with what models put around
// it; nil if there is none.
func (s *Set) named(name string) Tool {
	plain, _, _ := strings.Cut(name, "<|") // marks of a chat template
	plain = strings.TrimSpace(plain)
	if bare, number, ok := strings.Cut(plain, ":"); ok && strings.Trim(number, "0123456789") == "" {
		plain = bare // some count the calls of a step
	}
	for _, try := range []string{name, plain, bareName(plain)} {
		if t := s.names[try]; t != nil {
			return t
		}
		if t := s.names[strings.ToLower(try)]; t != nil {
			return t
		}
		if t := s.lower[strings.ToLower(try)]; t != nil {
			return t
		}
	}
	return nil
}

func bareName(name string) string {
	for _, prefix := range []string{"functions.", "default_api.", "tools.", "tool.", "container.", "repo_browser."} {
		if bare, ok := strings.CutPrefix(name, prefix); ok {
			return bare
		}
	}
	return name
}

// foreign finds a tool by the name another agent has for it, if the arguments fit it.
func (s *Set) foreign(name string, raw []byte) (Resolved, bool) {
	for _, ours := range args.EditorAliases(bareName(strings.TrimSpace(name)), raw) {
		t := s.names[ours]
		if t == nil {
			continue
		}
		schema := schemaOf(t)
		if schema == nil {
			continue
		}
		fixed, repairs := args.RepairInput(schema, raw)
		if len(args.Check(schema, fixed)) == 0 {
			return Resolved{Tool: t, Input: fixed, Repairs: append([]args.Repair{args.RepairTool}, repairs...)}, true
		}
	}
	return Resolved{}, false
}

func (s *Set) refuse(name, reason string) Resolved {
	input := args.AppendMembers(nil, []args.Member{
		{Key: "tool", Val: args.AppendText(nil, phrase.Clip(name))},
		{Key: "error", Val: args.AppendText(nil, reason)},
	})
	return Resolved{Tool: s.invalid, Input: input}
}

func (s *Set) unknown(name string) string {
	var names []string
	for _, t := range s.Visible(nil) {
		names = append(names, t.Spec().Name)
	}
	text := fmt.Sprintf("unknown tool %q.", phrase.Clip(name))
	for _, ours := range args.ToolAliases(bareName(strings.TrimSpace(name))) {
		if t := s.names[ours]; t != nil {
			return text + fmt.Sprintf(" What you mean is %s here, with other arguments.%s", ours, exampleOf(t))
		}
	}
	if near := args.Nearest(name, names); len(near) > 0 {
		text += fmt.Sprintf(" The nearest are: %s.", args.JoinNames(near))
	}
	return text
}

func notJSON(t Tool, err error) string {
	name := t.Spec().Name
	var e *jsonrepair.Error
	if errors.As(err, &e) && e.Cut {
		return fmt.Sprintf("the arguments of %s were %v. Send the whole call again; if it is very long, split it into several.", name, err)
	}
	return fmt.Sprintf("the arguments of %s are not JSON, %v. Send the call again with one JSON object.%s", name, err, exampleOf(t))
}

// arguments makes a JSON object of what a model sent.
func arguments(input string) (raw []byte, repairs []args.Repair, err error) {
	src := bytes.ToValidUTF8(bytes.TrimSpace([]byte(input)), []byte("\ufffd"))
	if len(src) == 0 {
		return []byte(`{}`), nil, nil
	}
	if raw, err = jsonrepair.Repair(src); err != nil {
		return nil, nil, err
	}
	if !args.Unchanged(raw, src) {
		repairs = []args.Repair{args.RepairJSON}
	}
	switch args.KindOf(raw) {
	case "object":
		return raw, repairs, nil
	case "null":
		return []byte(`{}`), repairs, nil
	case "string": // an object that was encoded twice
		if inner, err := jsonrepair.Repair([]byte(strings.TrimSpace(args.Unquote(raw)))); err == nil && args.KindOf(inner) == "object" {
			return inner, append(repairs, args.RepairDecode), nil
		}
	}
	return args.AppendMembers(nil, []args.Member{{Key: "value", Val: raw}}), repairs, nil
}

func fit(t Tool, raw []byte) ([]byte, []args.Repair) {
	if schema := schemaOf(t); schema != nil {
		return args.RepairInput(schema, raw)
	}
	return raw, nil
}

// schemaOf returns the schema of a tool, nil where it has none that can be read.
func schemaOf(t Tool) *args.Schema {
	if c, ok := t.(interface{ fitting() *args.Schema }); ok {
		return c.fitting()
	}
	raw := t.Spec().Schema
	if !json.Valid(raw) {
		return nil
	}
	s, err := args.Compile(raw)
	if err != nil {
		return nil
	}
	return s
}
