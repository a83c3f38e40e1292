package diff

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

func sample(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/sample.patch")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func options(width int) Options { return Options{Theme: style.Default(true), Width: width} }

func TestLines_Golden(t *testing.T) {
	for _, width := range []int{20, 40, 80, 120} {
		o := options(width)
		styletest.Golden(t, fmt.Sprintf("unified-%d", width), style.Text(Lines(sample(t), o)))
		o.Wrap = true
		styletest.Golden(t, fmt.Sprintf("wrapped-%d", width), style.Text(Lines(sample(t), o)))
		o.Split = true
		styletest.Golden(t, fmt.Sprintf("split-%d", width), style.Text(Lines(sample(t), o)))
	}
}

// New and deleted files have one column at any width: the other would be empty.
func TestLines_WholeFile(t *testing.T) {
	for _, op := range []string{"+", "-"} {
		patch := "--- a\n+++ a\n@@ -1,2 +1,2 @@\n" + op + "first line\n" + op + "second line\n"
		for _, width := range []int{80, 120, 200} {
			one := options(width)
			two := one
			two.Split = true
			if a, b := style.Text(Lines(patch, one)), style.Text(Lines(patch, two)); a != b {
				t.Errorf("%s at %d columns:\n%s", op, width, b)
			}
		}
	}
}

func TestParse_Files(t *testing.T) {
	type short struct {
		Old, New       string
		Status         Status
		Binary         bool
		Added, Removed int
		Hunks          int
	}
	var got []short
	for _, f := range Parse(sample(t)) {
		a, r := Stat(f)
		got = append(got, short{f.Old, f.New, f.Status, f.Binary, a, r, len(f.Hunks)})
	}
	want := []short{
		{"cmd/main.go", "cmd/main.go", Modified, false, 5, 4, 2},
		{"", "new file.txt", Added, false, 2, 0, 1},
		{"old.py", "", Deleted, false, 0, 2, 1},
		{"a.txt", "b.txt", Renamed, false, 0, 0, 0},
		{"p.png", "p.png", Modified, true, 0, 0, 0},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParse_Odd(t *testing.T) {
	rows := func(f File) (out []string) {
		for _, h := range f.Hunks {
			out = append(out, fmt.Sprint(h.Old, " ", h.New))
			for _, r := range h.Rows {
				out = append(out, string(r.Op)+r.Text)
			}
		}
		return out
	}
	for _, c := range []struct {
		name, patch string
		want        [][]string
	}{
		{"nothing", "", nil},
		{"no patch", "hello\nworld\n", nil},
		{"counts too small", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n d\n", [][]string{{"1 1", "-a", "+b", "+c", " d"}}},
		{"counts too large, next file", "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -5 +5 @@\n-c\n+d\n", [][]string{{"1 1", "-a", "+b"}, {"5 5", "-c", "+d"}}},
		{"a removed line that looks like a name", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n k\n--- old\n+++ new\n@@ -9 +9 @@\n-c\n+d\n", [][]string{{"1 1", " k", "--- old", "+++ new", "9 9", "-c", "+d"}}},
		{"no counts", "--- x\n+++ x\n@@ @@\n-a\n+b\n", [][]string{{"1 1", "-a", "+b"}}},
		{"only a hunk", "@@ -3 +4 @@\n-a\n+b\n", [][]string{{"3 4", "-a", "+b"}}},
		{"lost spaces", "--- x\n+++ x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", [][]string{{"1 1", " a", " ", "-b", "+c"}}},
		{"windows", "--- x\r\n+++ x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", [][]string{{"1 1", "-a", "+b"}}},
		{"index", "Index: x\n=====\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", [][]string{{"1 1", "-a", "+b"}}},
	} {
		var got [][]string
		for _, f := range Parse(c.patch) {
			got = append(got, rows(f))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestLines_Colors(t *testing.T) {
	th := style.Default(true)
	lines := Lines("--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n-return value one\n+return value two\n \"both\"\n", options(60))
	find := func(row int, text string) style.Attr {
		for _, s := range lines[row] {
			if strings.TrimSpace(s.Text) == text {
				return s.Attr
			}
		}
		t.Fatalf("no %q in row %d: %q", text, row, lines[row].Text())
		return style.Attr{}
	}
	if a := find(0, "return"); a.FG != th.SyntaxKeyword || a.BG != th.DiffRemovedBg {
		t.Errorf("a keyword that was removed looks %+v", a)
	}
	if a := find(0, "one"); a.FG != th.DiffHighlightRemoved || !a.Bold || a.BG == th.DiffRemovedBg {
		t.Errorf("the word that went looks %+v", a)
	}
	if a := find(1, "two"); a.FG != th.DiffHighlightAdded || !a.Bold || a.BG == th.DiffAddedBg {
		t.Errorf("the word that came looks %+v", a)
	}
	if a := find(2, `"both"`); a.FG != th.SyntaxString || a.BG != th.DiffContextBg {
		t.Errorf("a string that stayed looks %+v", a)
	}
	if a := find(1, "1"); a.BG != th.DiffAddedLineNumberBg || a.FG != th.DiffLineNumber {
		t.Errorf("the number of an added line looks %+v", a)
	}
}

// Changed words can be read in every theme, and stand out in that of the terminal itself.
func TestHighlight_Themes(t *testing.T) {
	for _, name := range style.Names() {
		for _, dark := range []bool{true, false} {
			th, ok := style.Builtin(name, dark)
			if !ok {
				t.Fatalf("there is no theme %s", name)
			}
			for _, a := range []style.Attr{
				highlight(th.DiffHighlightAdded, th.DiffAdded, th.DiffAddedBg),
				highlight(th.DiffHighlightRemoved, th.DiffRemoved, th.DiffRemovedBg),
			} {
				if a.BG.IsSet() {
					if c := style.Contrast(a.FG, a.BG); c < 4 {
						t.Errorf("%s, dark %v: a changed word has a contrast of %.1f", name, dark, c)
					}
				} else if !a.Underline {
					t.Errorf("%s: a changed word does not stand out: %+v", name, a)
				}
			}
		}
	}
}

// A comment reaches over lines, on each side by itself.
func TestLines_CommentOverLines(t *testing.T) {
	th := style.Default(true)
	patch := "--- a/x.go\n+++ b/x.go\n@@ -1,4 +1,4 @@\n /* one\n-two */\n+three\n return\n@@ -5,3 +5,3 @@\n-/* four\n-six */\n x\n+/* seven\n+nine */\n@@ -9 +9 @@\n return\n"
	for _, split := range []bool{false, true} {
		o := options(100)
		o.Split = split
		var got []string
		for _, l := range Lines(patch, o) {
			for _, s := range l {
				text := strings.TrimSpace(s.Text)
				if text != "" && (s.Attr.FG == th.SyntaxComment || s.Attr.FG == th.SyntaxKeyword) {
					got = append(got, fmt.Sprintf("%v %s", s.Attr.FG == th.SyntaxComment, text))
				}
			}
		}
		want := []string{"true /* one", "true two */", "true three", "true return", "true /* four", "true six */", "true /* seven", "true nine */", "false return"}
		if split {
			want = []string{"true /* one", "true /* one", "true two */", "true three", "true return", "true return", "true /* four", "true six */", "true /* seven", "true nine */", "false return", "false return"}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("split %v: %q, want %q", split, got, want)
		}
	}
}

func TestLines_Max(t *testing.T) {
	patch := "--- a/x\n+++ b/x\n@@ -0,0 +1,100 @@\n" + strings.Repeat("+line\n", 100)
	o := options(40)
	for m := 1; m < 110; m++ {
		o.Max = m
		got := Lines(patch, o)
		if m >= 100 {
			if len(got) != 100 {
				t.Fatalf("Max %d gives %d rows", m, len(got))
			}
			continue
		}
		if want := fmt.Sprintf("… %d more lines", 101-m); len(got) != m || got[m-1].Text() != want {
			t.Fatalf("Max %d gives %d rows, the last %q; want %q", m, len(got), got[len(got)-1].Text(), want)
		}
	}
}

func TestChanged(t *testing.T) {
	for _, c := range []struct {
		old, now   string
		gone, come string
	}{
		{"a b c", "a x c", "[b]", "[x]"},
		{"func f(a int)", "func f(a, b int)", "", "[, b]"},
		{"same", "same", "", ""},
		{"entirely other", "12 + 34", "", ""},
		{"", "x", "", ""},
	} {
		show := func(s string, spans []stretch) (out string) {
			for _, p := range spans {
				out += "[" + s[p.from:p.to] + "]"
			}
			return out
		}
		gone, come := diffWords(c.old, c.now)
		if g, k := show(c.old, gone), show(c.now, come); g != c.gone || k != c.come {
			t.Errorf("%q → %q: %s %s, want %s %s", c.old, c.now, g, k, c.gone, c.come)
		}
	}
}

func patches(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
		"diff --git a/x.go b/x.go\n", "diff --git \"a/\\303\\244\" b/ä\n", "--- a/x.go\n", "+++ b/x.go\n", "--- /dev/null\n", "+++ /dev/null\n",
		"@@ -1,3 +1,4 @@ func\n", "@@ -99999999999999999999,1 +0 @@\n", "@@\n", "@@ - + @@\n", "+", "-", " ", "\\ No newline at end of file\n",
		"\n", "\r\n", "-old line\n", "+new line\n", " both\n", "+\t日本語\n", "-é👩‍👩‍👧\n", "+\x1b[31mred\u202e\x00\xff\n", "new file mode 100644\n",
		"deleted file mode 1\n", "rename from a\n", "rename to b\n", "Binary files a and b differ\n", "Index: q\n", "/* ", "\"", "`",
		"+" + strings.Repeat("word ", 100) + "\n", "-" + strings.Repeat("x", 500) + "\n",
	}), 0, 60).Draw(t, "patch"), "")
}

func TestLines_AnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		patch := patches(t)
		o := options(rapid.IntRange(10, 140).Draw(t, "width"))
		o.Split, o.Wrap = rapid.Bool().Draw(t, "split"), rapid.Bool().Draw(t, "wrap")
		o.Max = rapid.SampledFrom([]int{0, 1, 5, 50}).Draw(t, "max")
		rows := Lines(patch, o)
		if o.Max > 0 && len(rows) > o.Max {
			t.Fatalf("%d rows, more than %d", len(rows), o.Max)
		}
		styletest.CheckWidth(t, rows, o.Width)
		for i, l := range rows {
			if strings.ContainsAny(l.Text(), "\x1b\u202e\x00\n") {
				t.Fatalf("row %d has characters that a terminal obeys: %q", i, l.Text())
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
	f.Add("diff --git a/x b/y\nrename from x\nrename to y\n")
	f.Fuzz(func(t *testing.T, patch string) {
		rows := 0
		for _, file := range Parse(patch) {
			for _, h := range file.Hunks {
				rows += len(h.Rows)
			}
		}
		if rows > strings.Count(patch, "\n")+1 {
			t.Fatalf("%d rows out of %d lines", rows, strings.Count(patch, "\n")+1)
		}
		Lines(patch, Options{Theme: style.Default(true), Width: 60, Split: true, Wrap: true, Max: 100})
	})
}

func TestLines_LongLine(t *testing.T) {
	patch := "--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-" + strings.Repeat("a", 1<<20) + "\n+" + strings.Repeat("ab ", 1<<19) + "\n"
	o := options(80)
	o.Wrap = true
	if n := len(Lines(patch, o)); n > 400 {
		t.Errorf("two lines of a megabyte give %d rows", n)
	}
	o.Wrap = false
	if n := len(Lines(patch, o)); n != 2 {
		t.Errorf("two lines give %d rows", n)
	}
}

func BenchmarkLines(b *testing.B) {
	patch := "--- a/x.go\n+++ b/x.go\n@@ -1,1000 +1,1000 @@\n" +
		strings.Repeat("-\tif err := run(ctx, \"name\", 42); err != nil {\n+\tif err := call(ctx, \"name\", 43); err != nil {\n \treturn nil\n", 1000)
	for _, split := range []bool{false, true} {
		o := options(140)
		o.Split = split
		b.Run(fmt.Sprintf("split=%v", split), func(b *testing.B) {
			for b.Loop() {
				Lines(patch, o)
			}
		})
		o.Max = 20
		b.Run(fmt.Sprintf("split=%v,max=20", split), func(b *testing.B) {
			for b.Loop() {
				Lines(patch, o)
			}
		})
	}
}
