package bash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// hangs are commands that wait for a user, for ever, or leave something behind. Each has to
// return within its limit, with what it printed, and to leave no process when the runner ends.
var hangs = []struct {
	name    string
	needs   string // the program it is about; the test is skipped without
	command string
	limit   bool   // it does not end by itself
	want    string // in the output
}{
	{"git log", "git", "git log", false, "first commit"},
	{"git log with colours and a pager", "git", "git -c core.pager='less -R' --paginate log", false, "first commit"},
	{"git commit without a message", "git", "git commit --allow-empty", false, "exit 1"},
	{"git rebase with an editor", "git", "git rebase -i HEAD~1", false, "Successfully rebased"},
	{"git asks for a password", "git", "git -c credential.helper= ls-remote http://127.0.0.1:1/x", false, "exit 128"},
	{"less", "less", "less file", false, "in the file"},
	{"more", "more", "more file", false, "in the file"},
	{"man", "man", "man ls; true", false, ""},
	{"vi", "vi", "vi file", true, ""},
	{"vim", "vim", "vim file", true, ""},
	{"nano", "nano", "nano file", true, ""},
	{"the editor", "", "$EDITOR file && $VISUAL file && echo edited", false, "edited"},
	{"sudo", "sudo", "sudo -k; sudo -p 'sudo: ' true; true", true, ""},
	{"ssh to nowhere", "ssh", "ssh -p 1 -o ConnectTimeout=1 127.0.0.1", false, "exit 255"},
	{"npm init", "npm", "npm init", false, ""},
	{"read", "", "read answer; echo \"[$answer]\"", false, "[]"},
	{"cat", "", "cat; echo over", false, "over"},
	{"select", "bash", "bash -c 'select x in a b; do echo $x; done'; echo over", false, "over"},
	{"python without a file", "python3", "python3; echo over", false, "over"},
	{"python that asks", "python3", "python3 -c 'input(\"Name? \")'", false, "EOFError"},
	{"/dev/tty", "", "echo x > /dev/tty; echo over", false, "over"},
	{"top", "top", "top", true, ""},
	{"tail -f", "", "tail -f file", true, "in the file"},
	{"yes", "", "yes", true, "in a row]"},
	{"a loop that prints", "", "i=0; while :; do echo $i; i=$((i+1)); done", true, "left out here"},
	{"a loop that is silent", "", "while :; do :; done", true, "(no output)"},
	{"sleep", "", "echo before; sleep 600", true, "before"},
	{"a server in the background", "", "sleep 600 & echo started", false, "started"},
	{"a server with nohup", "", "nohup sleep 600 > log 2>&1 & echo started", false, "started"},
	{"a server in a session of its own", "setsid", "setsid sleep 600 & echo started", false, "started"},
	{"a daemon", "setsid", "(setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' >/dev/null 2>&1 &); echo started", false, "started"},
	{"deaf to SIGTERM", "", "trap '' TERM INT HUP; echo begun; while :; do sleep 0.1; done", true, "begun"},
	{"deaf children", "", "for i in 1 2 3; do sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' & done; echo begun; wait", true, "begun"},
	{"stopped", "", "echo begun; kill -STOP $$", true, "begun"},
	{"a pipe that nobody writes", "", "mkfifo p; echo begun; cat p", true, "begun"},
	{"a heredoc without an end", "", "cat <<END\ntext", false, "text"},
	{"binary", "", "head -c 100000 /dev/urandom", false, "\ufffd"},
	{"a line of 10 MB", "", "head -c 10000000 /dev/zero | tr '\\0' a; echo; echo over", false, "over"},
}

