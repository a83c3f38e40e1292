package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

// alive reports whether a process runs: one that is dead and was not collected does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	rest := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])
	return rest[0] != 'Z' && rest[0] != 'X'
}

// escapes are the ways out of a process group. Each writes its pid to the file "pid".
var escapes = map[string]string{
	"background":         `sh -c 'STUBBORN' & while :; do sleep 1; done`,
	"group":              `set -m; sh -c 'STUBBORN' & while :; do sleep 1; done`,
	"session":            `setsid sh -c 'STUBBORN' & while :; do sleep 1; done`,
	"orphan":             `(sh -c 'STUBBORN' &) ; while :; do sleep 1; done`,
	"daemon":             `(setsid sh -c 'sh -c "$X" & ' &) ; while :; do sleep 1; done`,
	"daemon of a daemon": `(setsid sh -c 'setsid sh -c "setsid sh -c \"\$X\" </dev/null >/dev/null 2>&1 &" &' &) ; while :; do sleep 1; done`,
}

func escape(script string) string {
	body := fmt.Sprintf(stubborn, "pid")
	return "X='" + body + "'; export X; " + strings.ReplaceAll(script, "STUBBORN", body)
}

func TestLaunch_NothingEscapesACancel(t *testing.T) {
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := open(t, sandbox.Config{Launcher: sandbox.Self(), Grace: 300 * time.Millisecond})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan sandbox.Result, 1)
			go func() {
				res, _ := r.Run(ctx, shell(dir, escape(script)), func([]byte) {})
				done <- res
			}()
			pid := pidIn(t, filepath.Join(dir, "pid"))
			cancel()
			if res := <-done; !res.Canceled {
				t.Errorf("%+v", res)
			}
			eventually(t, 2*time.Second, "its end", func() bool { return !alive(pid) })
		})
	}
}

func TestLaunch_NothingEscapesTheDeathOfTheEngine(t *testing.T) {
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(sandbox.Self(), "engine", dir, escape(script))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid := pidIn(t, filepath.Join(dir, "pid"))
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			eventually(t, 2*time.Second, "its end", func() bool { return !alive(pid) })
		})
	}
}

// What a command left behind dies with the engine too.
func TestLaunch_TheRestDiesWithTheEngine(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(sandbox.Self(), "engine", dir, "(setsid sh -c '"+fmt.Sprintf(stubborn, "pid")+"' >/dev/null 2>&1 &)")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "returned <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	pid := pidIn(t, filepath.Join(dir, "pid"))
	if !alive(pid) {
		t.Fatal("it did not outlive the command")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	eventually(t, 2*time.Second, "its end", func() bool { return !alive(pid) })
}

func TestLaunch_LetGo(t *testing.T) {
	dir := t.TempDir()
	r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
	c := shell(dir, `setsid sh -c 'echo $$ > pid; while :; do echo 0123456789012345678901234567890123456789; echo x >> grows; done' & while [ ! -s pid ]; do :; done`)
	c.Leftovers = sandbox.DetachLeftovers
	res, _ := run(t, r, c)
	pid := pidIn(t, filepath.Join(dir, "pid"))
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if len(res.Leftovers) == 0 || res.Leftovers[0].PID != pid || !strings.Contains(res.Leftovers[0].Name, "while :; do") {
		t.Errorf("%+v; want %d", res, pid)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "grows"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	was := size()
	eventually(t, 20*time.Second, "it goes on", func() bool { return size() > was+8000 })
}

// Processes that breed faster than one can look are caught all the same.
func TestLaunch_Breeders(t *testing.T) {
	dir := t.TempDir()
	r := open(t, sandbox.Config{Launcher: sandbox.Self(), Grace: 50 * time.Millisecond})
	// Each one makes the next and ends, in four lines of descent.
	script := `trap "" TERM; echo 'trap "" TERM; sh ./next & echo x >> born' > next; sh ./next & sh ./next & sh ./next & sh ./next & while :; do sleep 1; done`
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = r.Run(ctx, shell(dir, script), func([]byte) {})
	}()
	born := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "born"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	eventually(t, 10*time.Second, "some generations", func() bool { return born() > 100 })
	cancel()
	<-done
	if err := r.Close(); err != nil { // it waits until nothing is left
		t.Fatal(err)
	}
	was := born()
	run(t, open(t, sandbox.Config{Launcher: sandbox.Self()}), shell(dir, "sleep 0.1")) // they would have bred
	if now := born(); now != was {
		t.Errorf("%d were born after the end", (now-was)/2)
	}
}

// The launcher is notified when the thread that started it ends, which is no reason to end
// anything.
func TestLaunch_ThreadEnds(t *testing.T) {
	dir := t.TempDir()
	r := open(t, sandbox.Config{Launcher: sandbox.Self()})
	done := make(chan int)
	var start func()
	start = func() {
		runtime.LockOSThread() // and no unlock: the thread ends with the goroutine
		if syscall.Gettid() == os.Getpid() {
			go start() // the first thread never ends; while we are on it, another one is taken
			<-t.Context().Done()
			return
		}
		_, _ = r.Run(t.Context(), shell(dir, "sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null & while [ ! -s pid ]; do :; done"), func([]byte) {})
		done <- syscall.Gettid()
	}
	go start()
	thread := <-done
	pid := pidIn(t, filepath.Join(dir, "pid"))
	eventually(t, 5*time.Second, "the end of the thread", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread))
		return err != nil
	})
	run(t, r, shell(dir, "sleep 0.2")) // longer than a SIGTERM takes
	if !alive(pid) {
		t.Error("it was ended")
	}
}

