package args

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// RepairInput rewrites an input so that it fits the schema, where what was meant is plain, and says
// which repairs it made. What needs no repair keeps its bytes. raw is valid JSON.
func RepairInput(s *Schema, raw []byte) ([]byte, []Repair) {
	m := repairer{schema: s}
	raw = raw[skipSpace(raw, 0):]
	out := m.value(s.Root, "", raw)
	slices.Sort(m.made)
	return out, slices.Compact(m.made)
}

// Repair is a kind of mistake that was repaired in a call.
type Repair string

// The repairs, in the order they are tried.
const (
	RepairTool    Repair = "tool"    // the tool's name
	RepairJSON    Repair = "json"    // the syntax of the arguments
	RepairMember  Repair = "member"  // a member's name
	RepairDrop    Repair = "drop"    // a member that says nothing, or is not known where none may be added
	RepairNumber  Repair = "number"  // a number in a text, or written as 3.0
	RepairBoolean Repair = "boolean" // true or false in a text
	RepairText    Repair = "text"    // a number or truth value in place of a text
	RepairDecode  Repair = "decode"  // JSON in a text
	RepairList    Repair = "list"    // one item in place of a list
	RepairWord    Repair = "word"    // an allowed word in other letters
	RepairPath    Repair = "path"    // a file: address in place of a path
	RepairCommand Repair = "command" // [shell, -c, text] in place of the text
)

type repairer struct {
	schema *Schema
	made   []Repair
	depth  int
}

// note notes a repair and returns what it made.
func (m *repairer) note(r Repair, out []byte) []byte {
	m.made = append(m.made, r)
	return out
}

// value returns raw, or what was meant by it. name is the member it is the value of.
func (m *repairer) value(s *jsonschema.Schema, name string, raw []byte) []byte {
	s, _ = m.schema.follow(s)
	if s == nil || m.depth > maxDepth {
		return raw
	}
	m.depth++
	defer func() { m.depth-- }()
	kind, types := KindOf(raw), typesOf(s)
	if !accepts(types, kind) {
		if out := m.convert(s, name, raw); out != nil {
			return out
		}
		return raw
	}
	switch kind {
	case "object":
		return m.object(s, raw)
	case "array":
		return m.array(s, name, raw)
	case "integer", "number":
		return m.integer(types, raw)
	case "string":
		return m.text(s, name, raw)
	}
	return raw
}

// convert makes a value of another type of raw; nil where none fits.
func (m *repairer) convert(s *jsonschema.Schema, name string, raw []byte) []byte {
	types, kind := typesOf(s), KindOf(raw)
	wants := func(t string) bool { return slices.Contains(types, t) }
	switch {
	case kind == "string":
		if out := m.fromText(s, name, Unquote(raw)); out != nil {
			return out
		}
	case wants("string") && (kind == "integer" || kind == "number" || kind == "boolean"):
		if !verbatim(name) {
			return m.note(RepairText, AppendText(nil, string(raw)))
		}
	case wants("string") && kind == "array" && name == "command":
		if text := shellText(raw); text != nil {
			return m.note(RepairCommand, text)
		}
	}
	if !wants("array") || kind == "null" || s.Items == nil {
		return nil
	}
	return m.one(s, name, raw)
}

// one makes a list of a single item, if the item fits.
func (m *repairer) one(s *jsonschema.Schema, name string, raw []byte) []byte {
	if KindOf(raw) == "string" {
		if text := strings.TrimSpace(Unquote(raw)); text == "" || text[0] == '[' || text[0] == '{' {
			return nil // a list that is broken, not an item
		}
	}
	made := len(m.made)
	item := m.value(s.Items, name, raw)
	if target, _ := m.schema.follow(s.Items); target == nil || !accepts(typesOf(target), KindOf(item)) {
		m.made = m.made[:made]
		return nil
	}
	return m.note(RepairList, slices.Concat([]byte{'['}, item, []byte{']'}))
}

// fromText reads a number, a truth value or JSON out of a text.
func (m *repairer) fromText(s *jsonschema.Schema, name, text string) []byte {
	types := typesOf(s)
	text = strings.TrimSpace(text)
	lower := strings.ToLower(text)
	if slices.Contains(types, "boolean") && (lower == "true" || lower == "false") {
		return m.note(RepairBoolean, []byte(lower))
	}
	raw := []byte(text)
	if len(raw) == 0 || !json.Valid(raw) {
		return nil
	}
	switch kind := KindOf(raw); kind {
	case "integer", "number":
		if accepts(types, kind) {
			return m.note(RepairNumber, m.integer(types, raw))
		}
	case "array", "object":
		if accepts(types, kind) {
			return m.value(s, name, m.note(RepairDecode, raw))
		}
	}
	return nil
}

// integer writes 3.0 and 3e2 as Go reads whole numbers.
func (m *repairer) integer(types []string, raw []byte) []byte {
	if !slices.Contains(types, "integer") || !bytes.ContainsAny(raw, ".eE") {
		return raw
	}
	const exact = 1 << 53 // beyond it a double is no longer the number that was written
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return raw
	}
	return m.note(RepairNumber, strconv.AppendInt(nil, int64(f), 10))
}

func (m *repairer) text(s *jsonschema.Schema, name string, raw []byte) []byte {
	if isPath(name) && bytes.HasPrefix(raw, []byte(`"file://`)) {
		if u, err := url.Parse(Unquote(raw)); err == nil && (u.Host == "" || u.Host == "localhost") && u.Path != "" {
			return m.note(RepairPath, AppendText(nil, u.Path))
		}
	}
	if len(s.Enum) == 0 || len(raw) > 200 {
		return raw
	}
	text := Unquote(raw)
	var meant []string
	for _, word := range words(s.Enum) {
		if word == text {
			return raw
		}
		if Normalize(word) == Normalize(text) {
			meant = append(meant, word)
		}
	}
	if len(meant) != 1 {
		return raw
	}
	return m.note(RepairWord, AppendText(nil, meant[0]))
}