func TestBash_Hangs(t *testing.T) {
	for _, tt := range hangs {
		t.Run(tt.name, func(t *testing.T) {
			if tt.needs != "" {
				if _, err := exec.LookPath(tt.needs); err != nil {
					t.Skip(tt.needs, "is not on this machine")
				}
			}
			t.Parallel()
			x := newTerminal(t)
			x.project()
			mark := "HANG_TEST=" + x.Dir
			x.cfg.Env = append(x.cfg.Env, mark)
			limit := 20 * time.Second
			if tt.limit {
				limit = 500 * time.Millisecond
			}
			began := time.Now()
			r, _ := x.bash(t.Context(), tooltest.Input{"command": tt.command, "timeout": limit.Milliseconds()})
			if took := time.Since(began); took > limit+5*time.Second {
				t.Errorf("it took %v", took)
			}
			if ended := strings.Contains(r.Output, "ran longer than its limit"); ended && !tt.limit || !strings.Contains(r.Output, tt.want) {
				t.Errorf("want %q, got %.500s", tt.want, r.Output)
			}
			if err := x.runner.Close(); err != nil {
				t.Error(err)
			}
			if left := marked(t, mark); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// project is a small repository with a file.
func (x *terminal) project() {
	x.T.Helper()
	x.Put("file", "in the file\n")
	if _, err := exec.LookPath("git"); err != nil {
		return
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"config", "user.name", "dev"},
		{"config", "user.email", "dev@example.com"},
		{"commit", "-q", "--allow-empty", "-m", "first commit"},
		{"commit", "-q", "--allow-empty", "-m", "second commit"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = x.Dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+filepath.Join(x.T.TempDir(), "gitconfig"), "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			x.T.Fatalf("git %v: %v %s", args, err, out)
		}
	}
}

// marked returns the processes that have a variable in their environment.
func marked(t *testing.T, mark string) []string {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, dir := range entries {
		env, _ := os.ReadFile(dir + "/environ") // of the dead and of others there is none
		if bytes.Contains(env, []byte(mark)) {
			line, _ := os.ReadFile(dir + "/cmdline")
			out = append(out, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

func TestShell(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not on this machine")
	}
	x := newTerminal(t)
	x.Put(filepath.Join(x.Out, ".bashrc"), "echo noise; alias greet='echo hello'; cd /; export FROM_RC=yes\n")
	x.cfg.Shell = "bash"
	x.cfg.Env = append(x.cfg.Env, "ANTHROPIC_API_KEY=one")
	x.cfg.Secrets = func() []string { return []string{"ANTHROPIC_API_KEY"} }
	x.cfg.Timeout = time.Nanosecond // which is for models
	shell := bash.NewShell(x.cfg)
	r, err := shell.Run(t.Context(), bash.UserCommand{Dir: x.Dir, Command: "greet; pwd; echo $FROM_RC $TERM $# $ANTHROPIC_API_KEY; exit 3"}, func(meta json.RawMessage) { x.Progress("", meta) })
	if want := "hello\n" + x.Dir + "\nyes dumb 0 one\n"; err != nil || r.Output != want || r.Title != "" {
		t.Errorf("%v, %q %q; want %q", err, r.Title, r.Output, want)
	}
	if m := x.meta(r); m.Output != r.Output || *m.Exit != 3 {
		t.Errorf("%+v", m)
	}
	if len(x.Asked) > 0 || len(x.shown) == 0 || x.shown[0] != "" {
		t.Errorf("asked %v, shown %q", x.Asked, x.shown)
	}
}

func TestShell_Aborted(t *testing.T) {
	for _, name := range []string{"sh", "bash"} {
		x := newTerminal(t)
		x.cfg.Shell = name
		ctx, cancel := context.WithCancel(t.Context())
		r, err := bash.NewShell(x.cfg).Run(ctx, bash.UserCommand{Dir: x.Dir, Command: "echo begun; sleep 100"}, func(meta json.RawMessage) {
			if strings.Contains(string(meta), "begun") {
				cancel()
			}
		})
		if want := "begun\n\n<metadata>\nUser aborted the command\n</metadata>"; err != nil || r.Output != want {
			t.Errorf("%s: %v, %q", name, err, r.Output)
		}
		cancel()
	}
	x := newTerminal(t)
	if _, err := bash.NewShell(x.cfg).Run(t.Context(), bash.UserCommand{Dir: x.Dir + "/none", Command: "true"}, func(json.RawMessage) {}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v", err)
	}
}
