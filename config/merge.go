package config

import (
	"sync"

	"github.com/lathe-agent/lathe/config/claudecode"
)

// A joiner makes one list of two.
type joiner func(a, b *node) *node

// concatenated are the lists of which every source adds to those before, instead of
// replacing them.
var concatenated = map[string]joiner{
	"instructions": unionText,
	"plugin":       unionPlugins,
}

// hookLists are the lists in hooks: every source adds its own to those before.
var hookLists = sync.OnceValue(func() map[string]joiner {
	out := map[string]joiner{}
	for _, event := range claudecode.HookEvents() {
		out[event] = union
	}
	return out
})

// overlay lays b over a: objects deeply, everything else replaced. Keys that both have keep
// the place they have in a; b is not changed. In which order several are laid over each
// other does not matter: what has replaced a value of another kind remembers it.
func overlay(a, b *node, lists map[string]joiner) {
	for _, m := range b.members {
		old := a.get(m.key)
		join := lists[m.key]
		switch {
		case old == nil:
			a.add(member{m.key, m.at, m.val.clone()})
		case !m.val.barrier && old.kind == isObject && m.val.kind == isObject:
			var below map[string]joiner
			if m.key == "hooks" && lists != nil {
				below = hookLists()
			}
			overlay(old, m.val, below)
		case !m.val.barrier && join != nil && old.kind == isArray && m.val.kind == isArray:
			joined := join(old, m.val)
			joined.barrier = old.barrier
			a.put(m.key, joined)
		default:
			val := m.val.clone()
			val.barrier = val.barrier || old.kind != val.kind
			a.put(m.key, val)
		}
	}
}

// unionText appends the missing strings.
func unionText(a, b *node) *node {
	out := &node{kind: isArray, at: a.at}
	seen := map[string]bool{}
	for _, list := range []*node{a, b} {
		for _, it := range list.items {
			if it.kind == isString {
				if seen[it.text] {
					continue
				}
				seen[it.text] = true
			}
			out.items = append(out.items, it.clone())
		}
	}
	return out
}

// unionPlugins appends plugins; of two versions of one the later stays, in its own place.
func unionPlugins(a, b *node) *node {
	out := &node{kind: isArray, at: a.at}
	last := map[string]*node{}
	for _, list := range []*node{a, b} {
		for _, it := range list.items {
			last[pluginName(it)] = it
		}
	}
	for _, list := range []*node{a, b} {
		for _, it := range list.items {
			if last[pluginName(it)] == it {
				out.items = append(out.items, it.clone())
			}
		}
	}
	return out
}

// pluginName is a plugin's package without its version, or its path. The options of one come in
// an array after it.
func pluginName(n *node) string {
	if n.kind == isArray && len(n.items) > 0 {
		n = n.items[0]
	}
	name := n.text
	for i := len(name) - 1; i > 0; i-- { // an @ at the start belongs to the name
		if name[i] == '/' {
			break
		}
		if name[i] == '@' {
			return name[:i]
		}
	}
	return name
}
