package patch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/lathe-agent/lathe/workspace/patch"
)

// TestParse_Grammar has each rule of the grammar once.
func TestParse_Grammar(t *testing.T) {
	hunk := func(h patch.Hunk) patch.Patch {
		return patch.Patch{Files: []patch.File{{Kind: patch.Update, Path: "a", Hunks: []patch.Hunk{h}}}}
	}
	minus, plus, stay := patch.Line{Sign: '-', Text: "b"}, patch.Line{Sign: '+', Text: "c"}, patch.Line{Sign: ' ', Text: "a"}
	tests := []struct {
		name, body string
		want       patch.Patch
	}{
		{"add", "*** Add File: a/b.txt\n+one\n+\n+ two\n", patch.Patch{Files: []patch.File{{Kind: patch.Add, Path: "a/b.txt", Content: "one\n\n two\n"}}}},
		{"add, empty file", "*** Add File: a\n", patch.Patch{Files: []patch.File{{Kind: patch.Add, Path: "a"}}}},
		{"add, a blank line without +", "*** Add File: a\n+one\n\n+two\n\n", patch.Patch{Files: []patch.File{{Kind: patch.Add, Path: "a", Content: "one\n\ntwo\n"}}}},
		{"add, mark of the end", "*** Add File: a\n+one\n*** End of File\n", patch.Patch{Files: []patch.File{{Kind: patch.Add, Path: "a", Content: "one\n"}}}},
		{"add, line that begins like a mark", "*** Add File: a\n+*** Add File: b\n", patch.Patch{Files: []patch.File{{Kind: patch.Add, Path: "a", Content: "*** Add File: b\n"}}}},
		{"add, headers of a diff", "*** Add File: a\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+one\n", patch.Patch{Files: []patch.File{{Kind: patch.Add, Path: "a", Content: "one\n"}}}},
		{"delete", "*** Delete File: a b.txt\n", patch.Patch{Files: []patch.File{{Kind: patch.Delete, Path: "a b.txt"}}}},
		{"delete, with its lines", "*** Delete File: a\n-one\n-two\n", patch.Patch{Files: []patch.File{{Kind: patch.Delete, Path: "a"}}}},
		{"move alone", "*** Update File: a\n*** Move to: b\n", patch.Patch{Files: []patch.File{{Kind: patch.Update, Path: "a", MoveTo: "b"}}}},
		{"move with hunk", "*** Update File: a\n*** Move to: b\n@@\n-b\n+c\n", patch.Patch{Files: []patch.File{{
			Kind: patch.Update, Path: "a", MoveTo: "b", Hunks: []patch.Hunk{{Lines: []patch.Line{minus, plus}}},
		}}}},
		{"update", "*** Update File: a\n@@\n a\n-b\n+c\n", hunk(patch.Hunk{Lines: []patch.Line{stay, minus, plus}})},
		{"update, first hunk without @@", "*** Update File: a\n a\n-b\n+c\n", hunk(patch.Hunk{Lines: []patch.Line{stay, minus, plus}})},
		{"update, words before @@", "*** Update File: a\nHere it is:\n@@\n-b\n+c\n", hunk(patch.Hunk{Lines: []patch.Line{minus, plus}})},
		{"update, headers of a diff", "*** Update File: a\ndiff --git a/a b/a\nindex 1..2\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@ func f()\n-b\n+c\n", hunk(patch.Hunk{Lines: []patch.Line{minus, plus}})},
		{"update, no newline at end", "*** Update File: a\n@@\n-b\n\\ No newline at end of file\n+c\n", hunk(patch.Hunk{Lines: []patch.Line{minus, plus}})},
		{"anchor", "*** Update File: a\n@@ func f() {\n-b\n+c\n", hunk(patch.Hunk{Anchors: []string{"func f() {"}, Lines: []patch.Line{minus, plus}})},
		{"anchor keeps its indentation", "*** Update File: a\n@@     def f():  \n-b\n", hunk(patch.Hunk{Anchors: []string{"    def f():"}, Lines: []patch.Line{minus}})},
		{"anchor between signs", "*** Update File: a\n@@ def f(): @@\n-b\n", hunk(patch.Hunk{Anchors: []string{"def f():"}, Lines: []patch.Line{minus}})},
		{"nested anchors", "*** Update File: a\n@@ class A\n@@ def f\n-b\n", hunk(patch.Hunk{Anchors: []string{"class A", "def f"}, Lines: []patch.Line{minus}})},
		{"end of file", "*** Update File: a\n@@\n-b\n+c\n*** End of File\n", hunk(patch.Hunk{Lines: []patch.Line{minus, plus}, End: true})},
		{"end of file, then another hunk", "*** Update File: a\n@@\n-b\n*** End of File\n@@\n+c\n", patch.Patch{Files: []patch.File{{Kind: patch.Update, Path: "a", Hunks: []patch.Hunk{
			{Lines: []patch.Line{minus}, End: true}, {Lines: []patch.Line{plus}},
		}}}}},
		{"blank line in a hunk", "*** Update File: a\n@@\n a\n\n-b\n", hunk(patch.Hunk{Lines: []patch.Line{stay, {Sign: ' '}, minus}})},
		{"blank lines after a hunk", "*** Update File: a\n@@\n-b\n\n\n", hunk(patch.Hunk{Lines: []patch.Line{minus}})},
		{"several files", "words\n*** Delete File: a\n\n*** Delete File: b\n", patch.Patch{Files: []patch.File{{Kind: patch.Delete, Path: "a"}, {Kind: patch.Delete, Path: "b"}}}},
	}
	for _, tt := range tests {
		for around, wrap := range map[string][2]string{
			"": {}, " in a here document": {"apply_patch <<'EOF'\n", "EOF\n"}, " in cat": {"cat <<EOF\n", "EOF"},
			" in a fence": {"Here:\n```diff\n", "```\nDone."},
		} {
			t.Run(tt.name+around, func(t *testing.T) {
				got, err := patch.Parse(wrap[0] + "*** Begin Patch\n" + tt.body + "*** End Patch\n" + wrap[1])
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(patch.File{}, "Line"), cmpopts.IgnoreFields(patch.Hunk{}, "Line"), cmpopts.IgnoreUnexported(patch.Line{})); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestParse_Marks(t *testing.T) {
	want := patch.Patch{Files: []patch.File{{Kind: patch.Update, Path: "a", Line: 2, Hunks: []patch.Hunk{{Line: 3, Lines: []patch.Line{
		{Sign: ' ', Text: "*** End Patch"}, {Sign: '-', Text: "*** Begin Patch"},
	}}}}}}
	for name, text := range map[string]string{
		"lines of a file that are marks": "*** Begin Patch\n*** Update File: a\n@@\n *** End Patch\n-*** Begin Patch\n*** End Patch",
		"CRLF":                           "*** Begin Patch\r\n*** Update File: a\r\n@@\r\n *** End Patch\r\n-*** Begin Patch\r\n*** End Patch\r\n",
		"white space":                    " *** Begin Patch \n*** Update File: a  \n@@\n *** End Patch\n-*** Begin Patch\n*** End Patch  ",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := patch.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(patch.Line{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestParse_Faults names the line, what is wrong and what would be right.
func TestParse_Faults(t *testing.T) {
	wrap := func(body string) string { return "*** Begin Patch\n" + body + "*** End Patch\n" }
	tests := []struct {
		name, text string
		says       []string
	}{
		{"nothing", "  \n", []string{"patchText is empty", "*** Begin Patch"}},
		{"no begin", "*** Update File: a\n@@\n-b\n*** End Patch\n", []string{`no line "*** Begin Patch"`, "*** Update File: src/a.go"}},
		{"cut off", "*** Begin Patch\n*** Update File: a\n@@\n-b\n+c", []string{`no line "*** End Patch"`, "cut off after line 5", `"+c"`, "again"}},
		{"marks in the wrong order", "*** End Patch\n*** Begin Patch\n", []string{"cut off"}},
		{"unified diff", "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-b\n+c\n", []string{"unified diff", "*** Update File: src/a.go"}},
		{"one line", `*** Begin Patch\n*** Delete File: a\n*** End Patch`, []string{"real line breaks"}},
		{"just the marks", wrap(""), []string{"patch is empty"}},
		{"no hunks", wrap("some words\n"), []string{"no hunks", "*** Add File:"}},
		{"two patches", wrap("*** Delete File: a\n") + wrap("*** Delete File: b\n"), []string{"Line 4", "a second"}},
		{"hunk without file", wrap("@@\n-a\n+b\n"), []string{"Line 2", "before any file", "*** Update File: <path>"}},
		{"no path", wrap("*** Add File:\n+a\n"), []string{"Line 2", "no path"}},
		{"no path to move to", wrap("*** Update File: a\n*** Move to:\n"), []string{"Line 3", "no path"}},
		{"move in the wrong place", wrap("*** Update File: a\n@@\n-a\n+b\n*** Move to: b\n"), []string{"Line 6", "directly below"}},
		{"modify", wrap("*** Modify File: a.go\n@@\n-a\n"), []string{"Line 2", `"*** Update File: a.go"`}},
		{"create", wrap("*** Create File: a.go\n+a\n"), []string{"Line 2", `"*** Add File: a.go"`}},
		{"remove", wrap("*** Remove File: a.go\n"), []string{"Line 2", `"*** Delete File: a.go"`}},
		{"rename", wrap("*** Rename File: a.go\n"), []string{"Line 2", `"*** Move to: a.go"`}},
		{"small letters", wrap("*** add file: a.go\n+a\n"), []string{"Line 2", `"*** Add File: a.go"`}},
		{"stars without a sign", wrap("*** Add File: a\n+one\n***\n+two\n"), []string{"Line 4", "sign in front"}},
		{"add without +", wrap("*** Add File: a\n+one\ntwo\n"), []string{"Line 4", `"+two"`}},
		{"line without a sign", wrap("*** Update File: a\n@@\n a\n\tb\n-c\n"), []string{"Line 5", `"\tb"`, `" \tb"`}},
		{"no change", wrap("*** Update File: a\n@@\n a\n b\n"), []string{"Line 2", "change nothing"}},
		{"no hunk", wrap("*** Update File: a\n"), []string{"Line 2", "change nothing"}},
		{"only added below an anchor", wrap("*** Update File: a\n@@ func f() {\n+b\n"), []string{"Line 3", "only adds lines", `" func f() {"`}},
		{"end of file without hunk", wrap("*** Update File: a\n*** End of File\n"), []string{"Line 3", "below the lines of a hunk"}},
		{"lines after the end", wrap("*** Update File: a\n@@\n-b\n*** End of File\n-c\n"), []string{"Line 6", "@@"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := patch.Parse(tt.text)
			if err == nil {
				t.Fatalf("read as %+v", got)
			}
			r := refusal(t, err)
			if r.Reason != patch.Syntax && r.Reason != patch.Empty {
				t.Errorf("reason %q", r.Reason)
			}
			for _, s := range append(tt.says, "") {
				if !strings.Contains(r.Error(), s) {
					t.Errorf("does not say %s:\n%s", s, r)
				}
			}
		})
	}
}
