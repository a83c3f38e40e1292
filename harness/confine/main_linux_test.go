package confine

import (
	"os"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// TestMain makes this test program the launcher of commands too, and what attacks from inside.
func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	if len(os.Args) > 2 && os.Args[1] == spinWord {
		os.Exit(spin(os.Args[2]))
	}
	if len(os.Args) > 3 && os.Args[1] == holdWord {
		os.Exit(holdGit(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}
