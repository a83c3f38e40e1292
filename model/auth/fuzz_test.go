package auth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzFile holds that writing one credential into any file keeps all the others as they are,
// and that what was written is read back.
func FuzzFile(f *testing.F) {
	f.Add([]byte(entries))
	f.Add([]byte(`{"a":1,"a/":2,"":{"type":"api","key":"k"}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		path := filepath.Join(t.TempDir(), "auth.json")
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		file := Open(Source{Path: path})
		before, err := load(path)
		if err != nil {
			return
		}
		if err := file.Set(t.Context(), "mine/", Key{Key: NewSecret("k")}); err != nil {
			t.Fatal(err)
		}
		if c, err := file.Credential("mine"); err != nil || c.(Key).Key.Reveal() != "k" {
			t.Fatal(c, err)
		}
		after, err := load(path)
		if err != nil {
			t.Fatal(err)
		}
		for key, raw := range before {
			if clean(key) != "mine" && !same(raw, after[key]) {
				t.Fatalf("%q: %s became %s", key, raw, after[key])
			}
		}
	})
}

func same(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return string(a) == string(b)
	}
	left, _ := json.Marshal(x)
	right, _ := json.Marshal(y)
	return string(left) == string(right)
}

// FuzzParseKey holds that what is taken for a key can be sent in a header as it is, and that
// taking it again changes nothing.
func FuzzParseKey(f *testing.F) {
	for _, text := range []string{"sk-1\n", "\uFEFFsk-1", "a b", "\xff\xfes\x00", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := ParseKey(text)
		if (err == nil) == key.IsEmpty() {
			t.Fatal(key, err)
		}
		if err != nil {
			return
		}
		for _, b := range []byte(key.Reveal()) {
			if b <= ' ' || b > '~' {
				t.Fatalf("%q", key.Reveal())
			}
		}
		if again, err := ParseKey(key.Reveal()); err != nil || again.Reveal() != key.Reveal() {
			t.Fatal(again, err)
		}
	})
}
