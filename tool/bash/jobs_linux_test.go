package bash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// jobShells are those that this machine has.
func jobShells(t *testing.T) (out []shell) {
	t.Helper()
	for _, name := range []string{"bash", "sh", "zsh"} {
		if path, err := exec.LookPath(name); err == nil {
			out = append(out, shellAt(path))
		}
	}
	if len(out) == 0 {
		t.Skip("there is no shell here")
	}
	return out
}

type silentHost struct{ tool.Host }

func (silentHost) Ask(context.Context, ...tool.Permission) error { return nil }
func (silentHost) Progress(string, json.RawMessage)              {}
func (silentHost) Background() tool.Background                   { return nil }

// What an earlier call left is reached by the number of its job, and by no call of another session. A
// line that starts jobs of its own means those.
func TestBash_Jobs(t *testing.T) {
	for _, s := range jobShells(t) {
		t.Run(s.kind, func(t *testing.T) {
			runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
			t.Cleanup(func() { _ = runner.Close() })
			bash := New(Config{Runner: runner, Shell: s.path, Env: []string{"PATH=" + os.Getenv("PATH")}, Output: tool.Output{Dir: t.TempDir()}, Timeout: 20 * time.Second})
			dir := t.TempDir()
			run := func(session, line string) string {
				t.Helper()
				input, _ := json.Marshal(map[string]string{"command": line})
				r, err := tool.Run(t.Context(), bash, &tool.Call{Session: "ses_" + lathe.SessionID(session), Dir: dir, Root: dir, Host: silentHost{}, Input: input})
				if err != nil {
					t.Fatal(err)
				}
				return r.Output
			}
			expect := func(got string, want ...string) {
				t.Helper()
				for _, w := range want {
					if !strings.Contains(got, w) {
						t.Errorf("%q is not in %s", w, got)
					}
				}
			}
			expect(run("a", "exec >/dev/null 2>&1; sleep 1001 & sleep 1002 & { sleep 1003; true; } & sleep 0.05"), "\n[1] ", " sleep 1001\n", "\n[2] ", " sleep 1002\n", "\n[3] ", "\n    ", " sleep 1003")
			expect(run("a", "jobs; echo; jobs -p | wc -l"), "[1] ", " sleep 1001\n[2] ", " sleep 1002\n[3] ", "\n4\n")
			expect(run("a", "sleep 1004 & kill %1 || kill $!; wait; jobs; echo own"), "own")
			expect(run("b", "kill %1 || echo none"), "none")
			expect(run("a", "jobs"), "sleep 1001", "sleep 1002", "sleep 1003")
			expect(run("a", "sleep 1005 >/dev/null 2>&1 & sleep 0.05"), "\n[4] ", " sleep 1005")
			expect(run("a", "set -eu; kill -0 %1 %2 %3 %4; kill %%; wait %+; echo ended; jobs"), "ended\n[1] ", "[2]", "[3]")
			expect(run("a", "kill -KILL %1 %2 %7; echo $?; wait %1 %2; jobs"), "kill: %7: no such job", "\n1\n", "[3]")
			expect(run("a", "kill -s TERM %3 && wait %3; echo $?; kill %1 || echo none; jobs; echo end"), "0\n", "kill: %1: no such job", "none\nend")
			expect(run("a", "jobs; kill %1; echo $?"), "1")
		})
	}
}

// A number that another process has by now is not signaled, and a name is only shown.
func TestJobFunctions(t *testing.T) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	start, err := strconv.ParseUint(strings.Fields(string(stat[strings.LastIndex(string(stat), ")"):]))[20], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	name := `it's $(echo run) \n "q" ` + "`id`\nkill"
	for _, s := range jobShells(t) {
		own := "command"
		if s.kind == "bash" || s.kind == "zsh" {
			own = "builtin"
		}
		functions := jobFunctions(own, []sandbox.Job{
			{Number: 1, Processes: []sandbox.Process{{PID: os.Getpid(), Start: start, Job: 1, Name: name}}},
			{Number: 2, Processes: []sandbox.Process{{PID: os.Getpid(), Start: start + 1, Job: 2}}},
		})
		cmd := exec.Command(s.path, s.args(jobsPrelude+"jobs; kill -0 %1; echo $?; kill -0 %-; echo $?; kill -0 %2; echo $?; kill -0 $$; echo $?; echo ${"+jobsVariable+"-gone}")...)
		cmd.Env = append(os.Environ(), jobsVariable+"="+functions)
		got, _ := cmd.CombinedOutput()
		want := fmt.Sprintf("[1] %d %s\n0\n0\nkill: %%2: no such job, or it has ended, or it runs in another sandbox; see jobs\n1\n0\ngone\n", os.Getpid(), strings.ReplaceAll(name, "\n", " "))
		if string(got) != want {
			t.Errorf("%s: %s\nwant %s", s.kind, got, want)
		}
	}
}
