package layout

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

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
		if got := FormatAge(lathe.TimeOf(c.at), now); got != c.want {
			t.Errorf("ago(%s) = %q, want %q", c.at, got, c.want)
		}
	}
	for _, at := range []lathe.Time{0, 1e300, -1e300} {
		if got := FormatAge(at, now); got != "never" {
			t.Errorf("ago(%g) = %q", float64(at), got)
		}
	}
}

func TestSpan(t *testing.T) {
	for ms, want := range map[lathe.Time]string{1: "1ms", 999: "999ms", 1234: "1.2s", 61000: "1m1s", 3600_000: "1h0m0s"} {
		if got := FormatSpan(1000, 1000+ms); got != want {
			t.Errorf("span(%g) = %s, want %s", float64(ms), got, want)
		}
	}
}

func TestTable_FitsTheScreen(t *testing.T) {
	tab := Table{
		Head: []string{"ID", "Title", "Directory"}, Flexible: []int{1, 2}, Paths: 2,
		Rows: [][]string{{"1", strings.Repeat("long title ", 5), "/a/very/long/way/down/to/here"}, {"2", "日本", "/"}},
	}
	for _, screen := range []int{20, 40, 60, 80} {
		var b strings.Builder
		if err := tab.Write(&b, screen); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := termtext.Columns(strings.TrimSuffix(line, "\n")); n > screen {
				t.Errorf("a line takes %d of %d columns: %q", n, screen, line)
			}
		}
		if !strings.Contains(b.String(), "to/here\n") {
			t.Errorf("the end of the path is gone:\n%s", b.String())
		}
	}
}
