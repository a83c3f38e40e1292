package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestEditText(t *testing.T) {
	for _, c := range []struct{ name, text, change, want string }{
		{"new file", "", `{"model": "a/b", "agent": {"a": {"mode": "all"}}}`, "{\n  \"model\": \"a/b\",\n  \"agent\": {\n    \"a\": {\n      \"mode\": \"all\"\n    }\n  }\n}\n"},
		{"only comments", "// mine\n", `{"model": "a/b"}`, "// mine\n{\n  \"model\": \"a/b\"\n}\n"},
		{"a value", "{\n\t// fast\n\t\"model\": \"a/b\", // for now\n\t\"username\": \"x\"\n}", `{"model": "c/d"}`, "{\n\t// fast\n\t\"model\": \"c/d\", // for now\n\t\"username\": \"x\"\n}"},
		{"tabs", "{\n\t\"model\": \"a/b\"\n}\n", `{"agent": {"a": {"steps": 3}}, "instructions": ["x", "y"]}`, "{\n\t\"model\": \"a/b\",\n\t\"agent\": {\n\t\t\"a\": {\n\t\t\t\"steps\": 3\n\t\t}\n\t},\n\t\"instructions\": [\"x\", \"y\"]\n}\n"},
		{"four spaces", "{\n    \"agent\": {\n        \"a\": {}\n    }\n}\n", `{"agent": {"a": {"steps": 3}, "b": {}}}`, "{\n    \"agent\": {\n        \"a\": {\n            \"steps\": 3\n        },\n        \"b\": {}\n    }\n}\n"},
		{"one line", `{"model": "a/b"}`, `{"share": "manual", "agent": {"a": {"steps": 1}}}`, `{"model": "a/b", "share": "manual", "agent": {"a": {"steps": 1}}}`},
		{"one line with air", `{ "agent": {} }`, `{"agent": {"a": {}}, "model": "x"}`, `{ "agent": {"a": {}}, "model": "x" }`},
		{"one line in many", "{\n  \"agent\": {\"a\": {\"steps\": 1}}\n}", `{"agent": {"b": {"steps": 2}}}`, "{\n  \"agent\": {\"a\": {\"steps\": 1}, \"b\": {\"steps\": 2}}\n}"},
		{"trailing comma", "{\n  \"model\": \"a/b\",\n}\n", `{"share": "manual"}`, "{\n  \"model\": \"a/b\",\n  \"share\": \"manual\",\n}\n"},
		{"comment behind the last", "{\n  \"model\": \"a/b\" // best\n  /* end */\n}\n", `{"share": "manual"}`, "{\n  \"model\": \"a/b\", // best\n  /* end */\n  \"share\": \"manual\"\n}\n"},
		{"comment in an empty object", "{\n  // nothing yet\n}\n", `{"share": "manual"}`, "{\n  // nothing yet\n  \"share\": \"manual\"\n}\n"},
		{"carriage returns", "{\r\n  \"model\": \"a/b\" // x\r\n}\r\n", `{"agent": {"a": {"steps": 1}}}`, "{\r\n  \"model\": \"a/b\", // x\r\n  \"agent\": {\r\n    \"a\": {\r\n      \"steps\": 1\r\n    }\r\n  }\r\n}\r\n"},
		{"byte order mark", "\ufeff{\"model\": \"a/b\"}", `{"model": "c/d"}`, "\ufeff{\"model\": \"c/d\"}"},
		{"the same again", "{\n  \"instructions\": [\n    \"a\", // why\n  ],\n}", `{"instructions": ["a"]}`, "{\n  \"instructions\": [\n    \"a\", // why\n  ],\n}"},
		{"remove the first", "{\n  \"model\": \"a/b\",\n  \"share\": \"manual\"\n}", `{"model": null}`, "{\n  \"share\": \"manual\"\n}"},
		{"remove one in a line", `{"model": "a/b", "share": "manual"}`, `{"model": null}`, `{"share": "manual"}`},
		{"remove the last", "{\n  \"model\": \"a/b\",\n  \"share\": \"manual\"\n}", `{"share": null}`, "{\n  \"model\": \"a/b\"\n}"},
		{"remove the last, comma and all", "{\n  \"model\": \"a/b\",\n  \"share\": \"manual\",\n}", `{"share": null}`, "{\n  \"model\": \"a/b\",\n}"},
		{"remove the only one", "{\n  \"model\": \"a/b\"\n}", `{"model": null}`, "{}"},
		{"remove what is not there", "{\n  \"model\": \"a/b\"\n}", `{"share": null, "agent": {"a": null}}`, "{\n  \"model\": \"a/b\",\n  \"agent\": {}\n}"},
		{"remove, but not what is said", "{\n  // about the model\n  \"model\": \"a/b\", // chosen by dev\n  // about sharing\n  \"share\": \"manual\" /* never */\n}", `{"model": null, "share": null}`, "{\n  // about the model\n  // chosen by dev\n  // about sharing\n  /* never */\n}"},
		{"remove both of two", `{"model": "a/b", "share": "auto", "model": "c/d"}`, `{"model": null}`, `{"share": "auto"}`},
		{"nested removal", "{\n  \"agent\": {\n    \"a\": {\"steps\": 1, \"mode\": \"all\"}\n  }\n}", `{"agent": {"a": {"steps": null}}}`, "{\n  \"agent\": {\n    \"a\": {\"mode\": \"all\"}\n  }\n}"},
		{"comments of a list that goes", "{\n  \"instructions\": [\n    \"a\", // first\n    \"b\" /* second */\n  ]\n}", `{"instructions": ["c"]}`, "{\n  // first\n  /* second */\n  \"instructions\": [\"c\"]\n}"},
		{"long lists", `{
}`, `{"instructions": ["a long name of a file in a folder.md", "another long name of a file in a folder.md"]}`, "{\n  \"instructions\": [\n    \"a long name of a file in a folder.md\",\n    \"another long name of a file in a folder.md\"\n  ]\n}"},
		{"variables stay", `{"model": "{env:MODEL}", "share": "{env:S}"}`, `{"username": "x"}`, `{"model": "{env:MODEL}", "share": "{env:S}", "username": "x"}`},
		{"no change", "{ }", `{}`, "{ }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := editText("lathe.json", []byte(c.text), []byte(c.change))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, string(got), c.want)
		})
	}
}

