package main

import (
	"bufio"
	"strings"
	"syscall"
	"testing"
)

// It opens what a turn needs, says so, and ends well at an interrupt.
func TestDebug_Wait(t *testing.T) {
	needUnix(t)
	home := t.TempDir()
	must(t, home, "import", sample(t, "first.json"))
	cmd := command(t, home, "debug", "wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "Open after ") {
		t.Errorf("it says %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
