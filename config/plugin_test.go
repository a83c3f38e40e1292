package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestAddPlugin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lathe.jsonc")
	add := func(spec string, replace bool) error { return AddPlugin(path, spec, replace) }
	if err := add("one@1", false); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{\n  // mine\n  \"plugin\": [\"one@1\", [\"@a/two@2\", {\"x\": 1}]]\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := add("one@1", false); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if err := add("@a/two@3", false); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("another version: %v", err)
	}
	for _, spec := range []string{"./three.py", "one@2"} {
		if err := add(spec, true); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if want := "{\n  // mine\n  \"plugin\": [\n    [\n      \"@a/two@2\",\n      {\n        \"x\": 1\n      }\n    ],\n    \"./three.py\",\n    \"one@2\"\n  ]\n}\n"; err != nil || string(text) != want {
		t.Errorf("%v\n%s", err, text)
	}
	if err := os.WriteFile(path, []byte("{ broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := add("four", false); err == nil {
		t.Error("a broken file was edited")
	}
}
