package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// An interrupt ends a turn in order at whatever stage it is, here through pipes
// (view_linux_test.go does the same on a terminal): the exit code, the word how to continue,
// nothing left running, and the turn taken up again.
func TestSignal_Stages(t *testing.T) {
	needUnix(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("there is no shell: %v", err)
	}
	const after = "\n--\ntext \"There.\"\nfinish stop"
	for _, tt := range []struct{ name, script, until string }{
		{"headers alone", "stall", ""},
		{"text", "text \"Here \"\nstall", ""},
		{"thought", "reasoning \"Hm \"\nstall", ""},
		{"input of a call", "call bash pieces=3 {\"command\":\"echo x\"}\nstall", ""},
		{"tool", "call bash {\"command\":\"touch began; sleep 60\"}\nfinish tool-calls", "began"},
		{"retry", "status 429 retry-after=60 \"{}\"", "Retrying in"},
		{"second step", "call bash {\"command\":\"touch began\"}\nfinish tool-calls\n--\nstall", "began"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.Start(t, modeltest.MustParse(tt.script+after))
			home := serveHome(t, server.URL)
			unchecked := `{"checks": {"todos": false, "checklist": false, "unverified": false}}`
			if err := os.WriteFile(filepath.Join(home, "lathe.json"), []byte(unchecked), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := command(t, home, "run", "--title", "A long way", "begin")
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			received := bufio.NewReader(stderr)
			seen := ""
			for tt.name == "retry" && !strings.Contains(seen, tt.until) {
				line, err := received.ReadString('\n')
				if seen += line; err != nil {
					t.Fatalf("it says %q: %v", seen, err)
				}
			}
			until(t, func() bool {
				_, err := os.Stat(home + "/began")
				return len(server.Requests()) >= 1+strings.Count(tt.script, "\n--\n") && (tt.until != "began" || err == nil)
			})
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(received)
			if err != nil {
				t.Error(err)
			}
			if code := exitCode(cmd.Wait()); code != 130 || !strings.Contains(seen+string(rest), "Interrupted. Resume with `lathe run --resume -s ses_") {
				t.Errorf("exit code %d: %s%s", code, seen, rest)
			}
			noneLeft(t, home)
			if out := must(t, home, "run", "--resume"); out != "There.\n" {
				t.Errorf("it goes on with %q", out)
			}
		})
	}
}

// Before the provider has accepted the connection there is nothing to settle, and no reason to wait.
func TestSignal_BeforeTheFirstByte(t *testing.T) {
	needUnix(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	home := serveHome(t, "http://"+l.Addr().String())
	cmd := command(t, home, "run", "--title", "A long way", "begin")
	var received strings.Builder
	cmd.Stderr = &received
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept() // and never a word
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fscanf(c, "POST"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(cmd.Wait()); code != 130 || !strings.Contains(received.String(), "Interrupted.") {
		t.Errorf("exit code %d: %s", code, received.String())
	}
	noneLeft(t, home)
}
