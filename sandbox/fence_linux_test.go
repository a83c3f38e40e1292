package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/fence"
	"github.com/lathe-agent/lathe/sandbox"
)

// A stopped node cannot end its commands. Their launchers do, at the limit of the fence, however they detached.
func TestFence_StoppedNodeDoesNothingAfterItsLimit(t *testing.T) {
	for _, how := range []string{"fenced", "fenced-session"} {
		for _, name := range []string{"background", "daemon of a daemon"} {
			t.Run(how+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				node := exec.Command(sandbox.Self(), how, dir, escape(escapes[name]))
				if err := node.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					_ = node.Process.Signal(syscall.SIGCONT)
					_ = node.Process.Kill()
					_ = node.Wait()
				})
				eventually(t, 10*time.Second, "a command", func() bool { return written(dir) > 0 })
				began, before := time.Now(), written(dir)
				eventually(t, 10*time.Second, "life beyond the first limit", func() bool {
					return time.Since(began) > 2*fenceTime && runsIn(dir) > 0 && written(dir) >= before
				})
				stop := fence.Now()
				if err := node.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				eventually(t, 10*time.Second, "the end of all commands", func() bool { return runsIn(dir) == 0 })
				if took := fence.Now() - stop; took > 8*time.Second {
					t.Errorf("ended after %v", took)
				}
			})
		}
	}
}

// written is the size of what a script wrote.
func written(dir string) int {
	b, _ := os.ReadFile(filepath.Join(dir, "pid"))
	return len(b)
}

// runsIn counts the shells whose working directory it is.
func runsIn(dir string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if at, err := os.Readlink(link); err == nil && at == dir {
			n++
		}
	}
	return n
}

// A node that was paused between its decision and the start does not start late.
func TestFence_ExpiredStartsNothing(t *testing.T) {
	for _, session := range []string{"", "ses_late"} {
		dir := t.TempDir()
		r := open(t, sandbox.Config{Launcher: sandbox.Self()})
		f := fence.New()
		r.UseFence(f)
		c := shell(dir, "echo done > effect")
		if session != "" {
			c.Profile = sandbox.Profile{Mode: sandbox.Workspace, Write: []string{dir}, Session: session}
		}
		if _, err := r.Run(t.Context(), c, func([]byte) {}); err == nil || !strings.Contains(err.Error(), "lost its lease") {
			t.Errorf("run after the limit: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "effect")); err == nil {
			t.Error("the command ran")
		}
		f.Extend(fence.Now() + time.Minute)
		if res, _ := run(t, r, c); res.Exit != 0 { // the control
			t.Errorf("run before the limit: %+v", res)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "effect")); err != nil || string(b) != "done\n" {
			t.Errorf("%q, %v", b, err)
		}
	}
}
