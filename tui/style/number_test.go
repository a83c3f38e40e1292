package style_test

import (
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tui/style"
)

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		-5: "0", 0: "0", 999: "999", 1000: "1K", 1234: "1.2K", 12_340: "12.3K", 99_960: "100K", 123_456: "123K", 999_950: "1M",
		1_250_000: "1.2M", 5_000_000_000: "5B", 1 << 62: "4611686018B",
	} {
		if got := style.Count(n); got != want {
			t.Errorf("Count(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[float64]string{0: "$0.00", -1: "$0.00", 0.00001: "<$0.0001", 0.0012: "$0.0012", 0.01: "$0.01", 1.239: "$1.24", 120: "$120.00"} {
		if got := style.Money(n); got != want {
			t.Errorf("Money(%v) = %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-1: "0ms", 40 * time.Millisecond: "40ms", 3290 * time.Millisecond: "3.2s", 42 * time.Second: "42s",
		245 * time.Second: "4m 5s", 2*time.Hour + 3*time.Minute: "2h 3m",
	} {
		if got := style.Duration(d); got != want {
			t.Errorf("Duration(%v) = %s, want %s", d, got, want)
		}
	}
}
