package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// A turn that is ended by either signal is settled within three seconds and can be resumed; a
// second signal ends the program at once, and the turn can still be resumed.
func TestSignal_DuringATurn(t *testing.T) {
	needUnix(t)
	t.Parallel()
	for _, tt := range []struct {
		name    string
		signals []os.Signal
		code    int
	}{
		{"interrupt", []os.Signal{syscall.SIGINT}, 130},
		{"terminate", []os.Signal{syscall.SIGTERM}, 143},
		{"twice", []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			script, err := modeltest.Parse("text \"Here \"\nstall\n--\ntext \"There.\"\nfinish stop")
			if err != nil {
				t.Fatal(err)
			}
			server := modeltest.Start(t, script)
			settings := fmt.Sprintf(`{"model":"own/m","disabled_providers":["opencode"],"provider":{"own":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":"none"},"models":{"m":{}}}}}`, server.URL+"/v1")
			file := filepath.Join(home, ".config", "lathe", "lathe.json")
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
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
			line, err := bufio.NewReader(stderr).ReadString('\n') // who answers: the prompt is sent
			if err != nil || !strings.HasPrefix(line, "> build") {
				t.Fatalf("%q %v", line, err)
			}
			until(t, func() bool { return len(server.Requests()) == 1 })
			began := time.Now()
			for _, s := range tt.signals {
				if err := cmd.Process.Signal(s); err != nil && tt.code >= 0 {
					t.Fatal(err)
				}
			}
			err = cmd.Wait()
			if code := exitCode(err); code != tt.code && tt.code >= 0 {
				t.Errorf("exit code %d, not %d", code, tt.code)
			}
			if took := time.Since(began); took > 10*time.Second { // three, on a machine that does nothing else
				t.Errorf("it took %s to end", took)
			}
			if list := must(t, home, "session", "list"); !strings.Contains(list, "interrupted") {
				t.Errorf("it is not listed as interrupted:\n%s", list)
			}
			if out := must(t, home, "run", "--resume"); out != "There.\n" {
				t.Errorf("it goes on with %q", out)
			}
		})
	}
}

// until waits for something that is about to happen.
func until(t *testing.T, yes func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-deadline:
			t.Fatal("it did not happen")
		case <-tick.C:
		}
	}
}
