package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// dropCapabilities leaves this thread without any but those to keep, and the programs that it runs
// without any, and without a way to get one back: not by running a program as the administrator
// either. Without the right to empty the bounding set there is none to
// lose, and no program gives one to a process without new privileges.
func dropCapabilities(keep ...uint) error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear the ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	if err := unix.Capget(&header, &held[0]); err != nil {
		return fmt.Errorf("read the capabilities: %w", err)
	}
	may := held[0].Effective&(1<<unix.CAP_SETPCAP) != 0
	for c := uintptr(0); may && c < 64; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break // the system knows no more
		} else if err != nil {
			return fmt.Errorf("drop the capability %d: %w", c, err)
		}
	}
	held = [2]unix.CapUserData{}
	for _, c := range keep {
		held[c/32].Effective |= 1 << (c % 32)
		held[c/32].Permitted |= 1 << (c % 32)
	}
	if err := unix.Capset(&header, &held[0]); err != nil {
		return fmt.Errorf("drop the capabilities: %w", err)
	}
	return nil
}
