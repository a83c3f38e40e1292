package markdown

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Ten times the text takes about ten times the work, not a hundred times. Work is what this thread
// has of the processor, so that whatever else the machine does says nothing here.
func TestWords_Linear(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	worked := func() time.Duration {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
			t.Fatal(err)
		}
		return time.Duration(now.Nano())
	}
	took := func(src []byte) time.Duration {
		begun := worked()
		readAll(src)
		return worked() - begun
	}
	texts := map[string]func(int) []byte{"ticking": ticking}
	for name, unit := range nasty() {
		texts[name] = func(size int) []byte { return grown(unit, size) }
	}
	for name, text := range texts {
		var small, large time.Duration
		for range 3 { // once may have been disturbed
			if small, large = took(text(10_000)), took(text(100_000)); large <= 100*time.Millisecond || large <= 40*small {
				break
			}
		}
		if large > 100*time.Millisecond && large > 40*small {
			t.Errorf("%s: 10 KB take %v, 100 KB %v", name, small, large)
		}
	}
}
