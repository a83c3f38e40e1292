package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/model"
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
		var j model.Joiner
		for i, d := range c.deltas {
			if got, ok := j.Text([]byte(`"` + d + `"`)); !ok || got != c.want[i] {
				t.Errorf("%q, delta %d: %q, %v, want %q", c.deltas, i, got, ok, c.want[i])
			}
		}
		if got := j.Rest(); got != c.rest || j.Rest() != "" {
			t.Errorf("%q leaves %q, want %q", c.deltas, got, c.rest)
		}
	}
}

func TestJoiner_NoString(t *testing.T) {
	for _, raw := range []string{``, `"`, `a`, `null`, `{}`, `"a`, `"\x"`} {
		var j model.Joiner
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
		var j model.Joiner
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
		if got += j.Rest(); got != text {
			t.Fatalf("%q, want %q", got, text)
		}
	})
}

func TestStringEnd(t *testing.T) {
	for in, want := range map[string]int{
		``: 0, `a`: 0, `"`: 0, `""`: 2, `"a"b`: 3, `"a`: 0, `"\""`: 4, `"\\"x"`: 4, `"\`: 0, "\"\n\"": 0, "\"\x1f\"": 0, `"é"`: 4,
	} {
		if got := model.StringEnd([]byte(in)); got != want {
			t.Errorf("StringEnd(%q) = %d, want %d", in, got, want)
		}
	}
}

// It ends where a decoder of JSON ends.
func FuzzStringEnd(f *testing.F) {
	f.Add([]byte(`"a\"b" rest`))
	f.Add([]byte(`"\\\\"`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 || in[0] != '"' {
			return
		}
		d := json.NewDecoder(bytes.NewReader(in))
		var s string
		if d.Decode(&s) != nil {
			return
		}
		if got, want := model.StringEnd(in), int(d.InputOffset()); got != want {
			t.Fatalf("StringEnd(%q) = %d, want %d", in, got, want)
		}
	})
}

func TestKept(t *testing.T) {
	var k model.Kept
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

// What is asked for again and again stays; what nobody asks for goes.
func TestKept_Generations(t *testing.T) {
	var k model.Kept
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

func TestKept_Concurrent(t *testing.T) {
	var k model.Kept
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
