package lsp_test

import (
	"os"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// TestMain makes this program what the tests need: a launcher of the sandbox, and a scripted server.
func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	if len(os.Args) > 2 && os.Args[1] == "scripted-server" {
		os.Exit(scriptedServer(os.Args[2]))
	}
	os.Exit(m.Run())
}
