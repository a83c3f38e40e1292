package lathe_test

import (
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

// Waits count once however they overlap, and only between the two moments.
func TestWorked(t *testing.T) {
	for _, tt := range []struct {
		waits []lathe.Wait
		want  time.Duration
	}{
		{nil, 10 * time.Second},
		{[]lathe.Wait{{2000, 5000}}, 7 * time.Second},
		{[]lathe.Wait{{4000, 6000}, {2000, 5000}}, 6 * time.Second},
		{[]lathe.Wait{{2000, 8000}, {3000, 4000}}, 4 * time.Second},
		{[]lathe.Wait{{-5000, 1000}, {9000, 20000}}, 8 * time.Second},
		{[]lathe.Wait{{-5000, 20000}}, 0},
		{[]lathe.Wait{{20000, 30000}, {5000, 4000}}, 10 * time.Second},
	} {
		if got := lathe.ActiveTime(0, 10000, tt.waits); got != tt.want {
			t.Errorf("%v: %s, not %s", tt.waits, got, tt.want)
		}
	}
}
