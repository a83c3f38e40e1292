package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
)

// writer writes a value the way people do: with any white space and comments anywhere.
type writer struct {
	t   *rapid.T
	b   strings.Builder
	eol string
	n   int // comments so far
}

func (w *writer) space() {
	for rapid.IntRange(0, 2).Draw(w.t, "more") == 0 {
		w.n++
		switch rapid.IntRange(0, 4).Draw(w.t, "space") {
		case 0:
			w.b.WriteString(" ")
		case 1:
			w.b.WriteString(w.eol + "\t")
		case 2:
			w.b.WriteString("// line " + strings.Repeat("x", w.n) + w.eol)
		case 3:
			w.b.WriteString("/* block " + strings.Repeat("y", w.n) + w.eol + " */")
		case 4:
			w.b.WriteString(w.eol + "    ")
		}
	}
}

func (w *writer) value(n *node) {
	w.space()
	defer w.space()
	if n.kind != isObject && n.kind != isArray {
		w.b.Write(n.appendJSON(nil))
		return
	}
	ends := "{}"
	if n.kind == isArray {
		ends = "[]"
	}
	w.b.WriteByte(ends[0])
	for i, m := range n.members {
		w.comma(i)
		w.space()
		w.b.Write(lathe.AppendJSONString(nil, m.key))
		w.space()
		w.b.WriteString(":")
		w.value(m.val)
	}
	for i, it := range n.items {
		w.comma(i)
		w.value(it)
	}
	if len(n.members)+len(n.items) > 0 && rapid.Bool().Draw(w.t, "trailing comma") {
		w.b.WriteString(",")
	}
	w.space()
	w.b.WriteByte(ends[1])
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.b.WriteString(",")
	}
}

// patched is what a change means, in plain values.
func patched(old, change any) any {
	patch, ok := change.(map[string]any)
	if !ok {
		return change
	}
	out := map[string]any{}
	if was, ok := old.(map[string]any); ok {
		for k, v := range was {
			out[k] = v
		}
	}
	for k, v := range patch {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = patched(out[k], v)
	}
	return out
}

func plain(t *rapid.T, text []byte) (out any) {
	std, err := hujson.Standardize([]byte(strings.TrimPrefix(string(text), "\ufeff") + "\n"))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := json.Unmarshal(std, &out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func allComments(t *rapid.T, text []byte) []string {
	v, err := hujson.Parse([]byte(strings.TrimPrefix(string(text), "\ufeff") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	out := slices.Concat(comments(v.BeforeExtra), commentsIn(v.Value), comments(v.AfterExtra))
	slices.Sort(out)
	return out
}

// An edited file says what it said with the change laid over it, and keeps every comment.
func TestEditText_Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t, eol: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")}
		old := genRoot().Draw(t, "old")
		old.drop("instructions") // these two have their own kinds
		old.drop("plugin")
		change := genRoot().Draw(t, "change")
		change.drop("instructions")
		change.drop("plugin")
		if rapid.Bool().Draw(t, "mark") {
			w.b.WriteString("\ufeff")
		}
		w.value(old)
		text := []byte(w.b.String())
		out, err := editText("lathe.json", text, change.appendJSON(nil))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		want := patched(plain(t, text), plain(t, change.appendJSON(nil)))
		if got := plain(t, out); !reflect.DeepEqual(got, want) {
			t.Fatalf("from\n%s\nwith\n%s\ngot\n%s", text, change.appendJSON(nil), out)
		}
		if had, has := allComments(t, text), allComments(t, out); !slices.Equal(had, has) {
			t.Fatalf("comments were %q and are %q\nfrom\n%s\nto\n%s", had, has, text, out)
		}
		again, err := editText("lathe.json", out, change.appendJSON(nil))
		if err != nil || string(again) != string(out) {
			t.Fatalf("a second time it changes again: %v\n%s\n%s", err, out, again)
		}
	})
}
