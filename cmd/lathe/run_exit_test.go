package main

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/turn"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// lastLine is the result at the end of --format stream-json.
func lastLine(t *testing.T, out string) (r turn.Result) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || r.Type != "result" {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// An interrupted stream ends with its result too, and says which session can be taken up.
func TestRun_StreamInterrupted(t *testing.T) {
	needUnix(t)
	for signal, code := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		m := modeltest.Start(t, modeltest.MustParse("text \"Half of \"\nstall\n"))
		home := serveHome(t, m.URL)
		run := command(t, home, "run", "--title", "Cut", "--format", "stream-json", "hello")
		var out, received strings.Builder
		run.Stdout, run.Stderr = &out, &received
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		untilAsked(t, m)
		if err := run.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		got := exitCode(run.Wait())
		r := lastLine(t, out.String())
		if got != code || r.ExitCode != code || r.Status != "interrupted" || r.Session == "" || received.Len() > 0 {
			t.Errorf("%v: exit code %d, %+v %s", signal, got, r, received.String())
		}
	}
}

// A turn that another client of the server ends was interrupted as well.
func TestRun_AbortedElsewhere(t *testing.T) {
	needUnix(t)
	m := modeltest.Start(t, modeltest.MustParse("text \"Half of \"\nstall\n"))
	home := serveHome(t, m.URL)
	s := startServe(t, home, []string{"LATHE_NO_AUTH=1"})
	run := command(t, home, "run", "--attach", s.url, "--title", "Stopped", "--format", "stream-json", "hello")
	var out strings.Builder
	run.Stdout = &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	untilAsked(t, m)
	var busy map[lathe.SessionID]lathe.Status
	s.ask(200, &busy, "GET", "/session/status", "")
	for id := range busy {
		s.ask(200, nil, "POST", "/session/"+string(id)+"/abort", "")
	}
	got := exitCode(run.Wait())
	if r := lastLine(t, out.String()); got != 130 || r.ExitCode != 130 || r.Status != "interrupted" {
		t.Errorf("exit code %d, %+v", got, r)
	}
	s.end()
}

// Faults of a turn and errors before it have the codes that the help promises.
func TestRun_Codes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{lathe.Errorf(lathe.Internal, "x"), 1},
		{cli.Usagef("x"), 2},
		{cli.Reported{Code: cli.ExitRefused}, 3},
		{&lathe.Error{Code: lathe.Denied, Fault: &lathe.UnknownFault{Ref: engine.BudgetRef}}, 4},
		{&lathe.Error{Fault: &lathe.UnknownFault{Ref: "err_1"}}, 1},
		{lathe.Errorf(lathe.Invalid, "%w: x", lathe.ErrNoModel), 5},
		{lathe.Errorf(lathe.Unauthorized, "x"), 5},
		{&lathe.Error{Fault: &lathe.ProviderAuthFault{}}, 5},
		{&lathe.Error{Fault: &lathe.APIFault{StatusCode: 401}}, 5},
		{&lathe.Error{Fault: &lathe.APIFault{StatusCode: 500}}, 1},
		{&lathe.Error{Fault: &lathe.StructuredOutputFault{}}, 1},
		{&lathe.Error{Fault: &lathe.AbortedFault{}}, 130},
		{cli.Interrupt{Signal: os.Interrupt}, 130},
		{cli.Interrupt{Signal: syscall.SIGTERM}, 143},
	} {
		if got := cli.ExitCodeOf(tt.err); got != tt.code {
			t.Errorf("%#v is %d, not %d", tt.err, got, tt.code)
		}
	}
}
