//go:build !unix

package terminal

import "github.com/lathe-agent/lathe/sandbox"

// exitCode is the code of a program.
func exitCode(r sandbox.Result) int { return max(r.Exit, 0) }
