package confine

import (
	"os"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// TestMain makes this test program the launcher of commands too.
func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}
