package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

func change() []lathe.FileDiff {
	return []lathe.FileDiff{
		{File: "tool/read.go", Status: "modified", Additions: 2, Deletions: 1, Patch: "--- a/tool/read.go\n+++ b/tool/read.go\n@@ -10,3 +10,4 @@ func Read()\n \tx := 1\n-\treturn x\n+\ty := 2\n+\treturn x + y\n }\n@@ -50,2 +51,2 @@ func Other()\n-\told()\n+\tnew()\n }\n"},
		{File: "README.md", Status: "modified", Additions: 1, Patch: "--- a/README.md\n+++ b/README.md\n@@ -1,1 +1,2 @@\n # Title\n+A line of some length that tells what this is, so that it has to be cut or wrapped somewhere.\n"},
		{File: "docs/guide/deep/page.md", Status: "added", Additions: 1, Patch: "--- /dev/null\n+++ b/docs/guide/deep/page.md\n@@ -0,0 +1 @@\n+# Page\n"},
		{File: "tool/gone.go", Status: "deleted", Deletions: 2, Patch: "--- a/tool/gone.go\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-package tool\n-var x = 1\n"},
		{File: "漢字/ファイル.txt", Status: "added", Additions: 1, Patch: "@@ -0,0 +1 @@\n+日本語\n"},
	}
}

func opened(t testing.TB, files []lathe.FileDiff) *Review {
	r := New(Options{Keys: styletest.Keys(t)})
	r.Set("uncommitted", files)
	return r
}

func TestView_Golden(t *testing.T) {
	th := style.Default(true)
	for _, width := range []int{40, 80, 120} {
		shot := func(name string, r *Review, pressed ...string) {
			for _, k := range pressed {
				r.View(th, width, 22)
				r.Key(styletest.Press(k))
			}
			styletest.Golden(t, fmt.Sprintf("%s-%d", name, width), style.Text(r.View(th, width, 22)))
		}
		shot("all", opened(t, change()))
		shot("tree", opened(t, change()), "tab", "down", "down", "left", "left")
		shot("split", opened(t, change()), "v", "]", "]", "]", "]")
		shot("single", opened(t, change()), "s", "n", "n")
		shot("reviewed", opened(t, change()), "m", "m")
		shot("help", opened(t, change()), "?")
		shot("notree", opened(t, change()), "b", "end")
		shot("nothing", opened(t, nil))
		shot("loading", New(Options{Keys: styletest.Keys(t)}))
	}
}

func TestKey_Out(t *testing.T) {
	r := opened(t, change())
	for k, want := range map[string]Result{"esc": Close, "q": Close, "d": SwitchSource, "n": Handled, "z": NotHandled} {
		if got := r.Key(styletest.Press(k)); got != want {
			t.Errorf("%s gives %v, want %v", k, got, want)
		}
	}
	if got := opened(t, nil).Key(styletest.Press("esc")); got != Close {
		t.Errorf("without files esc gives %v", got)
	}
}

// Up and down are each other's opposite, and everything can be reached.
func TestScroll_WholeChange(t *testing.T) {
	for _, wrap := range []bool{false, true} {
		r := New(Options{Keys: styletest.Keys(t), Wrap: wrap})
		r.Set("uncommitted", change())
		th := style.Default(true)
		r.View(th, 70, 8)
		seen := map[string]bool{}
		note := func() {
			for _, l := range r.View(th, 70, 8) {
				for _, w := range strings.Fields(l.Text()) {
					seen[w] = true
				}
			}
		}
		var way []place
		for range 60 {
			note()
			way = append(way, r.at)
			r.Key(styletest.Press("down"))
		}
		last := r.at
		for _, w := range []string{"old()", "Page", "日本語", "package", "new()"} {
			if !seen[w] {
				t.Errorf("wrap %v: %q was never seen", wrap, w)
			}
		}
		r.Key(styletest.Press("home"))
		if r.at != way[0] {
			t.Errorf("home goes to %v, not %v", r.at, way[0])
		}
		r.Key(styletest.Press("end"))
		if r.at != last {
			t.Errorf("end goes to %v, walking to %v", r.at, last)
		}
		for range 60 {
			r.Key(styletest.Press("up"))
		}
		if r.at != way[0] {
			t.Errorf("walking up ends at %v", r.at)
		}
	}
}

