package main

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
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
		"👍🏽":               2, // with a colour of skin
		"👩‍👩‍👧":            2, // three joined
		"❤️":               2, // asked to be a picture
		"🇩🇪🇫🇷":             4, // two flags
		"a\u200bb":         2, // nothing in between
		"\xff\xfe":         2,
		"naïve – «quoted»": 16,
	} {
		if got := columns(s); got != want {
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
		if got := clip(c.s, c.most); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.s, c.most, got, c.want)
		}
	}
	if got := clipLeft("/home/dev/src/日本", 9); got != "…src/日本" {
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
		if got := plain(s); got != want {
			t.Errorf("plain(%q) = %q, want %q", s, got, want)
		}
	}
	if got := plainText("a\r\nb\n\tc\rd\x1b"); got != "a\nb\n\tc d␛" {
		t.Errorf("plainText = %q", got)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("title", 10)
	f.Add("\x1b]0;x\a\u202e日本\xff", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		got := plain(s)
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("plain(%q) = %q holds %U", s, got, r)
			}
		}
		if n := columns(clip(got, most)); most > 0 && n > most {
			t.Fatalf("clip(%q, %d) takes %d columns", got, most, n)
		}
		if n := columns(clipLeft(got, most)); most > 0 && n > most {
			t.Fatalf("clipLeft(%q, %d) takes %d columns", got, most, n)
		}
	})
}

func TestAgo(t *testing.T) {
	zone := time.FixedZone("there", 2*3600)
	now := time.Date(2026, 3, 12, 14, 5, 0, 0, zone)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{now, "just now"},
		{now.Add(-59 * time.Second), "just now"},
		{now.Add(30 * time.Second), "just now"}, // another machine's clock
		{now.Add(-time.Minute), "1 minute ago"},
		{now.Add(-3 * time.Minute), "3 minutes ago"},
		{now.Add(-59*time.Minute - 59*time.Second), "59 minutes ago"},
		{now.Add(-time.Hour), "1 hour ago"},
		{time.Date(2026, 3, 12, 0, 1, 0, 0, zone), "14 hours ago"},
		{time.Date(2026, 3, 11, 23, 59, 0, 0, zone), "yesterday 23:59"},
		{time.Date(2026, 3, 11, 14, 2, 0, 0, zone), "yesterday 14:02"},
		{time.Date(2026, 3, 10, 14, 2, 0, 0, zone), "10 Mar 14:02"},
		{time.Date(2026, 1, 1, 0, 0, 0, 0, zone), "1 Jan 00:00"},
		{time.Date(2025, 12, 31, 23, 0, 0, 0, zone), "31 Dec 2025"},
		{time.Date(2025, 3, 12, 14, 5, 0, 0, zone), "12 Mar 2025"},
		{now.Add(48 * time.Hour), "14 Mar 2026 14:05"},
		{time.Date(2026, 3, 12, 12, 0, 0, 0, time.UTC), "5 minutes ago"},
	} {
		if got := ago(lathe.TimeOf(c.at), now); got != c.want {
			t.Errorf("ago(%s) = %q, want %q", c.at, got, c.want)
		}
	}
	for _, at := range []lathe.Time{0, 1e300, -1e300} {
		if got := ago(at, now); got != "never" {
			t.Errorf("ago(%g) = %q", float64(at), got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1: "-1", -999: "-999", -1000: "-1,000"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 1536: "1.5 KB", 1 << 20: "1.0 MB", 1<<20 - 1: "1.0 MB", 5 << 30: "5.0 GB", 1 << 62: "4194304.0 TB",
	} {
		if got := byteSize(n); got != want {
			t.Errorf("byteSize(%d) = %s, want %s", n, got, want)
		}
	}
	for ms, want := range map[lathe.Time]string{1: "1ms", 999: "999ms", 1234: "1.2s", 61000: "1m1s", 3600_000: "1h0m0s"} {
		if got := span(1000, 1000+ms); got != want {
			t.Errorf("span(%g) = %s, want %s", float64(ms), got, want)
		}
	}
}

func TestTable_FitsTheScreen(t *testing.T) {
	tab := table{
		head: []string{"ID", "Title", "Directory"}, flexible: []int{1, 2}, paths: 2,
		rows: [][]string{{"1", strings.Repeat("long title ", 5), "/a/very/long/way/down/to/here"}, {"2", "日本", "/"}},
	}
	for _, screen := range []int{20, 40, 60, 80} {
		var b strings.Builder
		if err := tab.write(&b, screen); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := columns(strings.TrimSuffix(line, "\n")); n > screen {
				t.Errorf("a line takes %d of %d columns: %q", n, screen, line)
			}
		}
		if !strings.Contains(b.String(), "to/here\n") {
			t.Errorf("the end of the path is gone:\n%s", b.String())
		}
	}
}

func TestBaseFolder(t *testing.T) {
	for _, c := range []struct {
		system, variable string
		env              map[string]string
		want             string
	}{
		{"linux", "XDG_DATA_HOME", map[string]string{"HOME": "/h"}, "/h/.local/share"},
		{"linux", "XDG_STATE_HOME", map[string]string{"HOME": "/h"}, "/h/.local/state"},
		{"linux", "XDG_STATE_HOME", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s"},
		{"linux", "XDG_DATA_HOME", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "rel"}, "/h/.local/share"},
		{"darwin", "XDG_DATA_HOME", map[string]string{"HOME": "/h"}, "/h/Library/Application Support"},
		{"windows", "XDG_DATA_HOME", map[string]string{"LOCALAPPDATA": "/l"}, "/l"},
		{"windows", "XDG_STATE_HOME", map[string]string{"USERPROFILE": "/u"}, "/u/AppData/Local"},
		{"linux", "XDG_CACHE_HOME", map[string]string{"HOME": "/h"}, "/h/.cache"},
		{"linux", "XDG_CACHE_HOME", map[string]string{"HOME": "/h", "XDG_CACHE_HOME": "/c"}, "/c"},
		{"darwin", "XDG_CACHE_HOME", map[string]string{"HOME": "/h"}, "/h/Library/Caches"},
		{"windows", "XDG_CACHE_HOME", map[string]string{"LOCALAPPDATA": "/l"}, "/l"},
		{"linux", "XDG_DATA_HOME", nil, ""},
	} {
		got, err := baseFolder(func(name string) string { return c.env[name] }, c.variable, c.system)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %s %v: %q, %v; want %q", c.system, c.variable, c.env, got, err, c.want)
		}
	}
}
