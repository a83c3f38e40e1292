package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// badCall is a call as a model sends it, with a mistake.
type badCall struct {
	name, tool, input string
	works             bool     // it is repaired and does what was meant
	says              []string // otherwise: what the error must have
}

// badFile is the file the calls are about, and what a call that works makes of it.
const (
	badFile     = "package f\n\nfunc add(a, b int) int {\n\treturn a + b\n}\n\nfunc sub(a, b int) int {\n\treturn a - b\n}\n"
	badFileDone = "package f\n\nfunc add(a, b int) int {\n\treturn b + a\n}\n\nfunc sub(a, b int) int {\n\treturn a - b\n}\n"
)

const goodPatch = "*** Begin Patch\n*** Update File: f.go\n@@ func add(a, b int) int {\n-\treturn a + b\n+\treturn b + a\n }\n*** End Patch"

func object(pairs ...any) string {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		val, err := json.Marshal(pairs[i+1])
		if err != nil {
			panic(err)
		}
		parts = append(parts, fmt.Sprintf("%q:%s", pairs[i], val))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// namedBadly has the tool and its members under the names of other agents.
func namedBadly() []badCall {
	var out []badCall
	const old, put = "a + b", "b + a"
	for _, name := range []string{"edit", "Edit", "EDIT", "functions.edit", "default_api.edit", " edit ", "edit<|channel|>commentary", "str_replace", "str_replace_editor", "edit_file", "search_replace", "tools.edit"} {
		for _, path := range []string{"filePath", "file_path", "path", "filename", "absolute_path", "FilePath", "file"} {
			out = append(out, badCall{name: name + " by " + path, tool: name, input: object(path, "f.go", "oldString", old, "newString", put), works: true})
		}
	}
	for _, o := range []string{"old_string", "old_str", "search", "oldText", "oldstring", "old-string", "OldString"} {
		for _, n := range []string{"new_string", "new_str", "replace", "newText", "newstring"} {
			out = append(out, badCall{name: o + " and " + n, tool: "edit", input: object("filePath", "f.go", o, old, n, put), works: true})
		}
	}
	for _, name := range []string{"apply_patch", "ApplyPatch", "applypatch", "functions.apply_patch", "APPLY_PATCH", "apply-patch", "tool.apply_patch"} {
		for _, text := range []string{"patchText", "input", "patch", "diff", "patch_text", "PatchText"} {
			out = append(out, badCall{name: name + " by " + text, tool: name, input: object(text, goodPatch), works: true})
		}
	}
	return out
}

// writtenBadly has JSON that is almost right, and values of other types.
func writtenBadly() []badCall {
	good := object("filePath", "f.go", "oldString", "a + b", "newString", "b + a")
	open := strings.TrimSuffix(good, "}")
	patch := object("patchText", goodPatch)
	out := []badCall{
		{name: "fence", tool: "edit", input: "```json\n" + good + "\n```", works: true},
		{name: "trailing comma", tool: "edit", input: open + ",}", works: true},
		{name: "no closing bracket", tool: "edit", input: open, works: true},
		{name: "white space around", tool: "edit", input: "\n  " + good + "\n", works: true},
		{name: "file address", tool: "edit", input: object("filePath", "file://DIR/f.go", "oldString", "a + b", "newString", "b + a"), works: true},
		{name: "absolute path", tool: "edit", input: object("filePath", "DIR/f.go", "oldString", "a + b", "newString", "b + a"), works: true},
		{name: "dots in the path", tool: "edit", input: object("filePath", "./x/../f.go", "oldString", "a + b", "newString", "b + a"), works: true},
		{name: "line ends of Windows", tool: "edit", input: object("filePath", "f.go", "oldString", "int {\r\n\treturn a + b\r\n", "newString", "int {\r\n\treturn b + a\r\n"), works: true},
		{name: "trailing space", tool: "edit", input: object("filePath", "f.go", "oldString", "\treturn a + b ", "newString", "\treturn b + a"), works: true},
		{name: "other white space", tool: "edit", input: object("filePath", "f.go", "oldString", "return  a  +  b", "newString", "return b + a"), works: true},
		{name: "members nobody knows", tool: "edit", input: object("filePath", "f.go", "oldString", "a + b", "newString", "b + a", "explanation", "swap", "count", 1), works: true},
		{name: "cut in a text", tool: "edit", input: `{"filePath":"f.go","oldString":"a + b","newString":"b +`, says: []string{"edit"}},
		{name: "no JSON", tool: "edit", input: "please swap a and b", says: []string{"edit"}},
		{name: "nothing", tool: "edit", input: "", says: []string{"filePath", "oldString", "newString"}},
		{name: "list", tool: "edit", input: `["f.go","a + b","b + a"]`, says: []string{"filePath", "required"}},
		{name: "old is a number", tool: "edit", input: object("filePath", "f.go", "oldString", 1, "newString", "2"), says: []string{"oldString", "must be a string"}},
		{name: "old is a list", tool: "edit", input: object("filePath", "f.go", "oldString", []string{"a + b"}, "newString", "b + a"), says: []string{"oldString"}},
		{name: "new is null", tool: "edit", input: object("filePath", "f.go", "oldString", "a + b", "newString", nil), says: []string{"newString"}},
		{name: "edits", tool: "edit", input: `{"filePath":"f.go","edits":[{"oldString":"a + b","newString":"b + a"}]}`, says: []string{"oldString", "newString"}},
		{name: "replaceAll is a word", tool: "edit", input: object("filePath", "f.go", "oldString", "a + b", "newString", "b + a", "replaceAll", "maybe"), says: []string{"replaceAll"}},
		{name: "patch: fence round the JSON", tool: "apply_patch", input: "```\n" + patch + "\n```", works: true},
		{name: "patch: no closing bracket", tool: "apply_patch", input: strings.TrimSuffix(patch, "}"), works: true},
		{name: "patch: cut off", tool: "apply_patch", input: strings.TrimSuffix(patch, `End Patch"}`), says: []string{"apply_patch"}},
		{name: "patch: a list", tool: "apply_patch", input: object("patchText", []string{goodPatch}), says: []string{"patchText"}},
		{name: "patch: a command", tool: "apply_patch", input: object("command", []string{"apply_patch", goodPatch}), says: []string{"patchText"}},
		{name: "patch: null", tool: "apply_patch", input: `{"patchText":null}`, says: []string{"patchText"}},
		{name: "patch: nothing", tool: "apply_patch", input: `{}`, says: []string{"patchText"}},
	}
	for _, v := range []any{"true", "false", "True", "FALSE", nil, "", "none", "undefined", "null", true, false} {
		out = append(out, badCall{name: fmt.Sprintf("replaceAll %q", v), tool: "edit", input: object("filePath", "f.go", "oldString", "a + b", "newString", "b + a", "replaceAll", v), works: true})
	}
	// Two mistakes at once: a name and the syntax.
	for _, path := range []string{"file_path", "path", "filename", "absolute_path"} {
		call := object(path, "f.go", "old_string", "a + b", "new_string", "b + a")
		for name, input := range map[string]string{
			"fence": "```json\n" + call + "\n```", "fence without a word": "```\n" + call + "\n```", "comma": strings.TrimSuffix(call, "}") + ", }",
			"open": strings.TrimSuffix(call, "}"), "line breaks": strings.ReplaceAll(call, ",", ",\n  "),
		} {
			out = append(out, badCall{name: path + ", " + name, tool: "edit_file", input: input, works: true})
		}
	}
	for _, member := range []string{"input", "patch", "diff"} {
		call := object(member, goodPatch)
		for name, input := range map[string]string{
			"fence": "```json\n" + call + "\n```", "comma": strings.TrimSuffix(call, "}") + ",}", "open": strings.TrimSuffix(call, "}"), "space": " " + call + "\n",
		} {
			out = append(out, badCall{name: member + ", " + name, tool: "ApplyPatch", input: input, works: true})
		}
	}
	for _, v := range []string{"replace_all", "replaceall", "ReplaceAll", "replace-all"} {
		out = append(out, badCall{name: v, tool: "edit", input: object("filePath", "f.go", "oldString", "a + b", "newString", "b + a", v, false), works: true})
	}
	return out
}

// wrongCalls has calls that fit the schema and cannot be done as they are.
func wrongCalls() []badCall {
	var out []badCall
	edit := func(name, path, old, put string, says ...string) {
		out = append(out, badCall{name: name, tool: "edit", input: object("filePath", path, "oldString", old, "newString", put), says: says})
	}
	edit("no path", "", "a", "b", "filePath is empty", `{"filePath":`)
	edit("misspelled file", "g.go", "a + b", "b + a", "File not found", "f.go")
	edit("other case", "F.GO", "a + b", "b + a", "File not found", "f.go")
	edit("other directory", "src/f.go", "a + b", "b + a", "File not found", "glob")
	edit("directory", "dir", "a", "b", "is a directory")
	edit("same", "f.go", "a + b", "a + b", "the same", "line 4", "newString")
	edit("empty old", "f.go", "", "b", "exists (9 lines)", "write")
	edit("both empty", "f.go", "", "", "the same")
	edit("white space", "f.go", "   ", "b", "only white space")
	edit("twice", "f.go", "(a, b int) int", "(a, b int64) int64", "2 times", "lines 3, 7", "replaceAll")
	edit("done already", "f.go", "return a * b", "return a + b", "seems to be done", "line 4")
	edit("line numbers", "f.go", "4: \treturn a + b\n5: }", "\treturn b + a\n}", "line numbers", "4: \treturn a + b")
	edit("line numbers and bar", "f.go", "  4| \treturn a + b\n  5| }", "x", "line numbers")
	edit("line numbers and arrow", "f.go", "     4→\treturn a + b\n     5→}", "x", "line numbers")
	edit("other name", "f.go", "func sum(a, b int) int {\n\treturn a + b\n}", "x", "3: func add(a, b int) int {")
	edit("elided", "f.go", "func add(a, b int) int {\n\t...\n}", "x", "lines 3–5")
	edit("capitals", "f.go", "func Add(a, b int) int {", "x", "upper and lower case", "line 3")
	edit("fence", "f.go", "```go\nreturn a + b\n```", "x", "closest", "4: \treturn a + b")
	edit("escaped twice", "f.go", `func add(a, b int) int {\n\treturn a + b\n}`, `func add(a, b int) int {\n\treturn b + a\n}`, "escaped once too often", "lines 3–5")
	edit("quotes", "f.go", "func “add”", "x", "Nothing was changed")
	edit("another text", "f.go", "SELECT * FROM users WHERE id = ?", "x", "No line of the file is similar", "grep")
	edit("zero byte in the path", "f\x00.go", "a", "b", "null byte")

	body := func(name, text string, says ...string) {
		out = append(out, badCall{name: "patch: " + name, tool: "apply_patch", input: object("patchText", text), says: append(says, "verification failed")})
	}
	wrap := func(s string) string { return "*** Begin Patch\n" + s + "*** End Patch" }
	body("empty", "", "patchText is empty", "*** Begin Patch")
	body("no begin", strings.TrimPrefix(goodPatch, "*** Begin Patch\n"), `no line "*** Begin Patch"`)
	body("no end", strings.TrimSuffix(goodPatch, "*** End Patch"), "cut off", "*** End Patch")
	body("unified", "--- a/f.go\n+++ b/f.go\n@@ -4 +4 @@\n-\treturn a + b\n+\treturn b + a\n", "unified diff", "*** Update File: src/a.go")
	body("git", "diff --git a/f.go b/f.go\n@@ -4 +4 @@\n-\treturn a + b\n", "unified diff")
	body("one line", strings.ReplaceAll(goodPatch, "\n", `\n`), "real line breaks")
	body("prose", "Change a + b to b + a in f.go", "*** Begin Patch")
	body("only marks", wrap(""), "patch is empty")
	for _, word := range []string{"Modify", "Edit", "Change", "update"} {
		body(word, wrap("*** "+word+" File: f.go\n@@\n-\treturn a + b\n"), "Line 2", `"*** Update File: f.go"`)
	}
	for _, word := range []string{"Create", "New", "add"} {
		body(word, wrap("*** "+word+" File: n.go\n+x\n"), "Line 2", `"*** Add File: n.go"`)
	}
	for _, word := range []string{"Remove", "delete"} {
		body(word, wrap("*** "+word+" File: f.go\n"), "Line 2", `"*** Delete File: f.go"`)
	}
	body("rename", wrap("*** Rename File: g.go\n"), "*** Move to: g.go")
	body("no path", wrap("*** Update File:\n@@\n-x\n"), "Line 2", "no path")
	body("move later", wrap("*** Update File: f.go\n@@\n-\treturn a + b\n*** Move to: g.go\n"), "directly below")
	body("added without +", wrap("*** Add File: n.go\npackage n\n"), "Line 3", `"+package n"`)
	body("line without sign", wrap("*** Update File: f.go\n@@\nfunc add(a, b int) int {\n-\treturn a + b\n"), "Line 4", `" func add(a, b int) int {"`)
	body("tab without sign", wrap("*** Update File: f.go\n@@\n func add(a, b int) int {\n\treturn a + b\n+\tx\n"), "Line 5", "has no sign")
	body("no file named", wrap("@@\n-\treturn a + b\n"), "Line 2", "*** Update File: <path>")
	body("no change", wrap("*** Update File: f.go\n@@\n \treturn a + b\n"), "change nothing")
	body("only added", wrap("*** Update File: f.go\n@@ func add(a, b int) int {\n+\tx()\n"), "only adds lines", `" func add(a, b int) int {"`)
	body("not there", wrap("*** Update File: f.go\n@@\n func add(a, b int) int {\n-\treturn a * b\n+\treturn b * a\n"), "Hunk 1", "the patch |\treturn a * b", "4: \treturn a + b")
	body("anchor not there", wrap("*** Update File: f.go\n@@ func mul(a, b int) int {\n-\treturn a + b\n"), `"func mul(a, b int) int {"`, "func add")
	body("twice", wrap("*** Update File: f.go\n@@\n }\n+// end\n"), "2 times", "lines 5, 9")
	body("wrong order", wrap("*** Update File: f.go\n@@\n-\treturn a - b\n+\tx\n@@\n-\treturn a + b\n+\ty\n"), "Hunk 2", "top to its bottom")
	body("misspelled file", wrap("*** Update File: g.go\n@@\n-x\n"), "not found", "f.go")
	body("delete missing", wrap("*** Delete File: none.txt\n"), "not found")
	body("move onto another", wrap("*** Update File: f.go\n*** Move to: other.txt\n"), "there already")
	body("two patches", goodPatch+"\n"+goodPatch, "a second")
	body("numbers of read", wrap("*** Update File: f.go\n@@\n-4: \treturn a + b\n+4: \treturn b + a\n"), "4: \treturn a + b")
	for _, text := range []string{
		"```\n" + goodPatch + "\n```", "apply_patch <<'EOF'\n" + goodPatch + "\nEOF", "cat <<EOF\n" + goodPatch + "\nEOF", "Here:\n" + goodPatch + "\nDone.", strings.ReplaceAll(goodPatch, "\n", "\r\n"),
		wrap("*** Update File: f.go\n--- a/f.go\n+++ b/f.go\n@@ -3,3 +3,3 @@\n func add(a, b int) int {\n-\treturn a + b\n+\treturn b + a\n"),
		wrap("*** Update File: f.go\n func add(a, b int) int {\n-    return a + b\n+\treturn b + a\n"),
		wrap("*** Update File: DIR/f.go\n@@ func add\n-\treturn a + b\n+\treturn b + a\n\n"),
	} {
		out = append(out, badCall{name: "patch: " + text[:12], tool: "apply_patch", input: object("patchText", text), works: true})
	}
	return out
}

// TestEdit_BadCalls sends the calls as an engine does: each is repaired and does what was
// meant, or fails with words that say what is wrong and what would work, and changes nothing.
func TestEdit_BadCalls(t *testing.T) {
	calls := append(append(namedBadly(), writtenBadly()...), wrongCalls()...)
	set := tool.NewSet(builtin.Edit(builtin.EditConfig{}), builtin.ApplyPatch(builtin.EditConfig{}))
	repaired := 0
	for i, bad := range calls {
		t.Run(fmt.Sprintf("%d %s", i, bad.name), func(t *testing.T) {
			d := tooltest.NewHost(t)
			d.Put("f.go", badFile)
			d.Put("other.txt", "x\n")
			d.Put("dir/x", "x\n")
			before := state(d)
			input := strings.ReplaceAll(bad.input, "DIR", filepath.ToSlash(d.Dir))
			r := set.Repair(bad.tool, input)
			c := d.Call
			c.Input = r.Input
			got, err := tool.Run(context.Background(), r.Tool, &c)
			if bad.works {
				repaired++
				if err != nil || d.Content("f.go") != badFileDone {
					t.Errorf("%v %s\n%q", err, got.Output, d.Content("f.go"))
				}
				return
			}
			words := got.Output // of the tool for invalid calls
			if err != nil {
				words = err.Error()
				var failure *tool.Failure
				if !errors.As(err, &failure) {
					t.Errorf("no failure for the model: %v", err)
				}
			} else if r.Tool.Spec().Name != "invalid" {
				t.Errorf("it was done: %s", words)
			}
			for _, s := range bad.says {
				if !strings.Contains(words, s) {
					t.Errorf("does not say %q:\n%s", s, words)
				}
			}
			if len(words) < 40 {
				t.Errorf("says too little: %s", words)
			}
			if after := state(d); len(after) != len(before) || after["f.go"] != badFile || after["other.txt"] != "x\n" {
				t.Error("a file was changed")
			}
		})
	}
	t.Logf("%d bad calls: %d repaired, %d refused with a message", len(calls), repaired, len(calls)-repaired)
}
