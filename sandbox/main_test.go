package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/fence"
	"github.com/lathe-agent/lathe/sandbox"
)

// fenceTime is the limit of commands in tests of fences.
const fenceTime = 800 * time.Millisecond

func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	if len(os.Args) == 4 && os.Args[1] == "engine" { // a program that will be killed while a command runs
		r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
		_, err := r.Run(context.Background(), shell(os.Args[2], os.Args[3]), func(b []byte) { _, _ = os.Stdout.Write(b) })
		fmt.Println("returned", err)
		select {} // with what the command left behind
	}
	if len(os.Args) == 4 && os.Args[1] == "session" { // the same in a session
		r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
		c := shell(os.Args[2], os.Args[3])
		c.Profile = sandbox.Profile{Mode: sandbox.Workspace, Write: []string{c.Dir}, Session: "ses_killed"}
		_, err := r.Run(context.Background(), c, func(b []byte) { _, _ = os.Stdout.Write(b) })
		fmt.Println("returned", err)
		select {}
	}
	if len(os.Args) == 4 && os.Args[1] == "host" { // the same for a service
		r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
		_, err := r.Start(shell(os.Args[2], os.Args[3]))
		fmt.Println("started", err)
		select {}
	}
	if len(os.Args) == 4 && os.Args[1] == "terminal" { // and for a terminal
		r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
		_, err := r.Terminal(shell(os.Args[2], os.Args[3]), 24, 80)
		fmt.Println("started", err)
		select {}
	}
	if len(os.Args) == 4 && strings.HasPrefix(os.Args[1], "fenced") { // a node that will be stopped while a command runs
		f := fence.New()
		extend := func() { f.Extend(fence.Now() + fenceTime) }
		extend()
		r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
		r.UseFence(f)
		go func() {
			for range time.Tick(fenceTime / 8) {
				extend()
			}
		}()
		c := shell(os.Args[2], os.Args[3])
		if os.Args[1] == "fenced-session" {
			c.Profile = sandbox.Profile{Mode: sandbox.Workspace, Write: []string{c.Dir}, Session: "ses_fenced"}
		}
		_, err := r.Run(context.Background(), c, func(b []byte) { _, _ = os.Stdout.Write(b) })
		fmt.Println("returned", err)
		select {}
	}
	if len(os.Args) > 1 && os.Args[1] == "attempt" { // something that a shell cannot do
		os.Exit(attempt(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// stubborn is a script that runs for ever, whatever it is asked.
const stubborn = `trap "" TERM INT HUP USR1; echo $$ > %s; while :; do sleep 0.01; done`

// shell is a command for /bin/sh.
func shell(dir, script string) sandbox.Command {
	return sandbox.Command{Path: "/bin/sh", Args: []string{"-c", script}, Dir: dir, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
}

// runners are the ways a command can run on this machine.
func runners(t *testing.T, test func(t *testing.T, r *sandbox.Runner)) {
	for name, launcher := range map[string]string{"launcher": sandbox.Self(), "group": ""} {
		if name == "launcher" && launcher == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			test(t, open(t, sandbox.Config{Launcher: launcher, Grace: 300 * time.Millisecond}))
		})
	}
}

func open(t testing.TB, c sandbox.Config) *sandbox.Runner {
	r := sandbox.Open(c)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// run runs a script to its end and returns what it printed.
func run(t testing.TB, r *sandbox.Runner, c sandbox.Command) (sandbox.Result, string) {
	t.Helper()
	var out strings.Builder
	res, err := r.Run(t.Context(), c, func(b []byte) { out.Write(b) })
	if err != nil {
		t.Fatal(err)
	}
	return res, out.String()
}

// eventually waits for a condition, as long as it may take to come true.
func eventually(t testing.TB, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
		<-tick.C
	}
}

// pidIn reads the number of a process from a file that a script writes.
func pidIn(t testing.TB, file string) int {
	t.Helper()
	pid := 0
	eventually(t, 10*time.Second, "a pid in "+filepath.Base(file), func() bool {
		b, err := os.ReadFile(file)
		if err == nil && strings.HasSuffix(string(b), "\n") {
			pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		}
		return err == nil && pid > 0
	})
	return pid
}
