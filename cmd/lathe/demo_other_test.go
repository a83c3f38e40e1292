//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

func cmdTools(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("only Linux has the programs for it where they are looked for")
}