func TestHunksAndFiles(t *testing.T) {
	r := opened(t, change())
	r.View(style.Default(true), 100, 20)
	var way []string
	for range 8 {
		r.Key(styletest.Press("]"))
		way = append(way, fmt.Sprintf("%s:%d", r.files[r.at.file].File, r.at.row))
	}
	want := "docs/guide/deep/page.md:1 tool/gone.go:1 tool/read.go:1 tool/read.go:7 漢字/ファイル.txt:1"
	if got := strings.Join(slices.Compact(way), " "); got != want {
		t.Errorf("hunks are visited as %s; want %s", got, want)
	}
	for range 8 {
		r.Key(styletest.Press("p"))
	}
	if r.at.file != 0 {
		t.Errorf("p does not lead to the first file but to %d", r.at.file)
	}
}

func TestMark_StaysWherePatchIsTheSame(t *testing.T) {
	r := opened(t, change())
	first := r.files[0].File
	r.Key(styletest.Press("m"))
	if !r.files[0].reviewed || r.at.file != 1 {
		t.Fatalf("m marks %v and goes to %d", r.files[0].reviewed, r.at.file)
	}
	r.Set("uncommitted", change())
	if !r.files[0].reviewed || r.reviewed != 1 {
		t.Errorf("%s is no longer marked", first)
	}
	other := change()
	for i := range other {
		other[i].Patch += "+more\n"
	}
	r.Set("uncommitted", other)
	if r.files[0].reviewed || r.reviewed != 0 {
		t.Errorf("%s is still marked, but it changed", first)
	}
}

// Two columns come by themselves only where there is room, and by the key everywhere.
func TestSplit_Width(t *testing.T) {
	th := style.Default(true)
	two := func(r *Review, width int) bool { return strings.Count(r.View(th, width, 20)[3].Text(), "│") == 2 }
	r := New(Options{Keys: styletest.Keys(t), Split: true})
	r.Set("uncommitted", change())
	if two(r, 100) || !two(r, 160) {
		t.Errorf("two columns: %v at 100, %v at 160; want only the latter", two(r, 100), two(r, 160))
	}
	two(r, 100)
	r.Key(styletest.Press("v"))
	if !two(r, 100) {
		t.Error("v does not give two columns")
	}
	r.Key(styletest.Press("v"))
	if two(r, 160) {
		t.Error("v does not give one column again")
	}
}

func TestClick(t *testing.T) {
	r := opened(t, change())
	th := style.Default(true)
	rows := r.View(th, 100, 20)
	for y, l := range rows {
		if strings.Contains(l.Cut(0, 25).Text(), "gone.go") {
			r.Click(3, y)
		}
	}
	if got := r.files[r.at.file].File; got != "tool/gone.go" {
		t.Errorf("a click on gone.go leads to %s", got)
	}
	r.View(th, 100, 20)
	r.Click(60, 1)
	if !r.files[r.at.file].folded {
		t.Error("a click on the head of a patch does not fold it")
	}
}

func TestView_Colors(t *testing.T) {
	th := style.Default(true)
	r := opened(t, change())
	r.Key(styletest.Press("tab"))
	rows := r.View(th, 100, 20)
	found := false
	for _, l := range rows {
		for _, s := range l {
			found = found || s.Attr.BG == th.Primary && s.Attr.FG == th.SelectedText && strings.Contains(s.Text, "README.md")
		}
	}
	if !found {
		t.Error("the file under the cursor does not stand out")
	}
}

