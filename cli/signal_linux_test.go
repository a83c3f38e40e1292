package cli

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A Ctrl-C while package os checks for pidfds crashes the program, so that the check is made with signals blocked,
// before any process starts.
func TestSignalContext_ChecksPidfd(t *testing.T) {
	if os.Getenv("LATHE_TEST_FRESH") == "" { // it was made in this process, if others were started
		cmd := exec.Command(os.Args[0], "-test.run=^TestSignalContext_ChecksPidfd$")
		cmd.Env = append(os.Environ(), "LATHE_TEST_FRESH=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	children := func() bool {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
			t.Fatal(err)
		}
		return u.Maxrss > 0
	}
	if children() {
		t.Fatal("this process had children before")
	}
	_, stop := SignalContext(context.Background(), &atomic.Int32{})
	defer stop()
	if !children() {
		t.Error("the check is left to the first process that starts")
	}
}

func TestBlockSignals(t *testing.T) {
	blocked := func() string {
		status, err := os.ReadFile("/proc/thread-self/status")
		if err != nil {
			t.Fatal(err)
		}
		return string(regexp.MustCompile(`(?m)^SigBlk:\t(.*)$`).FindSubmatch(status)[1])
	}
	before, during := blocked(), ""
	blockSignals(func() { during = blocked() })
	// all but SIGKILL and SIGSTOP
	if during != "fffffffffffbfeff" {
		t.Errorf("blocked: %s", during)
	}
	if after := blocked(); after != before {
		t.Errorf("blocked after it: %s, before: %s", after, before)
	}
}
