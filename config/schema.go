package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// spec describes the allowed values of a key. One table (keys.go) is used to check files, to find
// keys that need trust, and to write the JSON schema for editors.
type spec struct {
	kind  kind // "" is any
	doc   string
	enum  []string // of a string or boolean
	match *regexp.Regexp
	form  string  // description of match for error messages
	whole bool    // a whole number
	least float64 // of a number
	above bool    // more than least
	bound bool    // least counts
	most  float64 // of a number; 0 is no limit
	keys  []entry // of an object
	rest  *spec   // of an object: its other members; nil means unknown ones are pointed out
	near  string  // of an object: the message for other members with almost the name of one of keys
	model bool    // a string that names a model; what cannot be one is pointed out
	tool  bool    // a string that names a tool with credentials; one that is not known is pointed out
	items *spec   // of an array
	first *spec   // of an array: its first item, which must be there
	any   []*spec // alternatives, instead of all the above
	// risky reports whether a value runs or redirects something: of a project it counts
	// only once that is trusted. nil means that none does.
	risky func(*node) bool
	all   bool // of its values needs trust, but for those that switch it off
}

type entry struct {
	key  string
	spec *spec
	must bool
	core bool   // of an untrusted project the rest does not count without it
	old  string // deprecated: what to use instead
}

// The builders of the table.

func text(doc string) *spec { return &spec{kind: isString, doc: doc} }

func choice(doc string, values ...string) *spec {
	return &spec{kind: isString, doc: doc, enum: values}
}

func toggle(doc string) *spec { return &spec{kind: isBool, doc: doc} }

func off() *spec { return &spec{kind: isBool, enum: []string{"false"}} }

func whole(doc string, least float64) *spec {
	return &spec{kind: isNumber, doc: doc, whole: true, least: least, bound: true, most: 1 << 53}
}

// modelName is a model, as provider/model. Readers skip a value in another form, so it is not
// an error.
func modelName(doc string) *spec { return &spec{kind: isString, doc: doc, model: true} }

// toolName is a tool whose credentials can be opened. Others open nothing, which is no error.
func toolName() *spec { return &spec{kind: isString, tool: true} }

// positive is a number above 0: nothing is no limit.
func positive(doc string) *spec { return &spec{kind: isNumber, doc: doc, bound: true, above: true} }

func num(doc string) *spec { return &spec{kind: isNumber, doc: doc} }

func list(doc string, items *spec) *spec { return &spec{kind: isArray, doc: doc, items: items} }

func dict(doc string, rest *spec) *spec { return &spec{kind: isObject, doc: doc, rest: rest} }

func anything(doc string) *spec { return &spec{doc: doc} }

func object(doc string, keys ...entry) *spec { return &spec{kind: isObject, doc: doc, keys: keys} }

func either(doc string, any ...*spec) *spec { return &spec{doc: doc, any: any} }

func key(name string, s *spec) entry { return entry{key: name, spec: s} }

func must(name string, s *spec) entry { return entry{key: name, spec: s, must: true, core: true} }

// core is a key that one source may leave out, because another has it.
func core(name string, s *spec) entry { return entry{key: name, spec: s, core: true} }

func old(name string, s *spec, instead string) entry { return entry{key: name, spec: s, old: instead} }

// with lets an object have other members of one kind.
func (s *spec) with(rest *spec) *spec {
	s.rest = rest
	return s
}

// needsTrust marks a setting of which a project's value counts only once it is trusted.
func (s *spec) needsTrust() *spec {
	s.all = true
	return s.riskyIf(func(*node) bool { return true })
}

func (s *spec) riskyIf(risky func(*node) bool) *spec {
	s.risky = risky
	return s
}

// find returns the spec of a member.
func (s *spec) find(name string) (entry, bool) {
	for _, e := range s.keys {
		if e.key == name {
			return e, true
		}
	}
	return entry{key: name, spec: s.rest}, s.rest != nil
}

// has reports whether a member has its own name.
func (s *spec) has(name string) bool {
	return slices.ContainsFunc(s.keys, func(e entry) bool { return e.key == name })
}

func (s *spec) names() []string {
	var out []string
	for _, e := range s.keys {
		if e.old == "" {
			out = append(out, e.key)
		}
	}
	return out
}

// pick returns the alternative that fits the value best, nil if none is of its kind.
func (s *spec) pick(n *node) *spec {
	if s.any == nil {
		if s.kind != "" && s.kind != n.kind {
			return nil
		}
		return s
	}
	var best *spec
	for _, a := range s.any {
		if a = a.pick(n); a != nil && (best == nil || a.fitness(n) > best.fitness(n)) {
			best = a
		}
	}
	return best
}

// fitness says how well a value of the right kind fits: a string by whether it is allowed,
// an object by how many of its members are known, less what it lacks.
func (s *spec) fitness(n *node) int {
	score := 0
	if s.allows(n.text) {
		score++
	}
	for _, m := range n.members {
		for _, e := range s.keys {
			if e.key != m.key {
				continue
			}
			score++
			if m.val.kind == isString && !e.spec.allows(m.val.text) {
				score -= 3 // another "type"
			}
		}
	}
	for _, e := range s.keys {
		if e.must && n.get(e.key) == nil {
			score--
		}
	}
	return score
}

func (s *spec) allows(value string) bool {
	return s.enum == nil && s.match == nil || slices.Contains(s.enum, value) || s.match != nil && s.match.MatchString(value)
}

// allowedValues says in words what a value may be.
func (s *spec) allowedValues() string { return orList(s.words()) }

func (s *spec) words() (out []string) {
	switch {
	case s.enum != nil && s.kind == isBool:
		return s.enum
	case s.enum != nil:
		for _, v := range s.enum {
			out = append(out, strconv.Quote(v))
		}
		if s.form != "" {
			out = append(out, s.form)
		}
		return out
	case s.form != "":
		return []string{s.form}
	case s.kind == isBool:
		return []string{"true", "false"}
	case s.any == nil:
		return []string{string(s.kind)}
	}
	for _, a := range s.any {
		for _, w := range a.words() {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

func orList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
