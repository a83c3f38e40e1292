package main

import (
	"os"
	"strconv"

	"github.com/lathe-agent/lathe/sandbox"
)

// breaks is lathe with a live view that fails when it draws for the time that DRAWS says.
func breaks() {
	if code, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(code)
	}
	a := newApp()
	left, _ := strconv.Atoi(os.Getenv("DRAWS"))
	a.OnDraw = func() {
		if left--; left == 0 {
			var rows []string
			_ = rows[1]
		}
	}
	os.Exit(execute(a, os.Args[1:]))
}
