package config

import (
	"strings"
	"testing"
)

// parsed reads settings with some variables and files.
func parsed(t *testing.T, text string, env, files map[string]string) (string, *Error) {
	t.Helper()
	s := &source{name: "x.json", dir: "/dir", text: []byte(text)}
	err := s.parse(substitution{
		home: "/home/dev",
		env:  func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		read: func(path string) ([]byte, error) {
			if v, ok := files[path]; ok {
				return []byte(v), nil
			}
			return nil, errNotFile
		},
	})
	if err != nil {
		return "", err
	}
	return string(s.root.appendJSON(nil)), nil
}

func TestParse_Substitution(t *testing.T) {
	env := map[string]string{
		"NAME": "dev", "PORT": "4096", "QUOTE": `a"b\c` + "\n", "MORE": "{env:NAME}", "LIST": `["a", "b"]`,
	}
	files := map[string]string{
		"/dir/key.txt": "  secret\n\n", "/home/dev/key": "mine", "/abs/key": "abs", "/dir/loop": "{file:loop}{env:NAME}",
		"/dir/members": `"a": 1, "b": [2]`, "/dir/mark": "\ufeffmarked",
	}
	for _, c := range []struct{ text, want string }{
		{`{"a": "{env:NAME}"}`, `{"a":"dev"}`},
		{`{"a": "x{env:NAME}y{env:NAME}z"}`, `{"a":"xdevydevz"}`},
		{`{"{env:NAME}": 1}`, `{"dev":1}`},
		{`{"a": "{env:NONE}"}`, `{"a":""}`},
		{`{"a": "{env:QUOTE}"}`, `{"a":"a\"b\\c\n"}`},                      // escaped inside a string
		{`{"a": {env:PORT}, "b": {env:LIST}}`, `{"a":4096,"b":["a","b"]}`}, // raw outside
		{`{"a": "{env:MORE}"}`, `{"a":"{env:NAME}"}`},                      // not looked at again
		{`{"a": "{file:key.txt}"}`, `{"a":"secret"}`},
		{`{"a": "{file:./key.txt}"}`, `{"a":"secret"}`},
		{`{"a": "{file:~/key} {file:/abs/key}"}`, `{"a":"mine abs"}`},
		{`{"a": "{file:loop}"}`, `{"a":"{file:loop}{env:NAME}"}`}, // so there are no cycles
		{`{"a": "{file:mark}"}`, `{"a":"marked"}`},
		{`{ {file:members} }`, `{"a":1,"b":[2]}`},
		{"{\n  // {file:none}\n  \"a\": 1 // {file:none}\n}", `{"a":1}`},
		{`{"a": /* {file:none} */ 1}`, `{"a":1}`},
		{`{"a": "http://x/{env:NAME}"}`, `{"a":"http://x/dev"}`}, // no comment in a string
		{`{"a": "\"// {env:NAME}"}`, `{"a":"\"// dev"}`},
		{`{"a": "{env:}", "b": "{env:A", "c": "}"}`, `{"a":"{env:}","b":"{env:A","c":"}"}`},
		{`{"a": "{other:x} {env NAME}"}`, `{"a":"{other:x} {env NAME}"}`},
	} {
		got, err := parsed(t, c.text, env, files)
		if err != nil || got != c.want {
			t.Errorf("%s: got %s, want %s; %v", c.text, got, c.want, err)
		}
	}
}

func TestParse_SubstitutionFails(t *testing.T) {
	files := map[string]string{"/dir/deep": strings.Repeat("[", maxDepth+1), "/dir/bytes": "\xff"}
	for _, c := range []struct{ text, want string }{
		{"{\n \"a\": \"{file:none}\"\n}", "x.json:2:8: {file:none}: /dir/none: is not a file\n   \"a\": \"{file:none}\"\n         ^"},
		{`{"a": "{file:bytes}"}`, "x.json:1:8: {file:bytes}: /dir/bytes: is not valid UTF-8\n  {\"a\": \"{file:bytes}\"}\n         ^"},
		{`{"a": {file:deep}}`, "x.json:1:7: is nested more than 500 deep\n  {\"a\": {file:deep}}\n        ^"},
		{`{"a": {env:NONE}}`, "x.json:1:17: a value is missing before this\n  {\"a\": {env:NONE}}\n                  ^"},
		{`{"a": "{file:deep}", "b" 1}`, "x.json:1:26: a colon is missing before this\n  {\"a\": \"{file:deep}\", \"b\" 1}\n                           ^"},
	} {
		_, err := parsed(t, c.text, nil, files)
		if err == nil {
			t.Errorf("%s: no error", c.text)
			continue
		}
		equal(t, err.Error(), c.want)
	}
}

func TestParse_Comments(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `{}`},
		{" \r\n", `{}`},
		{"// only\n", `{}`},
		{"\ufeff{\"a\": 1}", `{"a":1}`},
		{"{\r\n  \"a\": 1, // one\r\n}\r\n", `{"a":1}`},
		{"/* a */ {/* b */ \"a\" /* c */ : /* d */ [1, /* e */ 2,] /* f */ , } // g", `{"a":[1,2]}`},
		{`{"b": 1, "a": 2, "b": 3}`, `{"b":3,"a":2}`}, // the last, in the first place
		{`{"n": [1.50, -0, 1e400, 12345678901234567890], "s": "\u00e9\/\ud83d\ude00"}`, `{"n":[1.50,-0,1e400,12345678901234567890],"s":"é/😀"}`},
	} {
		got, err := parsed(t, c.text, nil, nil)
		if err != nil || got != c.want {
			t.Errorf("%q: got %s, want %s; %v", c.text, got, c.want, err)
		}
	}
}

// Problems after what was put in are shown where they stand in the file.
func TestParse_PlacesAfterSubstitution(t *testing.T) {
	s := &source{name: "x.json", table: settings(), text: []byte("\ufeff{\"username\": \"{env:LONG}\",\n \"share\": \"{env:LONG}\", \"modle\": 1, \"logLevel\": \"x\"}")}
	err := s.parse(substitution{env: func(string) (string, bool) { return strings.Repeat("long\n", 20), true }})
	if err != nil {
		t.Fatal(err)
	}
	bad := s.check()
	var at [][2]int
	for _, p := range append(bad.Problems, s.warns...) {
		at = append(at, [2]int{p.Line, p.Column})
	}
	equal(t, at, [][2]int{{2, 11}, {2, 49}, {2, 25}, {2, 37}})
}
