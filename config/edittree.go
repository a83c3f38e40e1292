package config

import (
	"bytes"

	"github.com/tailscale/hujson"
)

// editor changes a syntax tree in the style of its file. No comment is ever lost: the comments
// of a removed value stay in its place.
type editor struct {
	unit string // one step of indentation
	eol  string
}

// layout is how the members of an object stand.
type layout struct {
	indent string // of the members
	close  string // of the closing brace
	inline bool   // all on one line
}

// layoutOf reads the layout off an object that is in another.
func (e editor) layoutOf(obj *hujson.Object, outer layout) layout {
	lay := layout{indent: outer.indent + e.unit, close: outer.indent, inline: outer.inline}
	if len(obj.Members) == 0 {
		return lay
	}
	lay.inline = !hasLine(obj.AfterExtra)
	for _, m := range obj.Members {
		if hasLine(m.Name.BeforeExtra) {
			lay.inline, lay.indent = false, lastIndent(m.Name.BeforeExtra)
			break
		}
	}
	if hasLine(obj.AfterExtra) {
		lay.close = lastIndent(obj.AfterExtra)
	}
	return lay
}

func hasLine(x hujson.Extra) bool { return bytes.IndexByte(x, '\n') >= 0 }

// lastIndent is the white space after the last line end.
func lastIndent(x hujson.Extra) string {
	line := x[bytes.LastIndexByte(x, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// apply lays a change over an object that is in another.
func (e editor) apply(obj *hujson.Object, change *node, outer layout) {
	lay := e.layoutOf(obj, outer)
	for _, m := range change.members {
		i := lastMember(obj, m.key)
		switch {
		case m.val.kind == isNull:
			for ; i >= 0; i = lastMember(obj, m.key) {
				e.remove(obj, i, lay)
			}
		case i < 0:
			e.add(obj, m.key, withoutNulls(m.val), lay)
		default:
			e.change(&obj.Members[i], m.val, lay)
		}
	}
}

// lastMember finds a key; of one that is written twice the last counts.
func lastMember(obj *hujson.Object, key string) int {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if name, ok := obj.Members[i].Name.Value.(hujson.Literal); ok && unquote(name) == key {
			return i
		}
	}
	return -1
}

// change gives a member another value, unless it has it already.
func (e editor) change(m *hujson.ObjectMember, val *node, lay layout) {
	if old, ok := m.Value.Value.(*hujson.Object); ok && val.kind == isObject {
		e.apply(old, val, lay)
		return
	}
	val = withoutNulls(val)
	old := fromHuJSON(m.Value, &source{})
	if bytes.Equal(old.appendJSON(nil), val.appendJSON(nil)) {
		return
	}
	if lost := commentsIn(m.Value.Value); len(lost) > 0 {
		m.Name.BeforeExtra = e.join(e.line(m.Name.BeforeExtra, lost, lay), e.before(lay), lay)
	}
	m.Value.Value = e.value(val, lay)
}

// before is the text before a member.
func (e editor) before(lay layout) hujson.Extra {
	if lay.inline {
		return hujson.Extra(" ")
	}
	return hujson.Extra(e.eol + lay.indent)
}

// add puts a member after the others. Comments after the last one belong to it, so they stay
// before the new one.
func (e editor) add(obj *hujson.Object, key string, val *node, lay layout) {
	before := e.before(lay)
	var after hujson.Extra
	n := len(obj.Members)
	if n > 0 && obj.Members[n-1].Value.AfterExtra != nil {
		after = hujson.Extra{} // a comma after the last stays the custom
	}
	if n == 0 && lay.inline {
		before = nil
	}
	said := len(comments(obj.AfterExtra)) > 0
	if said {
		before = e.join(obj.AfterExtra, before, lay)
	}
	obj.Members = append(obj.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: e.value(val, lay), AfterExtra: after},
	})
	if !lay.inline {
		obj.AfterExtra = hujson.Extra(e.eol + lay.close)
	} else if said || n == 0 {
		obj.AfterExtra = nil
	}
}

// remove takes a member out. Its comments stay, before the next member.
func (e editor) remove(obj *hujson.Object, i int, lay layout) {
	m := obj.Members[i]
	last := i == len(obj.Members)-1
	comma := last && m.Value.AfterExtra != nil
	next := &obj.AfterExtra
	if !last {
		next = &obj.Members[i+1].Name.BeforeExtra
	}
	said := e.line(m.Name.BeforeExtra, commentsOf(m), lay)
	switch {
	case len(comments(said)) > 0:
		*next = e.join(said, *next, lay)
	case !last && len(comments(*next)) == 0:
		*next = m.Name.BeforeExtra
	}
	obj.Members = append(obj.Members[:i:i], obj.Members[i+1:]...)
	if len(obj.Members) == 0 {
		if len(comments(obj.AfterExtra)) == 0 {
			obj.AfterExtra = nil
		}
		return
	}
	if end := &obj.Members[len(obj.Members)-1].Value; last && comma && end.AfterExtra == nil {
		end.AfterExtra = hujson.Extra{}
	} else if last && !comma && end.AfterExtra != nil {
		obj.AfterExtra = e.join(end.AfterExtra, obj.AfterExtra, lay)
		end.AfterExtra = nil
	}
}

// withoutNulls is a new value: there is nothing in it to remove.
func withoutNulls(n *node) *node {
	if n.kind != isObject {
		return n
	}
	out := n.clone()
	out.keep(func(m member) bool { return m.val.kind != isNull })
	for i := range out.members {
		out.members[i].val = withoutNulls(out.members[i].val)
	}
	return out
}
