package config

import (
	"slices"
	"strconv"
	"strings"
)

// Setting is a key of a settings file, as the reference for users tells it.
type Setting struct {
	Key     string // with dots; NAME stands for a name that the user gives, * for any other key
	Type    string // in words
	Default string // "" without one, or where it is another program's
	Trust   string // for which values a project must be trusted: "" none, "yes" all, else which
	Doc     string
	Old     string // deprecated: what to use instead
	Same    string // it takes what this key at the top takes; its members are not listed
}

// Keys lists every key of settings files, in the order of the tables.
func Keys() []Setting { return listKeys(settings()) }

// TUIKeys lists every key of tui.json.
func TUIKeys() []Setting { return listKeys(tuiTable()) }

func listKeys(table *spec) []Setting {
	top := map[string][]Setting{}
	for _, e := range table.keys {
		top[e.key] = members(e.spec, false)
	}
	var out []Setting
	for _, e := range table.keys {
		out = append(out, row(e, false))
		if e.old == "" {
			out = append(out, nameRows(e.key, top[e.key], top)...)
		}
	}
	return out
}

// nameRows puts a key before its members, and leaves those out that are reported elsewhere.
func nameRows(key string, below []Setting, top map[string][]Setting) (out []Setting) {
	skip := "\x00"
	for i, s := range below {
		if strings.HasPrefix(s.Key, skip) {
			continue
		}
		if last := s.Key[strings.LastIndex(s.Key, ".")+1:]; last != s.Key && len(top[last]) > 0 {
			if slices.Equal(inside(below[i+1:], s.Key+"."), top[last]) {
				s.Same, skip = last, s.Key+"."
			}
		}
		s.Key = key + "." + s.Key
		out = append(out, s)
	}
	return out
}

// inside are the rows that begin with a prefix, without it.
func inside(rows []Setting, prefix string) (out []Setting) {
	for _, s := range rows {
		if !strings.HasPrefix(s.Key, prefix) {
			break
		}
		s.Key = s.Key[len(prefix):]
		out = append(out, s)
	}
	return out
}

func row(e entry, trusted bool) Setting {
	s := Setting{Key: e.key, Type: orList(e.spec.types()), Old: e.old, Trust: e.spec.trustFor()}
	if trusted {
		s.Trust = "yes"
	}
	s.Doc, s.Default = cutDefault(e.spec.doc)
	for _, a := range e.spec.any {
		doc, def := cutDefault(a.doc)
		if s.Doc == "" {
			s.Doc = doc
		}
		if s.Default == "" {
			s.Default = def
		}
	}
	return s
}

// cutDefault separates the meaning of a key from its default.
func cutDefault(doc string) (what, def string) {
	i := strings.LastIndex(doc, "default: ")
	if i < 0 {
		return doc, ""
	}
	return strings.TrimRight(doc[:i], " ;,"), doc[i+len("default: "):]
}

// members lists the keys below a value, those of all its alternatives together. trusted says
// that all of it needs trust already.
func members(s *spec, trusted bool) (out []Setting) {
	trusted = trusted || s.risky != nil && s.kind != isString && s.trustFor() == "yes"
	for _, a := range s.any {
		for _, m := range members(a, trusted) {
			out = joinRow(out, m)
		}
	}
	for _, e := range s.keys {
		if e.old != "" {
			continue
		}
		out = joinRow(out, row(e, trusted))
		for _, m := range members(e.spec, trusted) {
			m.Key = e.key + "." + m.Key
			out = joinRow(out, m)
		}
	}
	switch {
	case s.rest == nil:
	case len(s.keys) > 0:
		out = joinRow(out, row(entry{key: "*", spec: s.rest}, trusted))
	default:
		for _, m := range members(s.rest, trusted) {
			m.Key = "NAME." + m.Key
			out = joinRow(out, m)
		}
	}
	return out
}

// joinRow adds a row; one that another alternative has as well is reported once.
func joinRow(rows []Setting, s Setting) []Setting {
	i := slices.IndexFunc(rows, func(r Setting) bool { return r.Key == s.Key })
	if i < 0 {
		return append(rows, s)
	}
	has := &rows[i]
	if has.Type != s.Type {
		has.Type += " or " + s.Type
	}
	if has.Doc == "" {
		has.Doc = s.Doc
	}
	return rows
}

// types says what a value may be, for people who write it.
func (s *spec) types() (out []string) {
	add := func(words ...string) {
		for _, w := range words {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	switch {
	case s.any != nil:
		for _, a := range s.any {
			add(a.types()...)
		}
	case s.enum != nil && s.kind == isBool:
		add(s.enum...)
	case s.enum != nil:
		for _, v := range s.enum {
			add(strconv.Quote(v))
		}
		if s.form != "" {
			add(s.form)
		}
	case s.kind == isBool:
		add("true", "false")
	case s.kind == isNumber:
		add(s.numberType())
	case s.kind == isArray && s.first != nil:
		add("list that begins with a " + strings.Join(s.first.types(), " or "))
	case s.kind == isArray:
		add("list of " + s.items.plural())
	case s.kind == isObject && s.keys == nil && s.rest != nil:
		add("object of " + s.rest.plural())
	case s.kind == isObject:
		add("object")
	case s.kind == isString:
		add("string")
	default:
		add("anything")
	}
	return out
}

func (s *spec) plural() string {
	words := s.types()
	for i, w := range words {
		if w == "string" || w == "object" {
			words[i] = w + "s"
		}
		words[i] = strings.Replace(words[i], "list that begins", "lists that begin", 1)
	}
	return orList(words)
}

func (s *spec) numberType() string {
	out := "number"
	if s.whole {
		out = "whole number"
	}
	least := strconv.FormatFloat(s.least, 'f', -1, 64)
	switch {
	case s.bound && s.above:
		out += " over " + least
	case s.bound && s.most > 0 && s.most < 1<<53:
		out += " from " + least + " to " + strconv.FormatFloat(s.most, 'f', -1, 64)
	case s.bound && s.least != 0:
		out += " from " + least
	}
	return out
}
