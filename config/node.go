package config

import (
	"maps"
	"slices"
	"strconv"

	"github.com/tailscale/hujson"

	"github.com/lathe-agent/lathe"
)

// node is a JSON value that knows where it was written. Objects keep the order of their
// members, because the order of permission rules has a meaning.
type node struct {
	kind    kind
	at      location
	text    string // of a string; the literal of a number or boolean
	members []member
	index   map[string]int // of members, once there are many
	items   []*node
	barrier bool // it replaces what lies below instead of merging with it
	bare    bool // rules that were written as one action
	asks    bool // it has a variable or a file that was not put in
	leaves  bool // a path that leads out of the project, behind a link
}

type member struct {
	key string
	at  location
	val *node
}

type kind string

const (
	isObject kind = "an object"
	isArray  kind = "an array"
	isString kind = "a string"
	isNumber kind = "a number"
	isBool   kind = "true or false"
	isNull   kind = "null"
)

// many members are worth an index.
const many = 16

func objectNode(at location) *node { return &node{kind: isObject, at: at} }

func stringNode(s string, at location) *node { return &node{kind: isString, text: s, at: at} }

func boolNode(b bool, at location) *node {
	return &node{kind: isBool, text: strconv.FormatBool(b), at: at}
}

// fromHuJSON copies a syntax tree. Offsets are those of the text that was parsed.
func fromHuJSON(v hujson.Value, src *source) *node {
	n := &node{at: location{src, v.StartOffset}}
	switch v := v.Value.(type) {
	case *hujson.Object:
		n.kind = isObject
		n.members = make([]member, 0, len(v.Members))
		for i := range v.Members {
			m := &v.Members[i]
			name, _ := m.Name.Value.(hujson.Literal)
			n.set(member{unquote(name), location{src, m.Name.StartOffset}, fromHuJSON(m.Value, src)}, src)
		}
	case *hujson.Array:
		n.kind = isArray
		n.items = make([]*node, 0, len(v.Elements))
		for i := range v.Elements {
			n.items = append(n.items, fromHuJSON(v.Elements[i], src))
		}
	case hujson.Literal:
		switch v.Kind() {
		case '"':
			n.kind, n.text = isString, unquote(v)
			n.asks = src.inert && asksIn(n.text)
		case '0':
			n.kind, n.text = isNumber, string(v)
		case 'n':
			n.kind, n.text = isNull, "null"
		default:
			n.kind, n.text = isBool, string(v)
		}
	}
	return n
}

// unquote is Literal.String without its decoder where nothing is escaped.
func unquote(v hujson.Literal) string {
	for _, c := range v {
		if c == '\\' {
			return v.String()
		}
	}
	return string(v[1 : len(v)-1])
}

// set adds a member; of a key that is written twice the last counts, in its first place.
func (n *node) set(m member, src *source) {
	if i := n.find(m.key); i >= 0 {
		src.warn(m.at, "%q appears twice; the last one wins", m.key)
		n.members[i].at, n.members[i].val = m.at, m.val
		return
	}
	n.add(m)
}

func (n *node) find(key string) int {
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range n.members {
		if n.members[i].key == key {
			return i
		}
	}
	return -1
}

func (n *node) add(m member) {
	n.members = append(n.members, m)
	if n.index != nil {
		n.index[m.key] = len(n.members) - 1
	} else if len(n.members) >= many {
		n.reindex()
	}
}

func (n *node) reindex() {
	n.index = nil
	if len(n.members) < many {
		return
	}
	n.index = make(map[string]int, len(n.members))
	for i, m := range n.members {
		n.index[m.key] = i
	}
}

// get returns a member of an object, nil if there is none.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	if i := n.find(key); i >= 0 {
		return n.members[i].val
	}
	return nil
}

// membersOf are the members of the object under a key, if there is one.
func (n *node) membersOf(key string) []member {
	if c := n.get(key); c != nil {
		return c.members
	}
	return nil
}

// itemsOf are the items of the array under a key, if there is one.
func (n *node) itemsOf(key string) []*node {
	if c := n.get(key); c != nil {
		return c.items
	}
	return nil
}

// keys are the names of the members.
func (n *node) keys() (out []string) {
	for _, m := range n.members {
		out = append(out, m.key)
	}
	return out
}

// put sets a member, at the end if it is new.
func (n *node) put(key string, val *node) {
	if i := n.find(key); i >= 0 {
		n.members[i].val = val
		return
	}
	n.add(member{key, val.at, val})
}

// drop removes a member.
func (n *node) drop(key string) {
	if n.find(key) >= 0 {
		n.keep(func(m member) bool { return m.key != key })
	}
}

// keep removes the members that the function does not want. It asks once about each.
func (n *node) keep(want func(member) bool) {
	var rest []member
	all := true
	for i, m := range n.members {
		switch wanted := want(m); {
		case wanted && !all:
			rest = append(rest, m)
		case !wanted && all:
			all, rest = false, slices.Clone(n.members[:i])
		}
	}
	if !all {
		n.members = rest
		n.reindex()
	}
}

// child returns the object under a key, made if it is not there.
func (n *node) child(key string) *node {
	if c := n.get(key); c != nil && c.kind == isObject {
		return c
	}
	c := objectNode(n.at)
	n.put(key, c)
	return c
}

// clone copies a value, so that merging does not change what it merges.
func (n *node) clone() *node {
	c := *n
	c.members, c.items = make([]member, len(n.members)), make([]*node, len(n.items))
	for i, m := range n.members {
		m.val = m.val.clone()
		c.members[i] = m
	}
	c.index = maps.Clone(n.index)
	for i, it := range n.items {
		c.items[i] = it.clone()
	}
	return &c
}

// appendJSON writes the value as plain JSON, members in their order.
func (n *node) appendJSON(dst []byte) []byte {
	switch {
	case n.bare && len(n.members) == 1: // as it was written
		return n.members[0].val.appendJSON(dst)
	case n.kind == isObject:
		dst = append(dst, '{')
		for i, m := range n.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(lathe.AppendJSONString(dst, m.key), ':')
			dst = m.val.appendJSON(dst)
		}
		return append(dst, '}')
	case n.kind == isArray:
		dst = append(dst, '[')
		for i, it := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = it.appendJSON(dst)
		}
		return append(dst, ']')
	case n.kind == isString:
		return lathe.AppendJSONString(dst, n.text)
	default:
		return append(dst, n.text...)
	}
}
