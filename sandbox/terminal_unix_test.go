//go:build unix

package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

// show reads a terminal until it has shown a word.
func show(t *testing.T, term *sandbox.Terminal, word string) string {
	t.Helper()
	var all bytes.Buffer
	buf := make([]byte, 4096)
	_ = term.SetReadDeadline(time.Now().Add(20 * time.Second))
	for !strings.Contains(all.String(), word) {
		n, err := term.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v after %q", err, all.String())
		}
	}
	return all.String()
}

func TestTerminal(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		term, err := r.Terminal(shell(t.TempDir(), `test -t 0 && test -t 1 && : > /dev/tty && stty size; echo pid $$; read -r l; echo "got $l"; stty size; exit 7`), 30, 90)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(t, term, fmt.Sprintf("pid %d", term.PID())); !strings.Contains(got, "30 90") {
			t.Errorf("%q", got)
		}
		if err := term.Resize(40, 100); err != nil {
			t.Error(err)
		}
		if _, err := term.WriteString("word\r"); err != nil {
			t.Error(err)
		}
		show(t, term, "40 100")
		<-term.Done()
		if res := term.Stop(); res.Exit != 7 || res.Signal != "" {
			t.Errorf("%+v", res)
		}
	})
}

// What a terminal started ends with it, also processes that ignore signals.
func TestTerminal_Stop(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		dir := t.TempDir()
		term, err := r.Terminal(shell(dir, fmt.Sprintf(stubborn, "pid")), 24, 80)
		if err != nil {
			t.Fatal(err)
		}
		pid := pidIn(t, filepath.Join(dir, "pid"))
		if res := term.Stop(); res.Signal != "SIGKILL" || alive(pid) {
			t.Errorf("%+v, alive: %v", res, alive(pid))
		}
		term.Stop() // a second time does nothing
	})
}

func TestTerminal_CannotStart(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		c := shell(t.TempDir(), "")
		c.Path = "/no/such/program"
		if _, err := r.Terminal(c, 24, 80); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
			t.Error(err)
		}
	})
}

// The program that opened a terminal is killed: nothing of it is left.
func TestTerminal_HostKilled(t *testing.T) {
	if sandbox.Self() == "" {
		t.Skip("this system has no launcher")
	}
	dir := t.TempDir()
	cmd := exec.Command(sandbox.Self(), "terminal", dir, `trap "" HUP TERM INT; (setsid sh -c 'trap "" HUP TERM; while :; do sleep 0.05; done' & echo $! > below); echo $$ > pid; while :; do sleep 0.05; done`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := []int{pidIn(t, filepath.Join(dir, "below")), pidIn(t, filepath.Join(dir, "pid"))}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	for _, pid := range pids {
		eventually(t, 5*time.Second, "none left", func() bool { return !alive(pid) })
	}
	if _, err := os.Stat(filepath.Join(dir, "pid")); err != nil {
		t.Error(err)
	}
}
