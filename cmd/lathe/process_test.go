package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// command is lathe with a home and a data folder of its own.
func command(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("lathe", args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "LATHE_DATA="+filepath.Join(home, "data"), "TMPDIR="+home, "TZ=UTC",
		"GORACE=atexit_sleep_ms=0", "HTTPS_PROXY=http://127.0.0.1:9")
	return cmd
}

// must runs a command that has to work and returns its output.
func must(t *testing.T, home string, args ...string) string {
	t.Helper()
	cmd := command(t, home, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("lathe %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func sample(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func needUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("signals and pipes are those of Unix")
	}
}

// A reader that has seen enough is no failure: `lathe session list | head -1`.
func TestPipe_ClosedByReader(t *testing.T) {
	needUnix(t)
	home := t.TempDir()
	must(t, home, "import", sample(t, "second.json"))
	for _, args := range [][]string{
		{"session", "list"},
		{"session", "list", "--json"},
		{"session", "show"},
		{"stats"},
		{"stats", "--harness", "--json"},
		{"export", "1b5e"},
		{"--help"},
		{"version"},
		{"demo"},
		{"models", "--all", "--json"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := command(t, home, args...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &stderr
		err = cmd.Run()
		if e := w.Close(); e != nil {
			t.Error(e)
		}
		if args[0] == "version" && exitCode(err) == -1 {
			continue // it is too small to be asked how it ends: the signal does
		}
		if err != nil || stderr.Len() > 0 {
			t.Errorf("lathe %s into a closed pipe: %v %s", strings.Join(args, " "), err, stderr.String())
		}
	}
	noneLeft(t, home)
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// noneLeft checks that no process left a lock or a temporary file.
func noneLeft(t *testing.T, home string) {
	t.Helper()
	for _, pattern := range []string{"data/owners/*", "lathe-demo-*", ".lathe-*"} {
		if left, err := filepath.Glob(filepath.Join(home, pattern)); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// An interrupt while it waits for input: no word, the code shells expect, nothing made.
func TestInterrupt_WhileReading(t *testing.T) {
	needUnix(t)
	for signal, code := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		home := t.TempDir()
		cmd := command(t, home, "import", "-", "--print-logs")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// More than a pipe holds: when it is taken, the program reads.
		if _, err := stdin.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if got := exitCode(cmd.Wait()); got != code || stderr.Len() > 0 {
			t.Errorf("%v: exit code %d, not %d: %s", signal, got, code, stderr.String())
		}
		if _, err := os.Stat(filepath.Join(home, "data")); !os.IsNotExist(err) {
			t.Errorf("%v: the data folder was made: %v", signal, err)
		}
	}
}

// An interrupt in the middle of the demo: what it made is removed.
func TestInterrupt_Demo(t *testing.T) {
	needUnix(t)
	home := t.TempDir()
	cmd := command(t, home, "demo")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && !strings.Contains(lines.Text(), "I'll run the test first") {
		continue
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stdout); err != nil {
		t.Fatal(err)
	}
	if got := exitCode(cmd.Wait()); got != 130 {
		t.Errorf("exit code %d, not 130", got)
	}
	noneLeft(t, home)
}

// An import that is killed or interrupted is in the database whole or not at all, and the
// database is sound.
func TestKill_Import(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("killing takes too long for -short")
	}
	needUnix(t)
	home := t.TempDir()
	big := filepath.Join(home, "big.json")
	f, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeBig(f, 3<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	must(t, home, "import", sample(t, "first.json"))
	whole := 0
	for i := range 12 {
		cmd := command(t, home, "import", big)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		signal := []os.Signal{os.Kill, os.Interrupt}[i%2]
		killed := time.AfterFunc(time.Duration(i*i)*4*time.Millisecond, func() { _ = cmd.Process.Signal(signal) })
		code := exitCode(cmd.Wait())
		killed.Stop()
		if code != 0 && code != map[os.Signal]int{os.Kill: -1, os.Interrupt: 130}[signal] {
			// A program that has just started does not catch signals yet.
			if signal != os.Interrupt || code != -1 {
				t.Errorf("%v: exit code %d", signal, code)
			}
		}
		if got := must(t, home, "db", "check"); got != "The database is intact.\n" {
			t.Fatalf("after kill %d: %s", i, got)
		}
		list := must(t, home, "session", "list", "--json")
		if strings.Contains(list, "ses_big") {
			whole++
			if n := strings.Count(must(t, home, "export", "ses_big"), `"type": "file"`); n != 3 {
				t.Fatalf("after kill %d: %d of 3 messages", i, n)
			}
			must(t, home, "session", "delete", "ses_big")
		}
	}
	noneLeft(t, home)
	t.Logf("%d of 12 imports had come in before the kill", whole)
}
