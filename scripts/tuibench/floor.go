package main

import (
	"context"
	"os"
	"os/exec"

	"golang.org/x/term"
)

// echoName is the first word of a process that does nothing but echo.
const echoName = "echo"

// echoMain is the floor: a program that draws each key as soon as it is read.
func echoMain() {
	before, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		os.Exit(1)
	}
	defer func() { _ = term.Restore(int(os.Stdin.Fd()), before) }()
	_, _ = os.Stdout.WriteString("ready")
	b := make([]byte, 64)
	for {
		n, err := os.Stdin.Read(b)
		if err != nil || n > 0 && b[0] == 'q' {
			return
		}
		_, _ = os.Stdout.Write(b[:n])
	}
}

// startEcho starts it in its own terminal. Keys that are typed there while others are typed in
// the program that is measured tell what the machine itself takes at that time.
func startEcho(ctx context.Context) (*terminal, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	t, err := open(exec.CommandContext(ctx, self, echoName))
	if err != nil {
		return nil, err
	}
	if _, err := t.see("ready", patience); err != nil {
		t.end()
		return nil, err
	}
	return t, nil
}
