package style_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
	"pgregory.net/rapid"
)

func TestWrap_WidthAndNothingLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lines().Draw(t, "line")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		hang := style.Plain(strings.Repeat("|", rapid.IntRange(0, 5).Draw(t, "hang")))
		before := l.Text()
		rows := l.Wrap(width, hang)
		styletest.CheckWidth(t, rows, width)
		if l.Text() != before {
			t.Fatalf("Wrap changed what it was given: %q to %q", before, l.Text())
		}
		if width < 2 || strings.Contains(before, "|") {
			return // a wide character cannot be shown in one cell
		}
		var got strings.Builder
		for i, row := range rows {
			text := row.Text()
			if i > 0 {
				text = strings.TrimLeft(text, "|")
			}
			got.WriteString(bare(text))
		}
		if want := bare(before); got.String() != want {
			t.Fatalf("lost something:\n got %q\nwant %q", got.String(), want)
		}
	})
}

func TestWrap_KeepsLooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lines().Draw(t, "line")
		looks := func(rows ...style.Line) (out []style.Attr) {
			for _, row := range rows {
				for _, s := range row {
					for range bare(s.Text) {
						out = append(out, s.Attr)
					}
				}
			}
			return out
		}
		if diff := cmp.Diff(looks(l), looks(l.Wrap(rapid.IntRange(2, 40).Draw(t, "width"), nil)...), compareColor()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func compareColor() cmp.Option {
	return cmp.Comparer(func(a, b style.Color) bool { return a == b })
}

func TestWrap_Cases(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		hang  string
		want  string
	}{
		{"the quick brown fox", 9, "", "the quick\nbrown fox"},
		{"the quick brown fox", 10, "  ", "the quick\n  brown\n  fox"},
		{"abcdefghij", 4, "", "abcd\nefgh\nij"},
		{"日本語の文章", 5, "", "日本\n語の\n文章"},
		{"a日本語", 3, "", "a日\n本\n語"},
		{"", 5, "", ""},
		{"   x", 2, "", "\nx"},
		{"漢", 1, "", "…"},
		{"漢字", 3, "--", "漢\n字"}, // no room behind the hang
		{"e\u0301e\u0301e\u0301", 2, "", "e\u0301e\u0301\ne\u0301"},
	} {
		got := style.Text(style.Plain(c.text).Wrap(c.width, style.Plain(c.hang)))
		if got != c.want {
			t.Errorf("Wrap(%q, %d, %q):\n got %q\nwant %q", c.text, c.width, c.hang, got, c.want)
		}
	}
}

func TestCut_Idempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lines().Draw(t, "line")
		w := rapid.IntRange(0, 40).Draw(t, "width")
		once := l.Cut(0, w)
		styletest.CheckWidth(t, []style.Line{once}, w)
		if twice := once.Cut(0, w); twice.Text() != once.Text() {
			t.Fatalf("Cut(0, %d): %q, then %q", w, once.Text(), twice.Text())
		}
		if want := min(w, l.Width()); once.Width() != want {
			t.Fatalf("Cut(0, %d) of a line of %d is %d wide", w, l.Width(), once.Width())
		}
	})
}

// A wide character is there whole or not at all.
func TestCut_TearsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := style.Plain(strings.Repeat("漢x", rapid.IntRange(0, 10).Draw(t, "n")))
		from := rapid.IntRange(-3, 35).Draw(t, "from")
		to := rapid.IntRange(-3, 35).Draw(t, "to")
		got := l.Cut(from, to)
		if want := max(0, min(to, l.Width())-max(from, 0)); got.Width() != want {
			t.Fatalf("Cut(%d, %d) of %d is %d wide, want %d: %q", from, to, l.Width(), got.Width(), want, got.Text())
		}
		middle := strings.Trim(got.Text(), " ")
		if !strings.Contains(l.Text(), middle) {
			t.Fatalf("Cut(%d, %d) = %q", from, to, got.Text())
		}
	})
}

