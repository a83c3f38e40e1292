// Package early takes variables out of the environment that libraries would end the program for,
// before main: the MCP SDK panics while it is initialized if MCPGODEBUG is not what it expects.
//
// Go initializes packages in the order of their import paths as soon as what they import is ready. So
// this one imports as little as the SDK's does, and comes first by its name; a script of the program's
// tests tries it. What Go's runtime reads itself (GOMEMLIMIT, GODEBUG=fips140) no package
// comes before.
//
// It changes the environment once and nothing later. Start reading at [Dropped].
package early

import (
	"os"
	"strings"
)

// Dropped are the names of the variables that were taken out.
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

// wellFormed reports whether a value is a list of name=value, with commas.
func wellFormed(value string) bool {
	for part := range strings.SplitSeq(value, ",") {
		if value != "" && !strings.Contains(part, "=") {
			return false
		}
	}
	return true
}
