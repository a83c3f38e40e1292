//go:build unix

package sandbox_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, script, out string
		exit              int
		signal            string
	}{
		{"nothing", "true", "", 0, ""},
		{"exit code", "exit 3", "", 3, ""},
		{"signal", "kill -9 $$", "", -1, "SIGKILL"},
		{"its own SIGTERM", "kill -TERM $$; exec sleep 10", "", -1, "SIGTERM"},
		{"both streams in order", "echo a; echo b >&2; echo c; echo d >&2", "a\nb\nc\nd\n", 0, ""},
		{"directory", "pwd", dir + "\n", 0, ""},
		{"input has ended", "cat; read x; echo $?", "1\n", 0, ""},
		{"environment is what was given", "env | grep -v '^PWD\\|^_=\\|^SHLVL\\|^OLDPWD'", "PATH=/usr/local/bin:/usr/bin:/bin\n", 0, ""},
		{"no terminal", "(: </dev/tty) 2>/dev/null || echo none", "none\n", 0, ""},
		{"bytes as they are", `printf '\377\000\376'`, "\xff\x00\xfe", 0, ""},
		{"output of the background that comes soon", "(sleep 0.05; echo late) & echo soon", "soon\nlate\n", 0, ""},
	}
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				res, out := run(t, r, shell(dir, tt.script))
				if res.Exit != tt.exit || res.Signal != tt.signal || out != tt.out || res.Canceled || res.TimedOut || len(res.Leftovers) > 0 {
					t.Errorf("%+v %q; want exit %d %s and %q", res, out, tt.exit, tt.signal, tt.out)
				}
			})
		}
	})
}

func TestRun_Input(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		c := shell(t.TempDir(), "cat")
		c.Stdin = in
		if _, out := run(t, r, c); out != "hello" {
			t.Errorf("got %q", out)
		}
		if err := in.Close(); err != nil {
			t.Error("the input was closed by somebody else:", err)
		}
	})
}

func TestRun_CannotStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		c     sandbox.Command
		cause error
		words string
	}{
		{"no program", sandbox.Command{Path: filepath.Join(dir, "none"), Dir: dir}, fs.ErrNotExist, "start " + dir},
		{"no permission", sandbox.Command{Path: file, Dir: dir}, fs.ErrPermission, "start " + file},
		{"no directory", shell(filepath.Join(dir, "none"), "true"), fs.ErrNotExist, "does not exist"},
		{"a file as directory", shell(file, "true"), nil, "is not a directory"},
		{"relative", sandbox.Command{Path: "sh", Dir: dir}, nil, "absolute"},
		{"too long", shell(dir, ": "+strings.Repeat("x", 3<<20)), syscall.E2BIG, "write it to a file"},
	}
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := r.Run(t.Context(), tt.c, func([]byte) {})
				if err == nil || !strings.Contains(err.Error(), tt.words) || tt.cause != nil && !errors.Is(err, tt.cause) {
					t.Errorf("got %v", err)
				}
			})
		}
	})
}

func TestRun_CanceledBeforeTheStart(t *testing.T) {
	dir := t.TempDir()
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		res, err := r.Run(ctx, shell(dir, "echo x > ran"), func([]byte) {})
		if err != nil || !res.Canceled || res.Exit != -1 {
			t.Errorf("%+v, %v", res, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Error("it ran")
		}
	})
}

func TestRun_Timeout(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		c := shell(t.TempDir(), "echo begun; sleep 100; echo never")
		c.Timeout = 200 * time.Millisecond
		res, out := run(t, r, c)
		if !res.TimedOut || res.Canceled || res.Signal != "SIGTERM" || out != "begun\n" || res.Took < c.Timeout || res.Took > 5*time.Second {
			t.Errorf("%+v %q", res, out)
		}
	})
}

// A canceled command gives its result long before its grace is over, and ends all the same.
func TestRun_CanceledWhileItIgnoresSignals(t *testing.T) {
	for _, launcher := range []string{sandbox.Self(), ""} {
		t.Run("launcher "+launcher, func(t *testing.T) {
			t.Parallel()
			const grace = 3 * time.Second
			r := open(t, sandbox.Config{Launcher: launcher, Grace: grace})
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			var canceled time.Time
			var out strings.Builder
			res, err := r.Run(ctx, shell(dir, `trap "" TERM; echo $$ > pid; echo begun; while :; do sleep 0.01; done`), func(b []byte) {
				out.Write(b)
				canceled = time.Now()
				cancel()
			})
			took := time.Since(canceled)
			if err != nil || !res.Canceled || res.Exit != -1 || out.String() != "begun\n" {
				t.Errorf("%+v, %v, %q", res, err, out.String())
			}
			if took > grace/2 {
				t.Errorf("it took %v to return", took)
			}
			pid := pidIn(t, filepath.Join(dir, "pid"))
			eventually(t, grace+2*time.Second, "the end of the command", func() bool { return !alive(pid) })
		})
	}
}

