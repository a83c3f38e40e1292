//go:build !unix

package main

import (
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdAsUser needs permissions as Unix has them.
func cmdAsUser(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("as-user needs Unix") }

func enter(*exec.Cmd, string) {}
