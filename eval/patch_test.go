package eval

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePatch(t *testing.T) {
	text := `Some words before it.
diff --git a/tests/a_test.py b/tests/a_test.py
index 1..2 100644
--- a/tests/a_test.py
+++ b/tests/a_test.py
@@ -1,3 +1,4 @@ def x
 one
-two
+2
+2.5
 three
@@ -5,0 +7 @@
+after five
diff --git a/new.txt b/new.txt
new file mode 100755
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+hello
\ No newline at end of file
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/empty b/empty
new file mode 100644
index 0..0
`
	all, err := ParsePatch(text)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range all {
		names = append(names, fmt.Sprintf("%s>%s %v %d", p.From, p.To, p.Executable, len(p.hunks)))
	}
	want := "tests/a_test.py>tests/a_test.py false 2,>new.txt true 1,gone.txt> false 1,old name.txt>new name.txt false 0,>empty false 0"
	if got := strings.Join(names, ","); got != want {
		t.Errorf("got %s", got)
	}
	for i, c := range []struct{ old, want string }{
		{"one\ntwo\nthree\nfour\nfive\nsix", "one\n2\n2.5\nthree\nfour\nfive\nafter five\nsix"}, {"", "hello"}, {"bye\n", ""}, {"same\n", "same\n"}, {"", ""},
	} {
		if got, err := all[i].Apply(c.old); err != nil || got != c.want {
			t.Errorf("%d: got %q, %v", i, got, err)
		}
	}
	if _, err := all[0].Apply("one\nTWO\nthree\nfour\nfive\n"); err == nil || !strings.Contains(err.Error(), "does not fit tests/a_test.py at line 1") {
		t.Errorf("got %v", err)
	}
}

func TestParsePatch_Hostile(t *testing.T) {
	hunk := "@@ -1 +1 @@\n-a\n+b\n"
	for name, text := range map[string]string{
		"parent": "--- a/../x\n+++ b/../x\n" + hunk, "absolute": "--- /etc/passwd\n+++ /etc/passwd\n" + hunk, "git": "--- a/.git/config\n+++ b/.GIT/config\n" + hunk,
		"quoted": "--- \"a/\\056./x\"\n+++ \"b/\\056./x\"\n" + hunk, "rename": "diff --git a/x b/y\nrename from x\nrename to ../y\n", "link": "diff --git a/x b/x\nnew file mode 120000\n",
		"binary": "diff --git a/x b/x\nGIT binary patch\n", "short": "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n", "long": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n-b\n+c\n@@ x",
		"numbers": "--- a/x\n+++ b/x\n@@ -99999999999999999999 +1 @@\n", "head only": "diff --git a/x b/../y\nnew file mode 100644\n", "backslash": "--- a/..\\x\n+++ b/..\\x\n" + hunk, "empty": "",
	} {
		if got, err := ParsePatch(text); err == nil {
			t.Errorf("%s: accepted %+v", name, got)
		}
	}
}

// A patch that diff makes turns one file into the other, as it does for patch.
func TestFilePatch_PropDiff(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	line := rapid.SampledFrom([]string{"a", "b", "", "-- c", "++ d", "@@ -1 +1 @@", "\\ x", "diff --git a/x b/x"})
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			s := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, name), "\n")
			return s + rapid.SampledFrom([]string{"", "\n"}).Draw(t, name+" end")
		}
		old, now := text("old"), text("new")
		if old == now {
			return
		}
		for name, s := range map[string]string{"old": old, "new": now} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("git", "diff", "--no-index", "--no-ext-diff", "--no-color", "old", "new")
		cmd.Dir = dir
		out, _ := cmd.Output() // the exit code says that they differ
		all, err := ParsePatch(string(out))
		if err != nil || len(all) != 1 {
			t.Fatalf("%v\n%s", err, out)
		}
		if got, err := all[0].Apply(old); err != nil || got != now {
			t.Fatalf("got %q, want %q: %v\n%s", got, now, err, out)
		}
	})
}

func FuzzParsePatch(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "a\n")
	f.Add("diff --git a/x b/x\nnew file mode 100644\n", "")
	f.Fuzz(func(t *testing.T, text, old string) {
		all, err := ParsePatch(text)
		if err != nil {
			return
		}
		for _, p := range all {
			for _, name := range []string{p.From, p.To} {
				if name != "" && !IsLocal(name) {
					t.Fatalf("%q leads out", name)
				}
			}
			_, _ = p.Apply(old)
		}
	})
}
