package style_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tui/style"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{style.ShortPath("a/b.go", 6), "a/b.go"},
		{style.ShortPath("a/b.go", 5), "…b.go"},
		{style.ShortPath("日本語", 4), "… 語"}, // half of a wide character is a space
		{style.ShortPath("a/b.go", 0), "…"},
		{style.Plural(0, "file"), "0 files"},
		{style.Plural(1, "file"), "1 file"},
		{style.Plural(2, "file"), "2 files"},
		{style.Capitalize(""), ""},
		{style.Capitalize("build"), "Build"},
		{style.Capitalize("Build"), "Build"},
		{style.Capitalize("übung"), "Übung"},
		{style.Capitalize("\xffx"), "\xffx"},
		{style.FirstLine("\n \r\n one\r\ntwo"), "one"},
		{style.FirstLine("one"), "one"},
		{style.FirstLine(""), ""},
		{style.Spinner(-1), style.Spinner(0)},
		{style.Spinner(12), style.Spinner(2)},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if n := len(style.FirstLine(strings.Repeat("x", 1<<20))); n > 1<<10 {
		t.Errorf("a line of %d bytes is shown", n)
	}
}

func TestClock(t *testing.T) {
	zone := time.FixedZone("there", 5*60*60)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, zone)
	for want, at := range map[string]time.Time{
		"":                {},
		"03:00":           now.Add(-4 * time.Minute),
		"00:04":           now.Add(-3 * time.Hour).UTC(), // the day before, in another zone
		"yesterday 23:04": now.Add(-4 * time.Hour),
		"31 Dec 2025":     time.Date(2025, 12, 31, 9, 0, 0, 0, zone),
		"5 Mar 15:00":     time.Date(2026, 3, 5, 15, 0, 0, 0, zone), // of a clock that is wrong
	} {
		if got := style.Clock(at, now); got != want {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
	if got := style.Clock(time.Date(2025, 12, 31, 23, 0, 0, 0, zone), now.AddDate(0, 0, -1)); got != "yesterday 23:00" {
		t.Errorf("over the new year: %q", got)
	}
}

func TestBeginning(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"日本", 3, "日"},
		{"日本", 5, "日"},
		{"日本", 2, ""},
		{"", 0, ""},
	} {
		if got := style.Prefix(c.text, c.n); got != c.want {
			t.Errorf("%d bytes of %q are %q, want %q", c.n, c.text, got, c.want)
		}
	}
}
