//go:build unix

package terminal

import (
	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/sandbox"
)

// exitCode is the code of a program, or of one that a signal ended what shells make of that.
func exitCode(r sandbox.Result) int {
	if r.Signal != "" {
		return 128 + int(unix.SignalNum(r.Signal))
	}
	return max(r.Exit, 0)
}
