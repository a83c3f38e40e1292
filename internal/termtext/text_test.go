package termtext

import (
	"testing"
)

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{
		"":                 0,
		"plain":            5,
		"Ümläut":           6,
		"e\u0301":          1, // a letter and its accent
		"日本語":              6,
		"한글":               4,
		"ｆｕｌｌ":             8,
		"🎉":                2,
		"👍🏽":               2, // with a color of skin
		"👩‍👩‍👧":            2, // three joined
		"❤️":               2, // asked to be a picture
		"🇩🇪🇫🇷":             4, // two flags
		"a\u200bb":         2, // nothing in between
		"\xff\xfe":         2,
		"naïve – «quoted»": 16,
	} {
		if got := Columns(s); got != want {
			t.Errorf("columns(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s    string
		most int
		want string
	}{
		{"short", 10, "short"},
		{"exactly", 7, "exactly"},
		{"too long", 5, "too…"},
		{"日本語の題", 5, "日本…"},
		{"日本語の題", 4, "日…"},
		{"👩‍👩‍👧 family", 4, "👩‍👩‍👧…"},
		{"anything", 0, "anything"},
		{"x", 1, "x"},
		{"xy", 1, "…"},
	} {
		if got := Clip(c.s, c.most); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.s, c.most, got, c.want)
		}
	}
	if got := ClipLeft("/home/dev/src/日本", 9); got != "…src/日本" {
		t.Errorf("clipLeft = %q", got)
	}
}

func TestPlain(t *testing.T) {
	for s, want := range map[string]string{
		" two\nlines\r\n":           "two lines",
		"\x1b[31mred\x1b[0m":        "␛[31mred␛[0m",
		"bell\a nul\x00 del\x7f":    "bell␇ nul␀ del␡",
		"c1 \u009b31m":              "c1 \uFFFD31m",
		"\u202eright to left\u2069": "\uFFFDright to left\uFFFD",
		"broken \xff":               "broken \uFFFD",
		"👩‍👩‍👧 stays, so does שלום and \u200d": "👩‍👩‍👧 stays, so does שלום and \u200d",
	} {
		if got := Plain(s); got != want {
			t.Errorf("plain(%q) = %q, want %q", s, got, want)
		}
	}
	if got := PlainText("a\r\nb\n\tc\rd\x1b"); got != "a\nb\n\tc d␛" {
		t.Errorf("plainText = %q", got)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("title", 10)
	f.Add("\x1b]0;x\a\u202e日本\xff", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		got := Plain(s)
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("plain(%q) = %q holds %U", s, got, r)
			}
		}
		if n := Columns(Clip(got, most)); most > 0 && n > most {
			t.Fatalf("clip(%q, %d) takes %d columns", got, most, n)
		}
		if n := Columns(ClipLeft(got, most)); most > 0 && n > most {
			t.Fatalf("clipLeft(%q, %d) takes %d columns", got, most, n)
		}
	})
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1: "-1", -999: "-999", -1000: "-1,000"} {
		if got := Count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 1536: "1.5 KB", 1 << 20: "1.0 MB", 1<<20 - 1: "1.0 MB", 5 << 30: "5.0 GB", 1 << 62: "4194304.0 TB",
	} {
		if got := ByteSize(n); got != want {
			t.Errorf("byteSize(%d) = %s, want %s", n, got, want)
		}
	}
}
