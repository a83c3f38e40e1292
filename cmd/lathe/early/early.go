// Package early unsets environment variables that make libraries panic before main: the MCP SDK panics during
// initialization if MCPGODEBUG is malformed.
//
// Go initializes packages in the order of their import paths once their imports are ready. So this package imports as
// little as the SDK's, and sorts before it. Variables that the Go runtime reads (GOMEMLIMIT, GODEBUG=fips140) cannot
// be unset in time.
//
// Start reading at [Dropped].
package early

import (
	"os"
	"strings"
)

// Dropped lists the variables that were unset.
var Dropped = drop()

const mcpDebug = "MCPGODEBUG"

func drop() []string {
	if wellFormed(os.Getenv(mcpDebug)) {
		return nil
	}
	if err := os.Unsetenv(mcpDebug); err != nil {
		return nil
	}
	return []string{mcpDebug}
}

// wellFormed reports whether a value is a comma-separated list of name=value.
func wellFormed(value string) bool {
	for part := range strings.SplitSeq(value, ",") {
		if value != "" && !strings.Contains(part, "=") {
			return false
		}
	}
	return true
}