// Whatever is pressed, nothing breaks and nothing is wider or higher than the screen.
func TestKeys_Any(t *testing.T) {
	th := style.Default(true)
	all := []string{"esc", "enter", "tab", "up", "down", "left", "right", "pgup", "pgdown", "home", "end", "space", "]", "[", "n", "p", "b", "s", "v", "m", "?", "E", "j", "k"}
	hostile := append(change(), lathe.FileDiff{File: "a\x1b[31m/\u202e\x00", Patch: "\xff@@\n+\x1b]0;x\x07"}, lathe.FileDiff{File: "", Patch: ""},
		lathe.FileDiff{File: "///", Patch: "no patch"}, lathe.FileDiff{File: "tool/read.go", Patch: "Binary files a and b differ"})
	rapid.Check(t, func(t *rapid.T) {
		m, _ := key.New(nil)
		r := New(Options{Keys: m, Wrap: rapid.Bool().Draw(t, "wrap"), Split: rapid.Bool().Draw(t, "split")})
		r.Set("branch", hostile[:rapid.IntRange(0, len(hostile)).Draw(t, "files")])
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w, h := rapid.IntRange(20, 130).Draw(t, "w"), rapid.IntRange(3, 30).Draw(t, "h")
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				r.Click(rapid.IntRange(-1, 130).Draw(t, "x"), rapid.IntRange(-1, 30).Draw(t, "y"))
			case 1:
				r.Wheel(rapid.IntRange(0, 130).Draw(t, "x"), rapid.IntRange(-5, 5).Draw(t, "dy"))
			case 2:
				rows := r.View(th, w, h)
				if len(rows) != h {
					t.Fatalf("%d rows, not %d", len(rows), h)
				}
				for _, l := range rows {
					if l.Width() != w {
						t.Fatalf("a row of %d, not %d: %q", l.Width(), w, l.Text())
					}
				}
			default:
				r.Key(styletest.Press(rapid.SampledFrom(all).Draw(t, "key")))
			}
		}
	})
}

// large is a change of many files and lines.
func large(files, lines int) []lathe.FileDiff {
	patch := fmt.Sprintf("@@ -1,%d +1,%d @@\n", lines, lines) + strings.Repeat("-\told(\"x\")\n+\tnew(\"y\", 12)\n", lines/2)
	out := make([]lathe.FileDiff, files)
	for i := range out {
		out[i] = lathe.FileDiff{File: fmt.Sprintf("dir%d/sub%d/file%d.go", i%50, i%7, i), Status: "modified", Patch: patch, Additions: lines / 2, Deletions: lines / 2}
	}
	return out
}

func BenchmarkOpen(b *testing.B) {
	files := large(5000, 20)
	m := styletest.Keys(b)
	th := style.Default(true)
	for b.Loop() {
		r := New(Options{Keys: m})
		r.Set("branch", files)
		r.View(th, 160, 50)
	}
}

func BenchmarkScroll(b *testing.B) {
	for name, files := range map[string][]lathe.FileDiff{"5000files": large(5000, 20), "1file": large(1, 100_000)} {
		for _, wrap := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/wrap=%v", name, wrap), func(b *testing.B) {
				r := New(Options{Keys: styletest.Keys(b), Wrap: wrap})
				r.Set("branch", files)
				th := style.Default(true)
				r.View(th, 160, 50)
				for b.Loop() {
					r.Wheel(100, 3)
					r.View(th, 160, 50)
				}
			})
		}
	}
}

func BenchmarkEnd(b *testing.B) {
	th := style.Default(true)
	for name, files := range map[string][]lathe.FileDiff{"5000files": large(5000, 20), "1file": large(1, 100_000)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := New(Options{Keys: styletest.Keys(b)})
				r.Set("branch", files)
				r.View(th, 160, 50)
				r.Key(styletest.Press("end"))
				r.View(th, 160, 50)
			}
		})
	}
}
