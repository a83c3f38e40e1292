//go:build unix

package hostiletest

import (
	"os"
	"syscall"
)

func replace(path string) error { return syscall.Exec(path, []string{path}, os.Environ()) }
