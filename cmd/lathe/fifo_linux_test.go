package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lathe waits for a pipe without a writer, and an interrupt ends the wait.
func TestInterrupt_WhileOpeningAPipe(t *testing.T) {
	home := t.TempDir()
	pipe := filepath.Join(home, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipe can be made here: %v", err)
	}
	cmd := command(t, home, "import", pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return catches(cmd.Process.Pid, syscall.SIGTERM) })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if got := exitCode(err); got != 143 && got != -1 { // -1: it had hardly started
			t.Errorf("exit code %d, not 143", got)
		}
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill() // reported below
		t.Errorf("it does not end: %v", <-ended)
	}
}

// catches reports whether a process has a handler for a signal.
func catches(pid int, s syscall.Signal) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	_, mask, _ := strings.Cut(string(text), "SigCgt:")
	mask, _, _ = strings.Cut(mask, "\n")
	bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
	return err == nil && bits&(1<<(uint(s)-1)) != 0
}
