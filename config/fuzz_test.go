package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"golang.org/x/tools/txtar"
)

// seeds adds the settings of testdata that have an ending.
func seeds(f *testing.F, endings ...string) {
	f.Helper()
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, a := range txtar.Parse(text).Files {
			for _, end := range endings {
				if strings.HasSuffix(a.Name, end) {
					f.Add(a.Data)
				}
			}
		}
	}
}

// typed takes a source that passed its check through all that follows.
func typed(t *testing.T, s *source, to any) {
	t.Helper()
	for _, bare := range []bool{true, false} {
		c := *s
		c.root = s.root.clone()
		if bare {
			takeRisks(&c, ownedNames{})
		} else if c.inert {
			continue // what was not put in has no type
		}
		c.normalize("/home/dev")
		known := onlyKnown(c.table, c.root)
		all := merged(objectNode(location{src: s}), known, known)
		rewriteOldKeys(all)
		if err := decode(all, to); err != nil {
			t.Fatalf("%v\n%s", err, s.text)
		}
		for _, risk := range takeRisks(&source{name: "x", table: c.table, root: c.root}, ownedNames{}) {
			if bare && !risky(risk) {
				t.Fatalf("a risk was left: %v\n%s", risk, s.text)
			}
		}
	}
}

// risky tells of values that only normalising made risky: paths of references are complete
// then, options have moved.
func risky(r Risk) bool {
	return len(r.Key) > 0 && slices.Contains([]string{"agent", "mode", "references", "reference"}, r.Key[0])
}

func FuzzParseSource(f *testing.F) {
	seeds(f, ".json", ".jsonc")
	for _, s := range []string{
		"", "{}", "\ufeff{}", "//", "/*", `{"a": {env:A}}`, `{"a": "{file:b}"}`, `{"model": null}`, `{"agent": {"a": {"steps": 1e1}}}`,
		`{"permission": {"bash": {"*": "ask"}}, "tools": {"write": true}, "mode": {"a": {"tools": {"x": false}}}}`,
		`{"plugin": [["a", {}], "./b"], "lsp": true, "formatter": {}}`, `{"Shell": "x", "reference": {"a": {"path": "x", "repository": "y"}}}`,
		`{"provider": {"a": {"options": {"timeout": false, "TimeOut": "x"}, "models": {"m": {"interleaved": {"field": "x"}}}}}}`,
	} {
		f.Add([]byte(s))
	}
	env := func(string) (string, bool) { return `x "y" 5`, true }
	read := func(string) ([]byte, error) { return []byte(`{"z": 1}`), nil }
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, table := range []*spec{settings(), tuiTable()} {
			for _, inert := range []bool{true, false} {
				s := &source{name: "x.json", dir: "/dir", table: table, text: text}
				err := s.parse(substitution{env: env, read: read, home: "/home/dev", inert: inert})
				if err == nil && !s.opaque {
					err = s.check()
				}
				switch {
				case err != nil:
					if !json.Valid(err.Wire()) || !strings.Contains(err.Error(), "x.json") {
						t.Fatalf("%q", err.Error())
					}
				case s.opaque:
				case table == settings():
					typed(t, s, &Config{})
				default:
					typed(t, s, &TUI{})
				}
			}
		}
	})
}

func FuzzFrontMatter(f *testing.F) {
	seeds(f, ".md")
	for _, s := range []string{
		"", "---", "---\n---", "---\na: b\n---\nc", "---\r\na: b: c\r\n---\r\n", "\ufeff---\na: |\n  b\n---\n", "---\n? [a]\n: b\n---\n",
		"---\n- a\n---\n", "---\na: &x [1]\nb: *x\n<<: *x\n---\n", "---\na: !!binary x\n---\n", "---\n\"a: b\n---\n", "---\na: 0x1F\nb: .5\nc: 1e400\nd: -.inf\n---\n",
		"---\n{a: [b, {c: d}]}\n---\n", "---\ntools: {x: true}\nsteps: 1_0\nmode: all\n---\nbody", "---\n%YAML 1.2\n---\n", "---\na:\n\n\n  - b\n-\n---\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, kind := range markdownKinds {
			s := &source{name: "x.md", table: settings(), text: text}
			body, err := s.parseMarkdown()
			if err != nil {
				if err.Kind != FrontmatterError || !strings.Contains(err.Error(), "x.md:") {
					t.Fatalf("%q", err.Error())
				}
				return
			}
			if !json.Valid(s.root.appendJSON(nil)) {
				t.Fatalf("%s", s.root.appendJSON(nil))
			}
			s.root = kind.setting(s, "x", body)
			if s.check() == nil {
				typed(t, s, &Config{})
			}
		}
	})
}

func FuzzEdit(f *testing.F) {
	for _, text := range []string{
		"", "{}", "{ }\n", "{\n  // a\n  \"model\": \"x\", // b\n}\n", "{\"agent\": {\"a\": {}}} // c", "\ufeff{\r\n\t\"x\": [1, /* d */ 2],\r\n}",
		`{"a": 1, "a": 2}`, "// only", `{"x": {"y": {"z": null}}}`, `{"model": "{env:X}"}`,
	} {
		for _, change := range []string{`{}`, `{"model": "y"}`, `{"model": null, "agent": {"a": null, "b": {"mode": "all"}}}`, `{"x": {"y": [1, {"z": 1}]}}`, `{"a": null}`} {
			f.Add([]byte(text), []byte(change))
		}
	}
	f.Fuzz(func(t *testing.T, text, change []byte) {
		out, err := editText("lathe.json", text, change)
		if err != nil {
			return
		}
		want := patched(value(t, text), value(t, change))
		if got := value(t, out); !reflect.DeepEqual(got, want) {
			t.Fatalf("from\n%s\nwith\n%s\ngot\n%s", text, change, out)
		}
		again, err := editText("lathe.json", out, change)
		if err != nil || string(again) != string(out) {
			t.Fatalf("a second time it changes again: %v\n%q\n%q", err, out, again)
		}
	})
}

// value is a text as plain values; nothing is an object.
func value(t *testing.T, text []byte) (out any) {
	t.Helper()
	text = []byte(strings.TrimPrefix(string(text), "\ufeff") + "\n")
	if isBlank(text) {
		return map[string]any{}
	}
	std, err := hujson.Standardize(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	dec := json.NewDecoder(strings.NewReader(string(std)))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}
