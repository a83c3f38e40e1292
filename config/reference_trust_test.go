package config

import (
	"slices"
	"strconv"
	"strings"
)

// sample is a value that is held against the rules of trust, and how the reference calls it.
type sample struct{ json, name string }

// The names of samples that some keys distinguish.
const (
	repository = "a repository"
	address    = "an address"
	command    = "a shell command"
)

// trustFor says for which values of a key a project must be trusted. It does not read the
// tables: it lets the judge of real settings decide about samples, so that it cannot say
// something else.
func (s *spec) trustFor() string {
	if s.any != nil && s.risky == nil {
		return s.trustForAny()
	}
	var names []string
	all := true
	for _, p := range s.samples() {
		switch {
		case s.needsTrustFor(p.json):
			names = append(names, p.name)
		case p.json != "false": // what only switches off never needs it
			all = false
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case all && s.kind != isBool:
		return "yes"
	}
	if slices.Contains(names, repository) { // whatever is no path is one
		names = slices.DeleteFunc(names, func(n string) bool { return n == address || n == command })
	}
	return strings.Join(names, ", ")
}

// trustForAny asks each alternative; the members of objects are reported by themselves.
func (s *spec) trustForAny() string {
	var names []string
	for _, a := range s.any {
		name := a.trustFor()
		if name == "yes" {
			name = a.types()[0]
		}
		if name != "" && a.kind != isObject && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (s *spec) needsTrustFor(json string) bool {
	src := &source{name: "reference", layer: Project, table: object("", key("k", s)), text: []byte(`{"k": ` + json + `}`)}
	if err := src.parse(substitution{inert: true}); err != nil {
		return false
	}
	return len(takeRisks(src, ownedNames{})) > 0
}

// samples are samples of what a key may hold. Members that have their own names are reported by
// themselves.
func (s *spec) samples() (out []sample) {
	wrap := func(from []sample, before, after string) (out []sample) {
		for _, p := range from {
			out = append(out, sample{before + p.json + after, p.name})
		}
		return out
	}
	strs := []sample{
		{`"./x"`, "any"},
		{`"x"`, repository},
		{`"https://x.example/"`, address},
		{`"../x"`, "a path out of the project"},
		{"\"!`x`\"", command},
	}
	switch {
	case s.any != nil:
		for _, a := range s.any {
			out = append(out, a.samples()...)
		}
	case s.enum != nil && s.kind == isString:
		for _, v := range s.enum {
			out = append(out, sample{strconv.Quote(v), "`" + strconv.Quote(v) + "`"})
		}
	case s.kind == isBool:
		out = []sample{{"true", "`true`"}, {"false", "`false`"}}
	case s.kind == isNumber:
		out = []sample{{"1", "any"}}
	case s.kind == isArray && s.first != nil:
		out = wrap(s.first.samples(), "[", "]")
	case s.kind == isArray:
		out = wrap(s.items.samples(), "[", "]")
	case s.kind == isObject && s.keys == nil && s.rest != nil:
		if out = wrap(s.rest.samples(), `{"zz": `, "}"); len(out) == 0 && s.risky != nil {
			out = []sample{{`{"zz": [1]}`, "any"}}
		}
	case s.kind == isObject && s.risky == nil:
	case s.kind == isObject:
		out = []sample{{`{"zz": [1]}`, "any"}}
	default:
		out = strs
	}
	return out
}