func TestFit_Exact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lines().Draw(t, "line")
		w := rapid.IntRange(0, 40).Draw(t, "width")
		if got := l.Fit(w, style.Attr{}).Width(); got != w {
			t.Fatalf("Fit(%d) is %d wide", w, got)
		}
		styletest.CheckWidth(t, []style.Line{l.Truncate(w)}, w)
	})
}

func TestOver_ReplacesCellsOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, other := lines().Draw(t, "line"), lines().Draw(t, "other")
		x := rapid.IntRange(-10, 50).Draw(t, "x")
		got := l.Over(x, other)
		if want := max(l.Width(), x+other.Width(), x); got.Width() != want {
			t.Fatalf("%d wide, want %d", got.Width(), want)
		}
		from := max(x, 0)
		if from > 0 && got.Cut(0, from).Text() != l.Cut(0, from).Fit(from, style.Attr{}).Text() {
			t.Fatalf("what is before changed: %q", got.Text())
		}
		shown := other.Cut(max(0, -x), other.Width())
		if shown.Width() > 0 && !strings.Contains(got.Text(), shown.Text()) {
			t.Fatalf("%q is not in %q", shown.Text(), got.Text())
		}
	})
}

func TestBlock_Exact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ls := rapid.SliceOfN(lines(), 0, 5).Draw(t, "lines")
		w, h := rapid.IntRange(0, 30).Draw(t, "w"), rapid.IntRange(0, 6).Draw(t, "h")
		bg := style.Hex(0x112233)
		rows := style.Block(ls, w, h, bg)
		if len(rows) != h {
			t.Fatalf("%d rows, want %d", len(rows), h)
		}
		for _, row := range rows {
			if row.Width() != w {
				t.Fatalf("row of %d, want %d", row.Width(), w)
			}
			for _, s := range row {
				if !s.Attr.BG.IsSet() {
					t.Fatalf("%q has no background", s.Text)
				}
			}
		}
	})
}

func TestClean_Safe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := texts().Draw(t, "text")
		got := style.Clean(in)
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		for _, r := range got {
			switch {
			case unicode.IsControl(r):
				t.Fatalf("control character %U in %q", r, got)
			case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0xe0000 && r <= 0xe007f:
				t.Fatalf("hidden character %U in %q", r, got)
			}
		}
		if again := style.Clean(got); again != got {
			t.Fatalf("cleaning twice: %q, then %q", got, again)
		}
	})
}

func TestClean_Cases(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                             "plain",
		"a\tb":                              "a    b",
		"\x1b[31mred\x1b[0m":                "[31mred[0m",
		"rm -rf \u202efdp.txt":              "rm -rf \uFFFDfdp.txt",
		"caf\u00e9 “quoted” – done…":        "caf\u00e9 “quoted” – done…",
		"👩\u200d💻 ok":                       "👩💻 ok",
		"👍🏽":                                "👍",
		"می\u200cخواهم":                     "می\u200cخواهم",
		"\xffbyte":                          "\uFFFDbyte",
		"\uFFFD":                            "\uFFFD",
		"soft\u00adhyphen\ufeff":            "softhyphen",
		"a" + strings.Repeat("\u0301", 500): "a" + strings.Repeat("\u0301", 8),
		"ls\U000e0072\U000e006d":            "ls\uFFFD\uFFFD",
	} {
		if got := style.Clean(in); got != want {
			t.Errorf("Clean(%+q) = %+q, want %+q", in, got, want)
		}
	}
}

func TestLines_ReturnsOfCarriage(t *testing.T) {
	got := style.Text(style.Lines("one\r\n10%\r20%\r100%\nlast\r", style.Attr{}))
	if want := "one\n100%\nlast"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A megabyte without a space must not take longer than its length.
func TestWrap_LongWord(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 1<<20), strings.Repeat("漢", 1<<18), "a" + strings.Repeat("\u0301", 1<<19), strings.Repeat("\u1100", 1<<16)} {
		begin := time.Now()
		rows := style.Plain(text).Wrap(80, nil)
		styletest.CheckWidth(t, rows, 80)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%d bytes took %v", len(text), took)
		}
	}
}
