package key

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// Map holds the keybinds. Make one with New.
type Map struct {
	keys  map[Name][]chord
	taken map[chord]bool // named by a setting or a default, so it is not taken for another key
}

// New applies the config to the defaults. All errors are returned at once; the map is usable
// anyway, with the defaults for invalid names.
func New(over map[string]json.RawMessage) (*Map, error) {
	m := &Map{keys: map[Name][]chord{}, taken: map[chord]bool{}}
	var wrong []error
	for _, e := range All() {
		set, err := parseKeys(e.Default)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("default of %s: %w", e.Name, err))
		}
		m.keys[e.Name] = set
	}
	for _, name := range slices.Sorted(maps.Keys(over)) {
		if _, ok := m.keys[Name(name)]; !ok {
			wrong = append(wrong, unknownName(name))
			continue
		}
		set, err := parseValue(over[name])
		if err == nil && Name(name) == Leader && slices.ContainsFunc(set, func(c chord) bool { return c.leader }) {
			err = errors.New("the leader key cannot follow itself")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("keybinds.%s: %w", name, err))
			continue
		}
		m.keys[Name(name)] = set
	}
	m.yield(over)
	for _, set := range m.keys {
		for _, c := range set {
			m.taken[c] = true
		}
	}
	return m, errors.Join(wrong...)
}

// yield takes the keys of the user's config away from names that OpenCode does not have, so that a config made for it
// works as it did.
func (m *Map) yield(over map[string]json.RawMessage) {
	chosen := map[chord]bool{}
	for name := range over {
		for _, c := range m.keys[Name(name)] {
			chosen[c] = true
		}
	}
	for _, e := range All() {
		if _, set := over[string(e.Name)]; e.Own && !set && e.Group != "Scroll mode" { // a mode's keys mean nothing outside it
			m.keys[e.Name] = slices.DeleteFunc(m.keys[e.Name], func(c chord) bool { return chosen[c] })
		}
	}
}

func unknownName(name string) error {
	var all []string
	for _, e := range All() {
		all = append(all, string(e.Name))
	}
	if near := phrase.Nearest(name, all); near != "" {
		return fmt.Errorf("keybinds.%s: unknown action; did you mean %q?", name, near)
	}
	return fmt.Errorf("keybinds.%s: unknown action; /help lists them all", name)
}

// Match reports whether a key is one of a name's. Keys that come after the leader are not; see AfterLeader.
func (m *Map) Match(k tea.KeyPressMsg, name Name) bool {
	set := m.keys[name]
	if len(set) == 0 {
		return false
	}
	p := read(k, false)
	return m.has(&p, set)
}

// First returns the first of the names that a key is one of.
func (m *Map) First(k tea.KeyPressMsg, names ...Name) (Name, bool) {
	return m.first(read(k, false), names)
}

// Leader reports whether a key is the leader, after which another is to come.
func (m *Map) Leader(k tea.KeyPressMsg) bool { return m.Match(k, Leader) }

// AfterLeader returns the first of the names that a key means when the leader came before it.
func (m *Map) AfterLeader(k tea.KeyPressMsg, names ...Name) (Name, bool) {
	return m.first(read(k, true), names)
}

// first returns the first of the names that a press triggers.
func (m *Map) first(p press, names []Name) (Name, bool) {
	for _, n := range names {
		if m.has(&p, m.keys[n]) {
			return n, true
		}
	}
	return "", false
}

// has matches a press. An alias counts only if the reported chord is not bound itself.
func (m *Map) has(p *press, set []chord) bool {
	for _, c := range p.sure[:p.n] {
		if slices.Contains(set, c) {
			return true
		}
	}
	if p.m == 0 || m.taken[p.sure[0]] {
		return false
	}
	for _, c := range p.alias[:p.m] {
		if slices.Contains(set, c) {
			return true
		}
	}
	return false
}

// Label writes the first key of a name for people, such as "ctrl+x m"; "" when it has none.
func (m *Map) Label(name Name) string {
	for _, c := range m.keys[name] {
		if l := m.label(c); l != "" {
			return l
		}
	}
	return ""
}

// Labels writes all keys of a name for people.
func (m *Map) Labels(name Name) []string {
	var out []string
	for _, c := range m.keys[name] {
		if l := m.label(c); l != "" && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// NextLabels writes the keys of a name that come after the leader, without it: for a panel that is open
// while the leader waits.
func (m *Map) NextLabels(name Name) []string {
	var out []string
	for _, c := range m.keys[name] {
		if c.leader {
			out = append(out, c.label())
		}
	}
	return out
}

func (m *Map) label(c chord) string {
	if !c.leader {
		return c.label()
	}
	if lead := m.keys[Leader]; len(lead) > 0 {
		return lead[0].label() + " " + c.label()
	}
	return "" // it cannot be pressed
}
