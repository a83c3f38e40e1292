package patch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe/workspace/patch"
)

// tree is the files a patch is applied to.
type tree map[string]string

func (tr tree) read(path string) (string, bool, error) {
	if path == "unreadable" {
		return "", false, errors.New("cannot be read")
	}
	text, ok := tr[path]
	return text, ok, nil
}

func apply(tr tree, body string) ([]patch.Change, error) {
	p, err := patch.Parse("*** Begin Patch\n" + body + "*** End Patch")
	if err != nil {
		return nil, err
	}
	return p.Apply(tr.read)
}

// TestUpdate_Hunks applies hunks to one file.
func TestUpdate_Hunks(t *testing.T) {
	const py = "class A:\n    def f(self):\n        x = 1\n        return x\n\nclass B:\n    def f(self):\n        x = 1\n        return x\n"
	tests := []struct{ name, content, hunks, want string }{
		{"exact", "a\nb\nc\n", "@@\n a\n-b\n+x\n c\n", "a\nx\nc\n"},
		{"only removed", "a\nb\nc\n", "@@\n a\n-b\n", "a\nc\n"},
		{"only added, with context", "a\nc\n", "@@\n a\n+b\n", "a\nb\nc\n"},
		{"only added goes to the end", "a\nb\n", "@@\n+c\n", "a\nb\nc\n"},
		{"only added, to an empty file", "", "@@\n+c\n", "c\n"},
		{"everything removed", "a\n", "@@\n-a\n", ""},
		{"two hunks", "a\nb\nc\nd\n", "@@\n-a\n+1\n@@\n-d\n+4\n", "1\nb\nc\n4\n"},
		{"two hunks next to each other", "a\nb\n", "@@\n-a\n+1\n@@\n-b\n+2\n", "1\n2\n"},
		{"several changes in one hunk", "a\nb\nc\nd\n", "@@\n-a\n+1\n b\n-c\n d\n+5\n", "1\nb\nd\n5\n"},
		{"equal hunks for equal places", "x\na\nx\na\n", "@@\n x\n-a\n+b\n@@\n x\n-a\n+b\n", "x\nb\nx\nb\n"},
		{"anchor", py, "@@ class B:\n     def f(self):\n-        x = 1\n+        x = 2\n", strings.Replace(py, "class B:\n    def f(self):\n        x = 1", "class B:\n    def f(self):\n        x = 2", 1)},
		{"nested anchors", py, "@@ class B:\n@@     def f(self):\n-        x = 1\n+        x = 2\n", strings.Replace(py, "class B:\n    def f(self):\n        x = 1", "class B:\n    def f(self):\n        x = 2", 1)},
		{"anchor without its indentation", py, "@@ class A:\n@@ def f(self):\n-        return x\n+        return 7\n", strings.Replace(py, "return x", "return 7", 1)},
		{"anchor that is the beginning of a line", "func f(a int) {\n\tx\n}\n", "@@ func f\n-\tx\n+\ty\n", "func f(a int) {\n\ty\n}\n"},
		{"anchor repeated as context", py, "@@ class B:\n class B:\n     def f(self):\n-        x = 1\n+        x = 2\n", strings.Replace(py, "class B:\n    def f(self):\n        x = 1", "class B:\n    def f(self):\n        x = 2", 1)},
		{"end of file", "a\nb\na\nb\n", "@@\n a\n-b\n+c\n*** End of File\n", "a\nb\na\nc\n"},
		{"end of file, but it is not there", "a\nb\nc\n", "@@\n-b\n+x\n*** End of File\n", "a\nx\nc\n"},
		{"only added at the end", "a\n", "@@ a\n+b\n*** End of File\n", "a\nb\n"},
		{"pass: trailing white space", "a  \nb\t\nc\n", "@@\n a\n-b\n+x\n c\n", "a  \nx\nc\n"},
		{"pass: both ends", "\ta\n\tb\nc\n", "@@\n a\n-b\n+\tx\n", "\ta\n\tx\nc\n"},
		{"pass: typeset signs", "say “hi” – now…\nb\n", "@@\n say \"hi\" - now...\n-b\n+c\n", "say “hi” – now…\nc\n"},
		{"pass: space that does not break", "a\u00a0b\nc\n", "@@\n-a b\n+x\n", "x\nc\n"},
		{"the strictest pass wins", "\tb\nb\n", "@@\n-b\n+x\n", "\tb\nx\n"},
		{"empty line at the end of a hunk", "a\nb\n", "@@\n-a\n+x\n b\n \n", "x\nb\n"},
		{"empty line at the beginning", "a\nb\n", "@@\n\n-a\n+x\n", "x\nb\n"},
		{"final newline is made", "a\nb", "@@\n-a\n+x\n", "x\nb\n"},
		{"last line without newline", "a\nb", "@@\n-b\n+x\n", "a\nx\n"},
		{"CRLF", "a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y\n", "a\r\nx\r\ny\r\nc\r\n"},
		{"mixed endings stay", "a\r\nb\nc\r\nd\n", "@@\n-c\n+x\n", "a\r\nb\nx\r\nd\n"},
		{"mark", "\ufeffa\nb\n", "@@\n-a\n+x\n", "\ufeffx\nb\n"},
		{"bytes that are no UTF-8", "a\xff\nb\n", "@@\n-b\n+x\n", "a\xff\nx\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := apply(tree{"f": tt.content}, "*** Update File: f\n"+tt.hunks)
			if err != nil {
				t.Fatal(err)
			}
			want := []patch.Change{{Kind: patch.Update, Path: "f", Existed: true, Before: tt.content, After: tt.want}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpdate_Refusals(t *testing.T) {
	const text = "func a() {\n\tone := 1\n\treturn one\n}\n\nfunc b() {\n\tone := 1\n\treturn one\n}\n"
	tests := []struct {
		name, hunks string
		why         patch.Reason
		says        []string
	}{
		{"not there", "@@\n func a() {\n-\tone := 7\n+\ttwo := 2\n", patch.Missing, []string{"Hunk 1 of f (line 3 of patchText)", "the patch |\tone := 7\n          |\t       ^", "lines 1–2", "2: \tone := 1   <- here"}},
		{"second hunk", "@@\n-func a() {\n+func c() {\n@@\n-func z() { nothing }\n", patch.Missing, []string{"Hunk 2", "line 6 of patchText"}},
		{"nothing similar", "@@\n-zzzzzz\n", patch.Missing, []string{"nothing similar", "zzzzzz"}},
		{"twice", "@@\n-\tone := 1\n+\tone := 2\n", patch.Ambiguous, []string{"2 times", "lines 2, 7", "1: func a() {", "6: func b() {", "@@"}},
		{"anchor twice, lines twice", "@@ }\n-\tone := 1\n", patch.Missing, nil},
		{"no such anchor", "@@ func zeta() {\n-\tone := 1\n", patch.Missing, []string{`"func zeta() {"`, "not a line of the file"}},
		{"similar anchor", "@@ func b(x int) {\n-\tone := 1\n", patch.Missing, []string{"6: func b() {"}},
		{"wrong order", "@@ func b() {\n-\tone := 1\n+\tx\n@@\n-func a() {\n+func c() {\n", patch.Missing, []string{"Hunk 2", "line 1", "top to its bottom"}},
		{"anchors in the wrong order", "@@ func b() {\n-\tone := 1\n+\tx\n@@ func a() {\n-\tone := 1\n", patch.Missing, []string{"Hunk 2", "stands at line 1", "top to its bottom"}},
		{"not below the anchor", "@@ func b() {\n-func a() {\n", patch.Missing, []string{"line 1", "not below its @@"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := apply(tree{"f": text}, "*** Update File: f\n"+tt.hunks)
			if tt.name == "anchor twice, lines twice" {
				if err != nil || !strings.Contains(got[0].After, "func a() {\n\tone := 1") {
					t.Errorf("%v %v", got, err)
				}
				return
			}
			if err == nil {
				t.Fatalf("changed to %q", got[0].After)
			}
			r := refusal(t, err)
			if r.Reason != tt.why || r.Path != "f" {
				t.Errorf("reason %q of %q", r.Reason, r.Path)
			}
			for _, s := range tt.says {
				if !strings.Contains(r.Error(), s) {
					t.Errorf("does not say %q:\n%s", s, r)
				}
			}
		})
	}
}

// TestApply_Files has what sections make of files, one after the other.
func TestApply_Files(t *testing.T) {
	files := tree{"a": "1\n", "b": "2\n"}
	tests := []struct {
		name, body string
		want       []patch.Change
	}{
		{"add", "*** Add File: c\n+3\n", []patch.Change{{Kind: patch.Add, Path: "c", After: "3\n"}}},
		{"add over another", "*** Add File: a\n+3\n", []patch.Change{{Kind: patch.Update, Path: "a", Existed: true, Before: "1\n", After: "3\n"}}},
		{"delete", "*** Delete File: a\n", []patch.Change{{Kind: patch.Delete, Path: "a", Existed: true, Before: "1\n"}}},
		{"move", "*** Update File: a\n*** Move to: c\n", []patch.Change{{Kind: patch.Move, Path: "a", MoveTo: "c", Existed: true, Before: "1\n", After: "1\n"}}},
		{"move and change", "*** Update File: a\n*** Move to: d/c\n@@\n-1\n+3\n", []patch.Change{{Kind: patch.Move, Path: "a", MoveTo: "d/c", Existed: true, Before: "1\n", After: "3\n"}}},
		{"move to itself", "*** Update File: a\n*** Move to: a\n@@\n-1\n+3\n", []patch.Change{{Kind: patch.Update, Path: "a", Existed: true, Before: "1\n", After: "3\n"}}},
		{"several", "*** Add File: c\n+3\n*** Delete File: b\n*** Update File: a\n@@\n-1\n+4\n", []patch.Change{
			{Kind: patch.Add, Path: "c", After: "3\n"},
			{Kind: patch.Delete, Path: "b", Existed: true, Before: "2\n"},
			{Kind: patch.Update, Path: "a", Existed: true, Before: "1\n", After: "4\n"},
		}},
		{"twice the same", "*** Update File: a\n@@\n-1\n+3\n*** Update File: a\n@@\n-3\n+4\n", []patch.Change{{Kind: patch.Update, Path: "a", Existed: true, Before: "1\n", After: "4\n"}}},
		{"delete and add", "*** Delete File: a\n*** Add File: a\n+3\n", []patch.Change{{Kind: patch.Update, Path: "a", Existed: true, Before: "1\n", After: "3\n"}}},
		{"add and update", "*** Add File: c\n+3\n*** Update File: c\n@@\n-3\n+4\n", []patch.Change{{Kind: patch.Add, Path: "c", After: "4\n"}}},
		{"add and delete", "*** Add File: c\n+3\n*** Delete File: c\n", nil},
		{"move and update", "*** Update File: a\n*** Move to: c\n*** Update File: c\n@@\n-1\n+4\n", []patch.Change{{Kind: patch.Move, Path: "a", MoveTo: "c", Existed: true, Before: "1\n", After: "4\n"}}},
		{"move on", "*** Update File: a\n*** Move to: c\n*** Update File: c\n*** Move to: d\n", []patch.Change{{Kind: patch.Move, Path: "a", MoveTo: "d", Existed: true, Before: "1\n", After: "1\n"}}},
		{"move away and add", "*** Update File: a\n*** Move to: c\n*** Add File: a\n+5\n", []patch.Change{
			{Kind: patch.Update, Path: "a", Existed: true, Before: "1\n", After: "5\n"}, {Kind: patch.Add, Path: "c", After: "1\n"},
		}},
		{"delete, then move there", "*** Delete File: b\n*** Update File: a\n*** Move to: b\n", []patch.Change{
			{Kind: patch.Update, Path: "b", Existed: true, Before: "2\n", After: "1\n"}, {Kind: patch.Delete, Path: "a", Existed: true, Before: "1\n"},
		}},
		{"swap", "*** Update File: a\n*** Move to: t\n*** Update File: b\n*** Move to: a\n*** Update File: t\n*** Move to: b\n", []patch.Change{
			{Kind: patch.Update, Path: "a", Existed: true, Before: "1\n", After: "2\n"}, {Kind: patch.Update, Path: "b", Existed: true, Before: "2\n", After: "1\n"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := apply(files, tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestApply_Refusals(t *testing.T) {
	files := tree{"a": "1\n", "b": "2\n"}
	tests := []struct {
		name, body string
		why        patch.Reason
		path       string
		says       string
	}{
		{"update what is not there", "*** Delete File: a\n*** Update File: c\n@@\n-1\n", patch.NoFile, "c", "*** Add File: c"},
		{"delete what is not there", "*** Delete File: c\n", patch.NoFile, "c", "file c not found"},
		{"update what was deleted", "*** Delete File: a\n*** Update File: a\n@@\n-1\n", patch.NoFile, "a", "earlier section"},
		{"move onto another", "*** Update File: a\n*** Move to: b\n", patch.Exists, "b", "*** Delete File: b"},
		{"the last of several", "*** Add File: c\n+3\n*** Update File: a\n@@\n-7\n+8\n", patch.Missing, "a", "Hunk 1 of a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := apply(files, tt.body)
			if err == nil || got != nil {
				t.Fatalf("got %v, %v", got, err)
			}
			r := refusal(t, err)
			if r.Reason != tt.why || r.Path != tt.path || !strings.Contains(r.Error(), tt.says) || !strings.Contains(r.Error(), "Nothing was changed") {
				t.Errorf("%s of %q: %s", r.Reason, r.Path, r)
			}
		})
	}
	if _, err := apply(files, "*** Update File: unreadable\n@@\n-1\n"); err == nil || err.Error() != "cannot be read" {
		t.Errorf("the error of read became %v", err)
	}
}

// Lines that are quoted at another indentation take the added ones with them, where they tell how far.
func TestUpdate_Reindents(t *testing.T) {
	const file = "class A:\n    def f(self):\n        if x:\n            a()\n        return 1\n"
	tests := []struct {
		name, path, hunk, want string
		refused                bool
	}{
		{"moved to the right", "a.py", "@@\n if x:\n     a()\n+    b()\n return 1\n", "class A:\n    def f(self):\n        if x:\n            a()\n            b()\n        return 1\n", false},
		{"moved to the left", "a.py", "@@\n             if x:\n-                a()\n+                b()\n+                    c()\n", "class A:\n    def f(self):\n        if x:\n            b()\n                c()\n        return 1\n", false},
		{"added lines have the file's", "a.py", "@@\n-if x:\n-    a()\n+        if y:\n+            b()\n", "class A:\n    def f(self):\n        if y:\n            b()\n        return 1\n", false},
		{"by several amounts", "a.py", "@@\n if x:\n a()\n+b()\n", "", true},
		{"by several amounts, where it has no meaning", "a.go", "@@\n if x:\n a()\n+b()\n", "class A:\n    def f(self):\n        if x:\n            a()\nb()\n        return 1\n", false},
		{"an empty line", "a.py", "@@\n if x:\n     a()\n+\n+    b()\n", "class A:\n    def f(self):\n        if x:\n            a()\n\n            b()\n        return 1\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := patch.Parse("*** Begin Patch\n*** Update File: " + tt.path + "\n" + tt.hunk + "*** End Patch")
			if err != nil {
				t.Fatal(err)
			}
			got, shifts, refused := p.Files[0].Update(file)
			if (refused != nil) != tt.refused {
				t.Fatalf("refused %v, wrote %q", refused, got)
			}
			if got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
			if tt.path == "a.go" && (len(shifts) != 1 || shifts[0].Uniform) {
				t.Errorf("the shift is not named: %+v", shifts)
			}
		})
	}
}