// What is polite to SIGTERM has time to say so.
func TestRun_EndsGracefully(t *testing.T) {
	for _, launcher := range []string{sandbox.Self(), ""} {
		r := open(t, sandbox.Config{Launcher: launcher, Grace: 5 * time.Second})
		c := shell(t.TempDir(), `trap "echo bye; exit 7" TERM; echo begun; while :; do :; done`)
		c.Timeout = 300 * time.Millisecond
		res, out := run(t, r, c)
		if !res.TimedOut || res.Exit != 7 || out != "begun\nbye\n" {
			t.Errorf("%+v, %q", res, out)
		}
	}
}

func TestRun_WritesForever(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		c := shell(t.TempDir(), "exec yes")
		c.Timeout = 300 * time.Millisecond
		n := 0
		res, err := r.Run(t.Context(), c, func(b []byte) { n += len(b) })
		if err != nil || !res.TimedOut || n < 1<<20 || res.Took > 10*time.Second {
			t.Errorf("%+v, %v, %d bytes", res, err, n)
		}
	})
}

func TestRun_PrintsMuch(t *testing.T) {
	r := open(t, sandbox.Config{Launcher: sandbox.Self()})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	res, err := r.Run(t.Context(), shell(t.TempDir(), "head -c 268435456 /dev/zero"), func(b []byte) { n += len(b) })
	runtime.ReadMemStats(&after)
	if err != nil || res.Exit != 0 || n != 256<<20 {
		t.Errorf("%+v, %v, %d bytes", res, err, n)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

func TestRun_EndsTheRest(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		dir := t.TempDir()
		c := shell(dir, `sh -c 'trap "" TERM; echo $$ > pid; while :; do sleep 0.01; done' & while [ ! -s pid ]; do :; done; echo done`)
		c.Leftovers = sandbox.EndLeftovers
		res, out := run(t, r, c)
		if res.Exit != 0 || out != "done\n" || len(res.Leftovers) > 0 {
			t.Errorf("%+v %q", res, out)
		}
		if pid := pidIn(t, filepath.Join(dir, "pid")); alive(pid) {
			t.Error("it lives")
		}
	})
}

// A process in the background holds the output and does not hold the call; it neither blocks
// nor dies when the listener is gone, and ends with the runner.
func TestRun_KeepsTheRest(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		dir := t.TempDir()
		res, out := run(t, r, shell(dir, `sh -c 'echo $$ > pid; while :; do echo 0123456789012345678901234567890123456789; echo x >> grows; done' & echo done`))
		if res.Exit != 0 || !strings.Contains(out, "done\n") || len(res.Leftovers) == 0 || res.Took > 10*time.Second {
			t.Errorf("%+v", res)
		}
		pid := pidIn(t, filepath.Join(dir, "pid"))
		info, err := os.Stat(filepath.Join(dir, "grows"))
		if err != nil {
			t.Fatal(err)
		}
		// It has to print far more than a pipe holds.
		eventually(t, 20*time.Second, "it goes on", func() bool {
			now, err := os.Stat(filepath.Join(dir, "grows"))
			return err == nil && now.Size() > info.Size()+8000
		})
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if alive(pid) {
			t.Error("it outlives the runner")
		}
		if _, err := r.Run(t.Context(), shell(dir, "true"), func([]byte) {}); err == nil {
			t.Error("a closed runner runs")
		}
	})
}

func TestRun_ManyAtOnce(t *testing.T) {
	runners(t, func(t *testing.T, r *sandbox.Runner) {
		dir := t.TempDir()
		done := make(chan error, 20)
		for range cap(done) {
			go func() {
				var out strings.Builder
				res, err := r.Run(t.Context(), shell(dir, "echo x; exit 4"), func(b []byte) { out.Write(b) })
				if err == nil && (res.Exit != 4 || out.String() != "x\n") {
					err = errors.New(out.String())
				}
				done <- err
			}()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func BenchmarkRun_True(b *testing.B) {
	for name, launcher := range map[string]string{"launcher": sandbox.Self(), "group": ""} {
		b.Run(name, func(b *testing.B) {
			r := open(b, sandbox.Config{Launcher: launcher})
			c := shell(b.TempDir(), "true")
			for b.Loop() {
				if res, err := r.Run(b.Context(), c, func([]byte) {}); err != nil || res.Exit != 0 {
					b.Fatal(res, err)
				}
			}
		})
	}
}
