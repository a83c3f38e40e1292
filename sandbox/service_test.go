//go:build unix

package sandbox_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

func start(t *testing.T, r *sandbox.Runner, c sandbox.Command) *sandbox.Service {
	t.Helper()
	s, err := r.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.Stop() })
	return s
}

// answers is a server: it answers every line, says something else beside it, and ends with its input.
const answers = `echo ready >&2; while read -r l; do echo "got $l"; echo "log $l" >&2; done; echo bye >&2; exit 7`

func TestService_Talk(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		s := start(t, r, shell(t.TempDir(), answers))
		out := bufio.NewReader(s.Stdout)
		for i := range 100 {
			if _, err := fmt.Fprintf(s.Stdin, "%d\n", i); err != nil {
				t.Fatal(err)
			}
			if line, err := out.ReadString('\n'); line != fmt.Sprintf("got %d\n", i) {
				t.Fatalf("%q, %v", line, err)
			}
		}
		res, err := s.Stop()
		if err != nil || res.Exit != 7 || res.Signal != "" || len(res.Leftovers) > 0 {
			t.Errorf("%+v, %v", res, err)
		}
		if got := s.Stderr(); !strings.HasPrefix(got, "ready\nlog 0\n") || !strings.HasSuffix(got, "log 99\nbye\n") {
			t.Errorf("it said %q", got)
		}
		if again, err := s.Stop(); again.Exit != 7 || err != nil {
			t.Errorf("stopped again: %+v, %v", again, err)
		}
	})
}

// Without a reader of the error output: it neither fills up memory nor stops the program. An
// output without a reader is no reason not to end.
func TestService_Flood(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		s := start(t, r, shell(t.TempDir(), `head -c 50000000 /dev/zero | tr '\0' x >&2; echo last >&2; echo flooded; cat /dev/zero`))
		if line, err := bufio.NewReader(s.Stdout).ReadString('\n'); line != "flooded\n" {
			t.Fatalf("%q, %v", line, err)
		}
		res, err := s.Stop()
		if err != nil || res.Exit == 0 {
			t.Errorf("%+v, %v", res, err)
		}
		if got := s.Stderr(); len(got) != 16<<10 || !strings.HasSuffix(got, "xlast\n") {
			t.Errorf("%d bytes kept, the last %q", len(got), got[max(0, len(got)-10):])
		}
	})
}

// A service that ignores the signal is killed; one that ends by itself is reported.
func TestService_End(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		dir := t.TempDir()
		s := start(t, r, shell(dir, fmt.Sprintf(stubborn, "pid")))
		pid := pidIn(t, filepath.Join(dir, "pid"))
		if res, err := s.Stop(); err != nil || res.Signal != "SIGKILL" {
			t.Errorf("%+v, %v", res, err)
		}
		if alive(pid) {
			t.Error("it lives")
		}
		s = start(t, r, shell(dir, "exit 3"))
		<-s.Done()
		if _, err := io.ReadAll(s.Stdout); err != nil {
			t.Error("after its end:", err)
		}
		if res, err := s.Stop(); err != nil || res.Exit != 3 {
			t.Errorf("%+v, %v", res, err)
		}
		if _, err := s.Stdin.Write([]byte("x")); err == nil {
			t.Error("a write to the dead worked")
		}
	})
}

func TestService_Refused(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		dir := t.TempDir()
		missing := shell(dir, "true")
		missing.Path = dir + "/missing"
		timed := shell(dir, "true")
		timed.Timeout = time.Second
		for _, c := range []sandbox.Command{missing, timed, shell(dir+"/none", "true")} {
			if s, err := r.Start(c); err == nil {
				t.Errorf("%+v started: %+v", c, s)
			}
		}
		if _, err := r.Start(missing); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}

// The runner ends its services.
func TestService_Close(t *testing.T) {
	dir := t.TempDir()
	r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Grace: 100 * time.Millisecond})
	s := start(t, r, shell(dir, fmt.Sprintf(stubborn, "pid")))
	pid := pidIn(t, filepath.Join(dir, "pid"))
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	<-s.Done()
	if alive(pid) {
		t.Error("it lives")
	}
	if _, err := r.Start(shell(dir, "true")); err == nil {
		t.Error("started after the end")
	}
}