func (m *repairer) array(s *jsonschema.Schema, name string, raw []byte) []byte {
	if s.Items == nil || len(s.PrefixItems) > 0 {
		return raw
	}
	list := items(raw)
	changed := false
	for i, item := range list {
		if next := m.value(s.Items, name, item); !Unchanged(next, item) {
			list[i] = next
			changed = true
		}
	}
	if !changed {
		return raw
	}
	return slices.Concat([]byte{'['}, bytes.Join(list, []byte{','}), []byte{']'})
}

// object repairs the members of an object: names, types and JSON in strings.
func (m *repairer) object(s *jsonschema.Schema, raw []byte) []byte {
	all := Members(raw)
	ms := lastOfEach(all)
	changed := len(ms) < len(all)
	if changed {
		m.note(RepairDrop, nil)
	}
	if len(s.Properties) > 0 {
		changed = m.rename(s, ms) || changed
		rest := make([]Member, 0, len(ms))
		for _, mb := range ms {
			if !m.useless(s, mb, ms) {
				rest = append(rest, mb)
			}
		}
		changed = changed || len(rest) < len(ms)
		ms = rest
	}
	for i := range ms {
		sub := s.Properties[ms[i].Key]
		if sub == nil && !isFalse(s.AdditionalProperties) {
			sub = s.AdditionalProperties
		}
		if sub == nil {
			continue
		}
		if next := m.value(sub, ms[i].Key, ms[i].Val); !Unchanged(next, ms[i].Val) {
			ms[i].Val = next
			changed = true
		}
	}
	if !changed {
		return raw
	}
	return AppendMembers(make([]byte, 0, len(raw)), ms)
}

// Unchanged reports whether nothing was changed, without comparing: a repair makes a new value.
func Unchanged(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// rename gives members the name the schema has for them, where only one can be meant.
func (m *repairer) rename(s *jsonschema.Schema, ms []Member) bool {
	have := make(map[string]bool, len(ms))
	unknown := false
	for _, mb := range ms {
		have[mb.Key] = true
		unknown = unknown || s.Properties[mb.Key] == nil
	}
	if !unknown {
		return false
	}
	meant := make([]string, len(ms))
	claims := map[string]int{} // by name: how many want to be it
	for i, mb := range ms {
		if s.Properties[mb.Key] == nil {
			meant[i] = intendedMember(s, mb.Key, have)
			claims[meant[i]]++
		}
	}
	changed := false
	for i := range ms {
		if meant[i] != "" && claims[meant[i]] == 1 {
			ms[i].Key = meant[i]
			m.note(RepairMember, nil)
			changed = true
		}
	}
	return changed
}

// intendedMember returns the member of the schema that is meant by key and not there; "" if none.
func intendedMember(s *jsonschema.Schema, key string, have map[string]bool) string {
	if len(key) > 64 {
		return ""
	}
	var found string
	for _, name := range s.PropertyOrder {
		if Normalize(name) == Normalize(key) && !have[name] {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	if found != "" {
		return found
	}
	for _, name := range aliasesOf("member", key) {
		if s.Properties[name] != nil && !have[name] {
			return name
		}
	}
	return ""
}

// useless reports whether a member only stands in the way: an optional one that says
// nothing, one that Go would read in place of its better written neighbor, or one that is
// not known where the schema allows no others.
func (m *repairer) useless(s *jsonschema.Schema, mb Member, ms []Member) bool {
	sub := s.Properties[mb.Key]
	if sub == nil {
		twin := slices.ContainsFunc(ms, func(o Member) bool {
			return o.Key != mb.Key && s.Properties[o.Key] != nil && strings.EqualFold(o.Key, mb.Key)
		})
		if twin || isFalse(s.AdditionalProperties) && len(s.PatternProperties) == 0 {
			m.note(RepairDrop, nil)
			return true
		}
		return false
	}
	target, nullable := m.schema.follow(sub)
	if slices.Contains(s.Required, mb.Key) || target == nil || nullable || !m.empty(target, mb.Val) {
		return false
	}
	m.note(RepairDrop, nil)
	return true
}

// empty reports whether a value is what models write for "not given" and is not one the
// member may have.
func (m *repairer) empty(s *jsonschema.Schema, val []byte) bool {
	types := typesOf(s)
	if len(types) == 0 {
		return false
	}
	if KindOf(val) == "null" {
		return true
	}
	if KindOf(val) != "string" || len(val) > 20 {
		return false
	}
	if slices.Contains(types, "string") && (len(s.Enum) == 0 || slices.Contains(words(s.Enum), Unquote(val))) {
		return false
	}
	return slices.Contains([]string{"", "null", "none", "undefined"}, strings.ToLower(Unquote(val)))
}

// shellText returns the text of [shell, -c, text], nil for any other list.
func shellText(raw []byte) []byte {
	list := items(raw)
	if len(list) != 3 || slices.ContainsFunc(list, func(i []byte) bool { return KindOf(i) != "string" }) {
		return nil
	}
	shell, flag := filepath.Base(Unquote(list[0])), Unquote(list[1])
	if !slices.Contains([]string{"sh", "bash", "zsh", "dash", "fish"}, shell) || flag != "-c" && flag != "-lc" {
		return nil
	}
	return list[2]
}
