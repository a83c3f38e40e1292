package engine_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// stacks returns the goroutines that have our code on their stack, without the caller.
func stacks() []string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	var out []string
	for _, g := range strings.Split(string(buf), "\n\n")[1:] {
		if strings.Contains(g, "lathe-agent/lathe/") && !strings.Contains(g, "testing.(*T).Parallel") {
			out = append(out, g)
		}
	}
	return out
}

// eventually waits until it is so, for a while.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !so() {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("%s: not after a long while\n%s", what, strings.Join(stacks(), "\n\n"))
		}
	}
}

// leavesNothing checks when the test ends, after everything was closed, that no goroutine
// of ours is left that was not there at the beginning. The test must not run in parallel.
func leavesNothing(t testing.TB) {
	t.Helper()
	before := len(stacks())
	t.Cleanup(func() {
		eventually(t, "goroutines that are left", func() bool { return len(stacks()) <= before })
	})
}
