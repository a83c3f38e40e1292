//go:build unix

package snapshot

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// cpuTime is what this process has used of the processors.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// reportCPU adds processor time to a benchmark: on a machine that others use too, it says more than the
// clock.
func reportCPU(b *testing.B, since time.Duration) {
	b.ReportMetric(float64((cpuTime()-since).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
}

func makeSpecial(t *testing.T, pipe, socket string) {
	t.Helper()
	must(t, syscall.Mkfifo(pipe, 0o644))
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Log("no socket: ", err) // its path may be too long
		return
	}
	t.Cleanup(func() { _ = l.Close() })
}
