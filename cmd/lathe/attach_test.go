package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// cmdServes starts a server that ends with the script, and keeps its address in a variable:
// serves AT serve --socket PATH.
func cmdServes(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command("lathe", args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "LATHE_DATA="+ts.Getenv("LATHE_DATA"), "XDG_STATE_HOME=", "XDG_CONFIG_HOME=")
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv(args[0], strings.TrimSpace(strings.TrimPrefix(line, "opencode server listening on ")))
}

// TestAttach_KilledServer kills a server in the middle of a turn that a client follows, and
// starts it again: the client receives the end, and the turn can be resumed.
func TestAttach_KilledServer(t *testing.T) {
	m := modeltest.Start(t, modeltest.MustParse(`
text "Half of "
stall
--
text "The rest."
finish stop
`))
	home := serveHome(t, m.URL)
	s := startServe(t, home, nil, "--socket", filepath.Join(home, "s"))
	run := command(t, home, "run", "--attach", s.url, "--title", "Cut", "hello")
	var received strings.Builder
	run.Stderr, run.Stdout = &received, &received
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	untilAsked(t, m)
	s.kill()
	s = startServe(t, home, nil, "--socket", filepath.Join(home, "s"))
	if err := run.Wait(); err == nil || !strings.Contains(received.String(), "--resume -s ses_") {
		t.Fatalf("it ended with %v: %s", err, received.String())
	}
	resume := command(t, home, "run", "--attach", s.url, "--resume")
	out, err := resume.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "The rest.") {
		t.Errorf("resumed with %v: %s", err, out)
	}
	if list := must(t, home, "session", "list", "--attach", s.url); strings.Count(list, "ses_") != 1 || !strings.Contains(list, "Cut") || strings.Contains(list, "interrupted") {
		t.Errorf("there is\n%s", list)
	}
	s.end()
}

// TestAttach_Interrupt interrupts a client: the turn ends on the server, which lives on.
func TestAttach_Interrupt(t *testing.T) {
	m := modeltest.Start(t, modeltest.MustParse("text \"Half of \"\nstall\n--\ntext \"Here.\"\nfinish stop\n"))
	home := serveHome(t, m.URL)
	s := startServe(t, home, []string{"LATHE_NO_AUTH=1"})
	run := command(t, home, "run", "--attach", s.url, "--title", "Stopped", "hello")
	var received strings.Builder
	run.Stderr = &received
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	untilAsked(t, m)
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	if code := run.ProcessState.ExitCode(); code != 130 || !strings.Contains(received.String(), "stopped on the server") {
		t.Errorf("it ended with %d: %s", code, received.String())
	}
	if busy := s.ask(200, nil, "GET", "/session/status", ""); strings.TrimSpace(busy) != "{}" {
		t.Errorf("busy are %s", busy)
	}
	if out := must(t, home, "run", "--attach", s.url, "-c", "again"); strings.TrimSpace(out) != "Here." {
		t.Errorf("it went on with %q", out)
	}
	s.end()
}

// untilAsked waits until a model was asked something.
func untilAsked(t *testing.T, m *modeltest.Server) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); len(m.Requests()) == 0; <-tick.C {
		if time.Since(began) > time.Minute {
			t.Fatal("the model was not asked")
		}
	}
}
