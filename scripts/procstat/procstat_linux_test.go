package procstat_test

import (
	"os"
	"testing"

	"github.com/lathe-agent/lathe/scripts/procstat"
)

func TestGauge_OfThisProcess(t *testing.T) {
	pid := os.Getpid()
	held, began := make([]byte, 32<<20), procstat.ProcessorTime(pid)
	for procstat.ProcessorTime(pid) == began { // a tick is ten milliseconds
		for i := range held {
			held[i]++
		}
	}
	if now, most := procstat.Memory(pid), procstat.Peak(pid); now < 32 || most < 32 {
		t.Errorf("%d MB are held, and %.0f MB of at most %.0f MB are seen", len(held)>>20, now, most)
	}
	if l := procstat.Load(); l < 0 {
		t.Errorf("the load is %v", l)
	}
}

func TestGauge_OfNone(t *testing.T) {
	const none = -1
	if m, p, d := procstat.Memory(none), procstat.Peak(none), procstat.ProcessorTime(none); m != 0 || p != 0 || d != 0 {
		t.Errorf("a process that is not there has %v MB, %v MB at most, and used %v", m, p, d)
	}
}
