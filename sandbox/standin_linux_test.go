package sandbox_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

// bound runs a test where protected names can be mounted.
func bound(t *testing.T, test func(t *testing.T, y *yard)) {
	yards(t, func(t *testing.T, y *yard) {
		if y.guard == sandbox.Bound {
			test(t, y)
		}
	})
}

// later runs a script beside others; the result comes when it has ended.
func (y *yard) later(t *testing.T, r *sandbox.Runner, script string) <-chan sandbox.Result {
	done := make(chan sandbox.Result, 1)
	go func() {
		res, err := r.Run(context.WithoutCancel(t.Context()), y.shell(script), func([]byte) {})
		if err != nil {
			res.RestoreError = err.Error()
		}
		done <- res
	}()
	return done
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A name stays guarded until the last command that counts on it has ended, for any user.
func TestStandIn_SeveralCommands(t *testing.T) {
	bound(t, func(t *testing.T, y *yard) {
		before := tree(t, y.project)
		other := open(t, sandbox.Config{Launcher: sandbox.Self()})
		done := y.later(t, other, `touch begun; until [ -e go ]; do sleep 0.01; done; echo x > lathe.jsonc; mkdir -p .lathe/x; e=$?; rm -f begun go; exit $e`)
		eventually(t, 10*time.Second, "the first command", func() bool { return there(y.project + "/begun") })
		for range 3 {
			if res, out := run(t, y.runner, y.shell("echo x > lathe.jsonc")); res.Exit == 0 || len(res.Restored) > 0 {
				t.Errorf("%+v %s", res, out)
			}
		}
		if !there(y.project + "/lathe.jsonc") {
			t.Error("another command took away what the first one counts on")
		}
		write(t, y.project+"/go", "")
		if res := <-done; res.Exit == 0 || len(res.Restored) > 0 || res.RestoreError != "" {
			t.Errorf("%+v", res)
		}
		if after := tree(t, y.project); !maps.Equal(before, after) {
			t.Errorf("%v; was %v", after, before)
		}
	})
}

// What a command leaves running is kept from the names too.
func TestStandIn_Background(t *testing.T) {
	bound(t, func(t *testing.T, y *yard) {
		before := tree(t, y.project)
		run(t, y.runner, y.shell(`(until [ -e go ]; do sleep 0.01; done; rm go; echo x > lathe.jsonc; echo $? > said; mv said result) >/dev/null 2>&1 &`))
		write(t, y.project+"/go", "")
		eventually(t, 10*time.Second, "its attempt", func() bool { return there(y.project + "/result") })
		if b, _ := os.ReadFile(y.project + "/result"); string(b) == "0\n" {
			t.Error("it wrote the name")
		}
		_ = os.Remove(y.project + "/result")
		eventually(t, 10*time.Second, "nothing left", func() bool { return maps.Equal(before, tree(t, y.project)) })
	})
}

// A launcher that is killed leaves nothing for long, not even when everything is killed at once.
func TestStandIn_Killed(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		before := tree(t, y.project)
		other := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
		done := y.later(t, other, `echo $$ > pid; while :; do sleep 1; done`)
		pidIn(t, y.project+"/pid")
		pid := y.launcher(t)
		if y.guard == sandbox.Bound && !there(y.project+"/lathe.jsonc") {
			t.Error("nothing stands in")
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-done
		_ = os.Remove(y.project + "/pid")
		eventually(t, 10*time.Second, "nothing left", func() bool { return maps.Equal(before, tree(t, y.project)) })
		for _, reads := range []bool{false, true} { // as the machine stopped
			if err := errors.Join(syscall.Mkdir(y.project+"/.lathe", 0o1500), os.WriteFile(y.project+"/.git/config.worktree", nil, 0o400),
				os.Chmod(y.project+"/.git/config.worktree", 0o400|os.ModeSticky)); err != nil {
				t.Fatal(err)
			}
			y.profile.Reads = reads
			run(t, y.runner, y.shell("true"))
			if after := tree(t, y.project); !maps.Equal(before, after) {
				t.Errorf("%v; was %v", after, before)
			}
		}
	})
}

// launcher is the process that looks after a command of the yard. In a session the command does not
// know its number.
func (y *yard) launcher(t *testing.T) int {
	t.Helper()
	dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, path := range dirs {
		if dir, err := os.Readlink(path); err != nil || dir != y.project {
			continue
		}
		status, _ := os.ReadFile(filepath.Dir(path) + "/status")
		_, rest, _ := strings.Cut(string(status), "PPid:")
		parent, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		line, _ := os.ReadFile("/proc/" + parent + "/cmdline")
		if pid, err := strconv.Atoi(parent); err == nil && strings.Contains(string(line), "__sandbox-") {
			return pid
		}
	}
	t.Fatal("there is no launcher")
	return 0
}

// What a user made is never taken for ours.
func TestStandIn_NotOurs(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		write(t, y.project+"/.git/config.worktree", "")
		write(t, y.project+"/.lathe/x", "")
		if err := errors.Join(os.Mkdir(y.project+"/lathe.jsonc", 0o755), os.Chmod(y.project+"/.lathe", 0o500|os.ModeSticky)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(y.project+"/.lathe", 0o700) }) // or it could not be removed
		before := tree(t, y.project)
		run(t, y.runner, y.shell("true"))
		if after := tree(t, y.project); !maps.Equal(before, after) {
			t.Errorf("%v; was %v", after, before)
		}
	})
}

// Git sees nothing of it, and who only looks sees nothing either.
func TestStandIn_Unseen(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	bound(t, func(t *testing.T, y *yard) {
		_ = os.RemoveAll(y.project + "/.git")
		if out, err := exec.Command(git, "init", "-q", "-b", "main", "--template=", y.project).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		before := tree(t, y.project)
		res, out := run(t, y.runner, y.shell(`ls -d lathe.jsonc .git/config.worktree; git -c extensions.worktreeConfig=true status --porcelain; git add -A && git commit -q --dry-run`))
		if !strings.Contains(out, "lathe.jsonc\n?? file\n?? lathe.json\n") || strings.Contains(out, "fatal") {
			t.Errorf("%+v %s", res, out)
		}
		_ = os.Remove(y.project + "/.git/index")
		y.profile.Reads = true
		if res, out := run(t, y.runner, y.shell(`ls -A; ls .git`)); strings.Contains(out, "jsonc") || strings.Contains(out, "worktree") {
			t.Errorf("%+v %s", res, out)
		}
		after := tree(t, y.project)
		for path := range after {
			if _, ok := before[path]; !ok && !strings.Contains(path, "/objects/") {
				t.Errorf("%s is new", path)
			}
		}
	})
}

// Many at once, starting and ending all the time, leave the names guarded and nothing behind.
func TestStandIn_Contention(t *testing.T) {
	bound(t, func(t *testing.T, y *yard) {
		before := tree(t, y.project)
		results := make(chan sandbox.Result)
		for range 8 {
			go func() {
				for range 5 {
					results <- <-y.later(t, y.runner, `echo x > lathe.jsonc || mkdir .lathe/x`)
				}
			}()
		}
		for range 8 * 5 {
			if res := <-results; res.Exit == 0 || res.RestoreError != "" || len(res.Restored) > 0 {
				t.Errorf("%+v", res)
			}
		}
		if after := tree(t, y.project); !maps.Equal(before, after) {
			t.Errorf("%v; was %v", after, before)
		}
	})
}
