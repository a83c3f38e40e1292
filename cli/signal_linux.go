package cli

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// checkPidfd makes package os check for pidfds now, with all signals blocked. It checks once, before the first process
// starts, by a child that shares our memory and has our signal handlers. A Ctrl-C would end that child
// in the middle of a handler, and leave the thread that we share in a state in which the runtime crashes.
func checkPidfd() {
	blockSignals(func() {
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Release() // only the check counts
		}
	})
}

// blockSignals calls f in a thread that gets no signals.
func blockSignals(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before) == nil {
		defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }()
	}
	f()
}
