//go:build unix

package lsp_test

import (
	"syscall"
	"testing"
	"time"
)

// processorTime is the time that this process has used, without its children.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
