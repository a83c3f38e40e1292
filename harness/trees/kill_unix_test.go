//go:build unix

package trees

import (
	"os"
	"syscall"
)

// kill ends this process as a power cut would.
func kill() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