func TestEditText_Refuses(t *testing.T) {
	for _, c := range []struct{ name, text, change, want string }{
		{"a wrong value", `{"model": "a/b"}`, `{"share": "always"}`, `lathe.json:1:27: share: "always" is not allowed: use "manual", "auto" or "disabled"`},
		{"a file that is broken", `{"model": }`, `{"share": "auto"}`, "lathe.json:1:11: a value is missing before this"},
		{"a file that is wrong elsewhere", `{"model": 5}`, `{"share": "auto"}`, "lathe.json:1:11: model: must be a string, not a number"},
		{"no object", `{}`, `["a"]`, "the change:1:1: must be an object, not an array"},
		{"no JSON", `{}`, `{"model": "a/b",}`, "a config change must be a JSON object"},
		{"nothing", `{}`, ``, "a config change must be a JSON object"},
		{"too deep", `{}`, `{"x": ` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, "the change:1:506: is nested more than 500 deep"},
		{"what nobody can parse", `{"subagent_depth": {env:N}}`, `{"share": "auto"}`, "lathe.json:1:20: is not inside a string; edit this file by hand"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := editText("lathe.json", []byte(c.text), []byte(c.change))
			if err == nil {
				t.Fatal("no error")
			}
			got, _, _ := strings.Cut(err.Error(), "\n")
			equal(t, got, c.want)
			equal(t, lathe.CodeOf(err), lathe.Invalid)
		})
	}
}

