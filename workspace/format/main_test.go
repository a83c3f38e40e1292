package format_test

import (
	"os"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// TestMain makes this program the launcher of the sandbox too.
func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}
