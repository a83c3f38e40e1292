package config

import (
	"testing"

	"pgregory.net/rapid"
)

// merged lays values over each other without changing them.
func merged(all ...*node) *node {
	out := all[0].clone()
	for _, n := range all[1:] {
		overlay(out, n, concatenated)
	}
	return out
}

func nodeOf(t testing.TB, text string) *node {
	t.Helper()
	s := &source{name: "x", text: []byte(text)}
	if err := s.parse(substitution{inert: true}); err != nil {
		t.Fatal(err)
	}
	return s.root
}

func TestOverlay(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"deep, in the first order", `{"a": {"x": 1, "y": 2}, "b": 1}`, `{"c": 3, "a": {"z": 3, "x": 4}}`, `{"a": {"x": 4, "y": 2, "z": 3}, "b": 1, "c": 3}`},
		{"lists replace", `{"a": [1, 2], "watcher": {"ignore": ["x"]}}`, `{"a": [3], "watcher": {"ignore": []}}`, `{"a": [3], "watcher": {"ignore": []}}`},
		{"another kind replaces", `{"a": {"x": 1}, "b": 1}`, `{"a": false, "b": {"y": 1}}`, `{"a": false, "b": {"y": 1}}`},
		{"instructions add up", `{"instructions": ["a", "b", "a"]}`, `{"instructions": ["c", "b", "c"]}`, `{"instructions": ["a", "b", "c"]}`},
		{"but only at the top", `{"x": {"instructions": ["a"]}}`, `{"x": {"instructions": ["b"]}}`, `{"x": {"instructions": ["b"]}}`},
		{"the later plugin stays", `{"plugin": ["a@1", "@o/b", ["c", {"x": 1}], "file:///d.ts"]}`, `{"plugin": ["file:///d.ts", "a@2", "@o/b@3", "c@9", "e"]}`, `{"plugin": ["file:///d.ts", "a@2", "@o/b@3", "c@9", "e"]}`},
		{"new plugins come last", `{"plugin": ["a", "b"]}`, `{"plugin": ["a@2"]}`, `{"plugin": ["b", "a@2"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := nodeOf(t, c.a), nodeOf(t, c.b)
			sameJSON(t, merged(a, b).appendJSON(nil), c.want)
			sameJSON(t, a.appendJSON(nil), c.a) // neither is changed
			sameJSON(t, b.appendJSON(nil), c.b)
		})
	}
}

// genNode makes values with few keys, so that they meet, and of all kinds, so that they
// conflict.
func genNode(depth int) *rapid.Generator[*node] {
	return rapid.Custom(func(t *rapid.T) *node {
		kinds := []kind{isString, isNumber, isBool, isNull, isArray, isObject, isObject, isObject}
		n := &node{kind: rapid.SampledFrom(kinds).Draw(t, "kind"), at: location{src: &source{}}}
		if depth == 0 && (n.kind == isObject || n.kind == isArray) {
			n.kind = isString
		}
		switch n.kind {
		case isString:
			n.text = rapid.SampledFrom([]string{"a", "b", "a@1", "1"}).Draw(t, "text")
		case isNumber:
			n.text = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "number")
		case isBool:
			n.text = "true"
		case isNull:
			n.text = "null"
		case isArray:
			n.items = rapid.SliceOfN(genNode(depth-1), 0, 3).Draw(t, "items")
		case isObject:
			keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z", "instructions", "plugin"}), 0, 4, rapid.ID[string]).Draw(t, "keys")
			for _, k := range keys {
				n.put(k, genNode(depth-1).Draw(t, k))
			}
			n.barrier = rapid.IntRange(0, 9).Draw(t, "barrier") == 0
		}
		return n
	})
}

func genRoot() *rapid.Generator[*node] {
	return rapid.Custom(func(t *rapid.T) *node {
		n := genNode(4).Filter(func(n *node) bool { return n.kind == isObject }).Draw(t, "root")
		n.barrier = false
		return n
	})
}

// However many sources are grouped, together they say the same, in the same order.
func TestOverlay_Associative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(genRoot(), 3, 5).Draw(t, "sources")
		at := rapid.IntRange(1, len(all)-1).Draw(t, "cut")
		want := string(merged(all...).appendJSON(nil))
		left := merged(all[:at]...)
		if got := string(merged(left, merged(all[at:]...)).appendJSON(nil)); got != want {
			t.Fatalf("in two groups %s, one by one %s", got, want)
		}
		if got := string(merged(append([]*node{all[0]}, merged(all[1:]...))...).appendJSON(nil)); got != want {
			t.Fatalf("from the right %s, from the left %s", got, want)
		}
	})
}

// Large objects have an index, which must not lie.
func TestNode_Index(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, want := objectNode(location{}), map[string]string{}
		var order []string
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			k := rapid.StringMatching(`[a-z][0-9]?`).Draw(t, "key")
			if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
				n.drop(k)
				delete(want, k)
				continue
			}
			if n.get(k) == nil {
				order = append(order, k)
			}
			want[k] = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "value")
			n.put(k, stringNode(want[k], location{}))
			n = n.clone()
		}
		for _, k := range order {
			got := n.get(k)
			if v, ok := want[k]; ok != (got != nil) || ok && got.text != v {
				t.Fatalf("%s is %v, want %q", k, got, v)
			}
		}
		if len(n.members) != len(want) {
			t.Fatalf("%d members, want %d", len(n.members), len(want))
		}
	})
}