func TestEdit_File(t *testing.T) {
	w := newFixture(t)
	path := w.path("home/.config/lathe/lathe.json")
	if err := Edit(path, []byte(`{"model": "a/b"}`)); err != nil {
		t.Fatal(err)
	}
	equal(t, readMode(t, path), fs.FileMode(0o600))
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Edit(path, []byte(`{"share": "manual"}`)); err != nil {
		t.Fatal(err)
	}
	equal(t, readMode(t, path), fs.FileMode(0o640))
	before, _ := os.Stat(path)
	if err := Edit(path, []byte(`{"share": "sometimes"}`)); err == nil {
		t.Error("something wrong was written")
	}
	if err := Edit(path, []byte(`{"share": "manual"}`)); err != nil { // as it is
		t.Fatal(err)
	}
	if after, _ := os.Stat(path); !sameFile(before, after) {
		t.Error("the file was written for nothing")
	}
	equal(t, w.load().Config.Model, "a/b")
	tui := w.path("home/.config/lathe/tui.json")
	if err := Edit(tui, []byte(`{"theme": "x"}`)); err != nil {
		t.Fatal(err)
	}
	if err := Edit(tui, []byte(`{"mouse": "x"}`)); err == nil {
		t.Error("tui.json is not checked")
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	equal(t, len(entries), 2) // nothing is left behind
}

func readMode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// A linked file stays a link, also where it leads to nothing yet.
func TestEdit_Link(t *testing.T) {
	w := newFixture(t)
	w.write("dotfiles/lathe.json", `{"model": "a/b"}`)
	w.link("../../../dotfiles/lathe.json", "home/.config/lathe/lathe.json")
	w.link(w.path("dotfiles/new/tui.json"), "home/.config/lathe/tui.json")
	for name, change := range map[string]string{"lathe.json": `{"model": "c/d"}`, "tui.json": `{"theme": "x"}`} {
		path := w.path("home/.config/lathe/" + name)
		if err := Edit(path, []byte(change)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", name)
		}
	}
	l := w.load()
	equal(t, l.Config.Model+l.TUI.Theme, "c/dx")
}

func TestEdit_Unwritable(t *testing.T) {
	w := newFixture(t)
	w.write("file", "")
	for _, name := range []string{"file/lathe.json", "home"} {
		err := Edit(w.path(name), []byte(`{"model": "a/b"}`))
		equal(t, lathe.CodeOf(err), lathe.Unavailable)
		if !strings.Contains(err.Error(), "nothing was changed") {
			t.Error(err)
		}
	}
}

// What another program wrote meanwhile is not overwritten.
func TestReplaceFile_Changed(t *testing.T) {
	w := newFixture(t)
	w.write("x.json", "{}")
	before, _ := os.Stat(w.path("x.json"))
	w.write("x.json", `{"model": "theirs"}`)
	err := replaceFile(w.path("x.json"), []byte("mine"), before)
	equal(t, lathe.CodeOf(err), lathe.Conflict)
	err = replaceFile(w.path("x.json"), []byte("mine"), nil) // it was not there
	equal(t, lathe.CodeOf(err), lathe.Conflict)
	text, err := os.ReadFile(w.path("x.json"))
	equal(t, string(text), `{"model": "theirs"}`)
	equal(t, err, nil)
	if err := os.Remove(w.path("x.json")); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(w.path("x.json"), []byte("mine"), before); !errors.Is(err, errChanged) {
		t.Error(err)
	}
}

// A file that the caller may not write is their mistake, not a failure of the disk.
func TestEdit_Denied(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the administrator may write everywhere")
	}
	w := newFixture(t)
	w.write("closed/x", "")
	if err := os.Chmod(w.path("closed"), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(w.path("closed"), 0o700) }) // so that it can be removed
	equal(t, lathe.CodeOf(Edit(w.path("closed/lathe.json"), []byte(`{"model": "a/b"}`))), lathe.Denied)
	if err := os.Chmod(w.path("closed/x"), 0); err != nil {
		t.Fatal(err)
	}
	equal(t, lathe.CodeOf(Edit(w.path("closed/x"), []byte(`{"model": "a/b"}`))), lathe.Denied)
}