// A command that kills its launcher gets nothing of it.
func TestLaunch_Killed(t *testing.T) {
	dir := t.TempDir()
	r := open(t, sandbox.Config{Launcher: sandbox.Self()})
	_, err := r.Run(t.Context(), shell(dir, `echo $$ > pid; sleep 100 & sleep 0.2; kill -9 $PPID; sleep 100`), func([]byte) {})
	if err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("got %v", err)
	}
	pid := pidIn(t, filepath.Join(dir, "pid"))
	eventually(t, 2*time.Second, "its end", func() bool { return !alive(pid) })
}

func TestLaunch_PassesOnlyTheStreams(t *testing.T) {
	r := open(t, sandbox.Config{Launcher: sandbox.Self()})
	for _, rest := range []sandbox.LeftoverPolicy{sandbox.KeepLeftovers, sandbox.DetachLeftovers} {
		c := shell(t.TempDir(), "echo /proc/$$/fd/*")
		c.Leftovers = rest
		_, out := run(t, r, c)
		for _, fd := range strings.Fields(out) {
			if n := filepath.Base(fd); n != "0" && n != "1" && n != "2" && n != "3" && n != "10" { // the shell looks into the directory, and may keep a 10
				t.Errorf("the command has %s", out)
			}
		}
	}
}

func TestLaunch_LeavesNothingOpen(t *testing.T) {
	r := open(t, sandbox.Config{Launcher: sandbox.Self()})
	dir := t.TempDir()
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	run(t, r, shell(dir, "echo x")) // what the runtime opens once
	files, goroutines := count(), runtime.NumGoroutine()
	for range 10 {
		run(t, r, shell(dir, "echo x"))
		_, _ = r.Run(t.Context(), sandbox.Command{Path: "/none", Dir: dir}, func([]byte) {})
	}
	eventually(t, 5*time.Second, "no more files and goroutines than before", func() bool {
		return count() <= files && runtime.NumGoroutine() <= goroutines
	})
}

func TestLaunch_ByHand(t *testing.T) {
	for _, args := range [][]string{{"__sandbox-launch"}, {"__sandbox-launch", "100", "/", "/bin/true"}} {
		err := exec.Command(sandbox.Self(), args...).Run()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, mine := sandbox.Launch([]string{"lathe", "run"}, nil); mine {
		t.Error("any process is taken for a launcher")
	}
}
