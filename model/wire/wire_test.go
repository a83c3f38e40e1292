package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

func TestJoiner(t *testing.T) {
	for _, c := range []struct {
		deltas []string // without their quotes
		want   []string
		rest   string
	}{
		{[]string{`a`, ``, `b`}, []string{"a", "", "b"}, ""},
		{[]string{`\ud83d\ude00`}, []string{"😀"}, ""},
		{[]string{`a\ud83d`, `\ude00b`}, []string{"a", "😀b"}, ""},
		{[]string{`\uD83D`, `\uDE00`}, []string{"", "😀"}, ""},
		{[]string{`\ud83d`, ``, `\ude00`}, []string{"", "", "😀"}, ""},
		{[]string{`\ud83d`, `x`}, []string{"", "\uFFFDx"}, ""},
		{[]string{`\ud83d`, `\ud83d`, `\ude00`}, []string{"", "\uFFFD", "😀"}, ""},
		{[]string{`a\ud83d`}, []string{"a"}, "\uFFFD"},
		{[]string{`\ude00`}, []string{"\uFFFD"}, ""}, // a second half alone waits for nothing
		{[]string{`\\ud83d`, `\ude00`}, []string{`\ud83d`, "\uFFFD"}, ""},
		{[]string{`\\\ud83d`, `\ude00`}, []string{`\`, "😀"}, ""},
		{[]string{`\u00e9`}, []string{"é"}, ""},
	} {
		var j wire.Joiner
		for i, d := range c.deltas {
			if got, ok := j.Text([]byte(`"` + d + `"`)); !ok || got != c.want[i] {
				t.Errorf("%q, delta %d: %q, %v, want %q", c.deltas, i, got, ok, c.want[i])
			}
		}
		if got := j.Flush(); got != c.rest || j.Flush() != "" {
			t.Errorf("%q leaves %q, want %q", c.deltas, got, c.rest)
		}
	}
}

func TestJoiner_NoString(t *testing.T) {
	for _, raw := range []string{``, `"`, `a`, `null`, `{}`, `"a`, `"\x"`} {
		var j wire.Joiner
		if got, ok := j.Text([]byte(raw)); ok {
			t.Errorf("%q is read as %q", raw, got)
		}
	}
}

// I10: how a text is cut into deltas does not change it, even inside a pair, and what was read
// is not changed.
func TestJoiner_AnyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune{'a', 'é', '😀', '\\', '"', '\n', 'u', 'd'})).Draw(t, "text")
		var j wire.Joiner
		got := ""
		units := utf16.Encode([]rune(text))
		for len(units) > 0 {
			n := rapid.IntRange(1, len(units)).Draw(t, "cut")
			var raw strings.Builder
			for _, u := range units[:n] {
				fmt.Fprintf(&raw, `\u%04x`, u)
			}
			units = units[n:]
			delta := []byte(`"` + raw.String() + `"`)
			before := bytes.Clone(delta)
			s, ok := j.Text(delta)
			if !ok || !bytes.Equal(before, delta) {
				t.Fatalf("%s became %s, %v", before, delta, ok)
			}
			got += s
		}
		if got += j.Flush(); got != text {
			t.Fatalf("%q, want %q", got, text)
		}
	})
}

// One odd member does not cost the rest; what is cut off is distinguished from what is no JSON.
func TestUnmarshal(t *testing.T) {
	var to struct {
		A int
		B string
		N []wire.Number
	}
	if err := wire.Unmarshal([]byte(`{"A":1.5,"B":"b","N":[7,-7.0,"7","x",null,{},1e99,true]}`), &to); err != nil || to.A != 0 || to.B != "b" {
		t.Error(err, to)
	}
	if diff := cmp.Diff([]wire.Number{{N: 7, Known: true}, {N: -7, Known: true}, {N: 7, Known: true}, {}, {}, {}, {}, {}}, to.N); diff != "" {
		t.Error(diff)
	}
	for data, want := range map[string]string{`{"B":`: "the answer ended early", `{"B":x}`: "the provider sent invalid JSON", ``: "the answer ended early"} {
		err := wire.Unmarshal([]byte(data), &to)
		if got := wire.MalformedEvent("p", []byte(data), err); err == nil || got.Error() != want || lathe.CodeOf(got) != lathe.Unavailable {
			t.Errorf("%q: %v %v", data, err, got)
		}
	}
}

func TestInput(t *testing.T) {
	for in, want := range map[string]string{``: `{}`, `null`: `{}`, `[1]`: `{}`, `{"a":1`: `{}`, ` {"a":1} `: `{"a":1}`, `"x"`: `{}`} {
		if got := string(wire.InputObject(model.CallContent{Input: json.RawMessage(in)})); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestCallIDs_OfFamilies(t *testing.T) {
	for id, want := range map[string]string{
		"call_abc123456789": "callabc12", "a-b": "ab0000000", "": "000000000", "D681PevKs": "D681PevKs",
		"chatcmpl-tool-9f149c74c42f265b": "4c42f265b", "functions.bash:12": "onsbash12", "call_01ARYZ6S410000000000000007": "000000007",
	} {
		if got := wire.ShortCallID(id); got != want || len(got) != 9 {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
	for id, want := range map[string]string{"": "", "toolu_01-A": "toolu_01-A", "functions.bash:12": "functions_bash_12", "é/": "__"} {
		if got := wire.PlainCallID(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func TestCache(t *testing.T) {
	var k wire.Cache
	made := 0
	get := func(key, value string) string {
		return string(k.Get(key, func() []byte { made++; return []byte(value) }))
	}
	for _, want := range []int{1, 1, 1} {
		if got := get("a", "first"); got != "first" || made != want {
			t.Errorf("%q, made %d times", got, made)
		}
	}
	if got := get("b", "second"); got != "second" || made != 2 {
		t.Errorf("%q, made %d times", got, made)
	}
	for range 2 {
		if got := get("", "nothing"); got != "nothing" {
			t.Error(got)
		}
	}
	if made != 4 {
		t.Errorf("an empty key keeps something: %d", made)
	}
}

// What is asked for again and again stays; what no client asks for goes.
func TestCache_Generations(t *testing.T) {
	var k wire.Cache
	made, space := map[string]int{}, make([]byte, 4<<20)
	get := func(key string, size int) {
		b := k.Get(key, func() []byte { made[key]++; return space[:size] })
		if len(b) != size {
			t.Fatalf("%s: %d bytes", key, len(b))
		}
	}
	get("used", 10)
	get("forgotten", 10)
	for i := range 40 {
		get("used", 10)
		get(fmt.Sprintf("large %d", i), len(space))
	}
	get("forgotten", 10)
	if made["used"] != 1 || made["forgotten"] != 2 {
		t.Errorf("made %d and %d times", made["used"], made["forgotten"])
	}
}

// A client at rest holds nothing, and nothing wakes it.
func TestCache_Rest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k wire.Cache
		made := 0
		get := func() { k.Get("key", func() []byte { made++; return []byte("x") }) }
		for range 10 { // used all the time, so it stays
			get()
			time.Sleep(50 * time.Second)
		}
		if made != 1 {
			t.Errorf("made %d times while it was used", made)
		}
		time.Sleep(2 * time.Minute)
		if get(); made != 2 {
			t.Errorf("made %d times: it was held by a client at rest", made)
		}
	})
}

func TestCache_Concurrent(t *testing.T) {
	var k wire.Cache
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 500 {
				key := fmt.Sprint((i + g) % 50)
				if got := string(k.Get(key, func() []byte { return []byte("value of " + key) })); got != "value of "+key {
					t.Errorf("%s: %q", key, got)
				}
			}
		})
	}
	all.Wait()
}

func drawMessage(t *rapid.T) model.Message {
	word := rapid.SampledFrom([]string{"", "a", "b", "ab"})
	raw := func() []byte { return []byte(word.Draw(t, "raw")) }
	file := func() model.FileContent {
		return model.FileContent{Mime: word.Draw(t, "mime"), Name: word.Draw(t, "name"), Data: word.Draw(t, "data"), URL: word.Draw(t, "url")}
	}
	m := model.Message{Role: rapid.SampledFrom([]model.Role{model.UserRole, model.AssistantRole, model.ToolRole}).Draw(t, "role")}
	for range rapid.IntRange(0, 3).Draw(t, "content") {
		var c model.Content
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			c = model.TextContent{Text: word.Draw(t, "text"), Meta: raw()}
		case 1:
			c = model.ReasoningContent{Text: word.Draw(t, "text"), Meta: raw()}
		case 2:
			c = file()
		case 3:
			c = model.CallContent{ID: word.Draw(t, "id"), Name: word.Draw(t, "name"), Input: raw(), Executed: rapid.Bool().Draw(t, "executed"), Meta: raw()}
		default:
			r := model.ResultContent{ID: word.Draw(t, "id"), Text: word.Draw(t, "text"), Failed: rapid.Bool().Draw(t, "failed"), Executed: rapid.Bool().Draw(t, "executed"), Meta: raw()}
			for range rapid.IntRange(0, 2).Draw(t, "media") {
				r.Media = append(r.Media, file())
			}
			c = r
		}
		m.Content = append(m.Content, c)
	}
	return m
}

// Messages without keys are the same exactly if they hold the same.
func TestCache_Message(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var k wire.Cache
		a, b := drawMessage(t), drawMessage(t)
		if rapid.Bool().Draw(t, "equal") {
			b = a
		}
		k.Message("", a, func() []byte { return []byte("a") })
		got := string(k.Message("", b, func() []byte { return []byte("b") }))
		if same := cmp.Equal(a, b); same != (got == "a") {
			t.Fatalf("%+v and %+v: %v", a, b, got)
		}
		if got := string(k.Message("other", a, func() []byte { return []byte("c") })); got != "c" {
			t.Fatal("the variant is not told apart")
		}
	})
}

func TestCache_Turns(t *testing.T) {
	say := func(role model.Role, words string) model.Message {
		return model.Message{Role: role, Content: []model.Content{model.TextContent{Text: words}}}
	}
	var k wire.Cache
	turns := k.Turns("", []model.Message{
		say(model.UserRole, "a"), say(model.AssistantRole, "b"), say(model.ToolRole, "c"), say(model.AssistantRole, ""), say(model.UserRole, "d"), say(model.AssistantRole, "e"),
	}, func(m model.Message) []byte { return []byte(m.Content[0].(model.TextContent).Text) })
	var got []string
	for _, turn := range turns {
		got = append(got, fmt.Sprintf("%s %q %s", turn.Role, turn.Pieces, turn.Last.Content[0].(model.TextContent).Text))
	}
	want := []string{`user ["a"] a`, `assistant ["b"] b`, `user ["c" "d"] d`, `assistant ["e"] e`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	body := wire.Join([]byte("["), turns, func(b []byte, t wire.Turn) []byte { return append(append(b, t.Role[0]), '(') },
		func(b []byte, i int) []byte { return append(b, ')', byte('0'+i)) })
	if string(body) != "[u(a)0,a(b)1,u(c,d)2,a(e)3" {
		t.Errorf("%s", body)
	}
}

// Calls of one id become calls of several, each with its own result; what is right stays.
func TestUniqueCalls(t *testing.T) {
	step := func(key string, ids ...string) []model.Message {
		call, result := model.Message{Role: model.AssistantRole, Key: key}, model.Message{Role: model.ToolRole, Key: key + "r"}
		for _, id := range ids {
			call.Content = append(call.Content, model.TextContent{Text: "a"}, model.CallContent{ID: id, Name: "f"})
			result.Content = append(result.Content, model.ResultContent{ID: id, Name: "f", Text: key})
		}
		return []model.Message{call, result}
	}
	history := func(steps ...[]model.Message) (out []model.Message) {
		for _, s := range steps {
			out = append(out, s...)
		}
		return out
	}
	for name, c := range map[string]struct{ in, want []model.Message }{
		"none twice":       {history(step("1", "a", "b"), step("2", "c")), history(step("1", "a", "b"), step("2", "c"))},
		"begun anew":       {history(step("1", "a", "b"), step("2", "a"), step("3", "a")), history(step("1", "a", "b"), step("", "a_2"), step("", "a_3"))},
		"another is there": {history(step("1", "a_2"), step("2", "a"), step("3", "a")), history(step("1", "a_2"), step("2", "a"), step("", "a_3"))},
		"the same for it":  {history(step("1", "f.x:0"), step("2", "f_x_0")), history(step("1", "f.x:0"), step("", "f_x_0_2"))},
	} {
		before := fmt.Sprint(c.in)
		got := wire.DedupeCallIDs(c.in)
		for i := range c.want {
			if c.want[i].Key == "" || c.want[i].Key == "r" { // made again: its words are those of what it was
				c.want[i].Key = ""
				for j, part := range c.want[i].Content {
					if res, ok := part.(model.ResultContent); ok {
						res.Text = got[i].Content[j].(model.ResultContent).Text
						c.want[i].Content[j] = res
					}
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if fmt.Sprint(c.in) != before {
			t.Errorf("%s: what came in was changed", name)
		}
	}
}
