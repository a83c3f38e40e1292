package fence

import (
	"syscall"
	"time"
	"unsafe"
)

// bootTime is CLOCK_BOOTTIME, which package syscall does not name.
const bootTime = 7

// Now returns the time since the machine started, including the time it was suspended: a node that sleeps loses its
// lease meanwhile. All processes of a machine read the same clock.
func Now() time.Duration {
	var ts syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, bootTime, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 1<<63 - 1 // no clock, no effects
	}
	return time.Duration(ts.Nano())
}
