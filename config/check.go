package config

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/workspace/secret"
)

// checker walks the value of a source. Wrong kinds are errors; unknown and deprecated
// keys are warnings.
type checker struct {
	path        []string
	errs, warns []Problem
}

// check validates a source against its table and returns its problems, nil if it has none.
// A null in place of a value is dropped, since it sets nothing.
func (s *source) check() *Error {
	c := checker{}
	c.value(s.table, s.root)
	s.warns = append(s.warns, c.warns...)
	if len(c.errs) == 0 {
		return nil
	}
	if len(c.errs) >= maxProblems {
		c.errs = append(c.errs, Problem{Path: s.name, Message: "more problems of this kind follow"})
	}
	return &Error{Kind: InvalidError, Path: s.name, Problems: c.errs}
}

func (c *checker) fail(n *node, message string) *Problem {
	if len(c.errs) >= maxProblems {
		return &Problem{}
	}
	c.errs = append(c.errs, problemAt(n.at, c.path, message))
	return &c.errs[len(c.errs)-1]
}

func (c *checker) warn(at location, message string) *Problem {
	if len(c.warns) >= maxProblems {
		return &Problem{}
	}
	c.warns = append(c.warns, problemAt(at, c.path, message))
	return &c.warns[len(c.warns)-1]
}

func (c *checker) value(s *spec, n *node) {
	if n.asks {
		return // its value is not known yet
	}
	fit := s.pick(n)
	if fit == nil {
		c.fail(n, "must be "+s.allowedValues()+", not "+string(n.kind))
		return
	}
	switch n.kind {
	case isString, isBool:
		c.text(fit, n)
	case isNumber:
		c.number(fit, n)
	case isArray:
		c.array(fit, n)
	case isObject:
		c.object(fit, n)
	}
}

func (c *checker) text(s *spec, n *node) {
	if s.allows(n.text) {
		if s.tool {
			c.tool(n)
		}
		if s.model && n.text != "" && !namesModel(n.text) {
			c.warn(n.at, strconv.Quote(shorten(n.text, 60))+" is not a model: write provider/model, as `lathe models` lists them")
		}
		return
	}
	message := n.text + " is not allowed"
	if n.kind == isString {
		message = strconv.Quote(shorten(n.text, 60)) + " is not allowed"
	}
	p := c.fail(n, message+": use "+s.allowedValues())
	if len(s.enum) > 1 {
		p.Hint = nearest(n.text, s.enum)
	}
}

// tool warns about a tool whose credentials are unknown.
func (c *checker) tool(n *node) {
	known := secret.Tools()
	if slices.Contains(known, n.text) {
		return
	}
	message, hint := strconv.Quote(shorten(n.text, 60))+" has no effect: lathe knows no credentials for this tool", nearest(n.text, known)
	if hint == "" {
		message += ", only for " + strings.Join(known, ", ")
	}
	p := c.warn(n.at, message)
	p.Hint, p.Important = hint, true
}

// namesModel reports whether a name has both a provider and a model.
func namesModel(name string) bool {
	provider, model, _ := strings.Cut(name, "/")
	return provider != "" && model != ""
}

func (c *checker) number(s *spec, n *node) {
	if s.kind != isNumber {
		return
	}
	f, err := strconv.ParseFloat(n.text, 64)
	shown := shorten(n.text, 30)
	least := strconv.FormatFloat(s.least, 'f', -1, 64)
	switch {
	case err != nil || s.most > 0 && f > s.most:
		c.fail(n, shown+" is too large")
	case s.whole && f != math.Trunc(f):
		c.fail(n, shown+" is not a whole number")
	case s.bound && s.above && f <= s.least:
		c.fail(n, shown+" is too small: it must be more than "+least)
	case s.bound && f < s.least:
		c.fail(n, shown+" is too small: it must be "+least+" or more")
	case s.whole:
		n.text = strconv.FormatInt(int64(f), 10) // normalizes 5.0 and 5e3
	}
}

func (c *checker) array(s *spec, n *node) {
	for i, it := range n.items {
		items := s.items
		if i == 0 && s.first != nil {
			items = s.first
		}
		if items == nil {
			continue
		}
		c.path = append(c.path, strconv.Itoa(i))
		c.value(items, it)
		c.path = c.path[:len(c.path)-1]
	}
	if s.first != nil && len(n.items) == 0 {
		c.fail(n, "must not be empty")
	}
}

// warnKnown warns about a known key that is deprecated, unsupported or misspelled.
func (c *checker) warnKnown(s *spec, e entry, m member) {
	if e.old != "" {
		c.warn(m.at, "is deprecated: "+e.old)
	} else if why := e.spec.unsupported(m.val); why != "" {
		c.warn(m.at, "is not supported: it "+why)
	}
	if s.near != "" && !s.has(m.key) && len(c.warns) < maxProblems {
		if hint := nearest(m.key, s.names()); hint != "" {
			c.warn(m.at, s.near).Hint = hint
		}
	}
}

func (c *checker) object(s *spec, n *node) {
	if slices.ContainsFunc(n.members, func(m member) bool { return m.val.kind == isNull }) {
		n.keep(func(m member) bool {
			e, _ := s.find(m.key)
			return m.val.kind != isNull || e.spec == nil || e.spec.kind == "" && e.spec.any == nil
		})
	}
	for _, m := range n.members {
		c.path = append(c.path, m.key)
		switch e, known := s.find(m.key); {
		case known:
			c.warnKnown(s, e, m)
			c.value(e.spec, m.val)
		case s.keys != nil && len(c.warns) < maxProblems: // looking for a hint takes time
			c.warn(m.at, "is not a config key and has no effect").Hint = nearest(m.key, s.names())
		}
		c.path = c.path[:len(c.path)-1]
	}
	for _, e := range s.keys {
		if e.must && n.get(e.key) == nil {
			c.fail(n, strconv.Quote(e.key)+" is missing")
		}
	}
}

// unsupported returns the note "has no effect …" from the description of a key that does nothing. It
// returns "" for other keys, and for a value that switches the key off.
func (s *spec) unsupported(n *node) string {
	const words = "has no effect"
	if s == nil || n.kind == isBool && n.text == "false" {
		return ""
	}
	if _, rest, ok := strings.Cut(s.doc, "; "+words); ok {
		return words + rest
	}
	return ""
}
