package git

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
)

func TestQuote_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := string(rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 50).Draw(t, "path"))
		if quoted := quote(path); path[0] != '"' && unquote(quoted) != path {
			t.Fatalf("%q became %q and %q", path, quoted, unquote(quoted))
		}
	})
}

// A file in conflict has one entry, and texts that look like headers stay texts.
func TestParse(t *testing.T) {
	said := ":100644 000000 1111111 0000000 U\tboth\n:100644 100644 1111111 0000000 M\tboth\n:000000 100644 0000000 2222222 A\t\"t\\303\\244\\tb\"\n:100644 100755 3333333 3333333 M\tmode\n" +
		"2\t1\tboth\n1\t0\t\"t\\303\\244\\tb\"\n0\t0\tmode\n-\t-\tnowhere\n\n" +
		"* Unmerged path both\n" +
		"diff --git a/both b/both\n--- a/both\n+++ b/both\n@@ -1 +1,2 @@\n-x\n+diff --git a/x b/x\n+y\n" +
		"diff --git \"a/t\\303\\244\\tb\" \"b/t\\303\\244\\tb\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/t\\303\\244\\tb\"\n@@ -0,0 +1 @@\n+z\n" +
		"diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n"
	got, err := parse([]byte(said))
	if err != nil {
		t.Fatal(err)
	}
	want := []lathe.FileDiff{
		{File: "both", Status: "modified", Additions: 2, Deletions: 1, Patch: "diff --git a/both b/both\n--- a/both\n+++ b/both\n@@ -1 +1,2 @@\n-x\n+diff --git a/x b/x\n+y\n"},
		{File: "tä\tb", Status: "added", Additions: 1, Patch: "diff --git \"a/t\\303\\244\\tb\" \"b/t\\303\\244\\tb\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/t\\303\\244\\tb\"\n@@ -0,0 +1 @@\n+z\n"},
		{File: "mode", Status: "modified", Patch: "diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(":100644 100644 1 0 M\ta\n1\t1\ta\n\ndiff --git a/a b/a\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		all, err := parse(said)
		if err != nil && all != nil {
			t.Error("both an answer and an error")
		}
	})
}
