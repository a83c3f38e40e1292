package bash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// inBackground is a terminal whose session takes work into the background.
func inBackground(t *testing.T) *terminal {
	x := newTerminal(t)
	x.Tasks = &tooltest.Tasks{Move: make(chan struct{})}
	return x
}

// ended waits for the end of work.
func ended(t *testing.T, w tool.Work) tool.WorkEnd {
	t.Helper()
	select {
	case <-w.Done:
		return w.End()
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
		return tool.WorkEnd{}
	}
}

// A server returns at once with its port, its log and its job. The job number ends it, and the log has its output.
func TestBash_BackgroundServer(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine")
	}
	x := inBackground(t)
	script := `import socket,sys,time
s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); print("up", s.getsockname()[1], flush=True); time.sleep(600)`
	x.Put("serve.py", script)
	r, _ := x.bash(t.Context(), tooltest.Input{"command": "echo first; python3 serve.py", "background": true, "timeout": 0})
	work := x.Tasks.Work()
	if len(work) != 1 {
		t.Fatalf("%d tasks: %s", len(work), r.Output)
	}
	ports := work[0].Ports()
	if len(ports) != 1 || !strings.Contains(r.Output, fmt.Sprintf("listens on port %d", ports[0])) || !strings.Contains(r.Output, "task job_1") ||
		!strings.Contains(r.Output, work[0].Log) || !strings.Contains(r.Output, "kill %1") || !strings.Contains(string(r.Metadata), `"background":true`) {
		t.Errorf("ports %v, %s %s", ports, r.Output, r.Metadata)
	}
	text, err := os.ReadFile(work[0].Log)
	if want := "first\nup " + strconv.Itoa(ports[0]) + "\n"; err != nil || string(text) != want {
		t.Errorf("the log says %q, %v", text, err)
	}
	if r, _ := x.bash(t.Context(), tooltest.Input{"command": "kill %1; wait %1; echo killed"}); !strings.Contains(r.Output, "killed") {
		t.Errorf("%s", r.Output)
	}
	if end := ended(t, work[0]); end.Exit == 0 || !strings.Contains(end.Text, "up") {
		t.Errorf("%+v", end)
	}
}

// A command that ends at once is an ordinary result, with its exit code.
func TestBash_BackgroundEndsAtOnce(t *testing.T) {
	t.Parallel()
	x := inBackground(t)
	r, m := x.bash(t.Context(), tooltest.Input{"command": "echo no such config; exit 3", "background": true})
	if len(x.Tasks.Work()) > 0 || *m.Exit != 3 || !strings.Contains(r.Output, "no such config") || !strings.Contains(r.Output, "exit 3") {
		t.Errorf("%s %+v", r.Output, m)
	}
}

// The user moves a running command: its call returns, its time limit no longer counts, and the output before and after is
// in one log.
func TestBash_Move(t *testing.T) {
	t.Parallel()
	x := inBackground(t)
	x.onShow = func(text string) {
		if strings.Contains(text, "before") {
			x.onShow = nil
			close(x.Tasks.Move)
		}
	}
	path := filepath.Join(x.Dir, "go")
	r, _ := x.bash(t.Context(), tooltest.Input{"command": "echo before; while [ ! -e go ]; do sleep 0.05; done; echo after", "timeout": 2000})
	work := x.Tasks.Work()
	if len(work) != 1 || !strings.Contains(r.Output, "The user moved the command to the background") {
		t.Fatalf("%d tasks: %s", len(work), r.Output)
	}
	select {
	case <-work[0].Done:
		t.Fatal("it ended by its limit")
	case <-time.After(2500 * time.Millisecond):
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, work[0]); end.Exit != 0 || end.Text != "before\nafter" {
		t.Errorf("%+v", end)
	}
	if text, err := os.ReadFile(work[0].Log); err != nil || string(text) != "before\nafter\n" {
		t.Errorf("the log says %q, %v", text, err)
	}
}

// However much it prints, a log stays bounded, and has the end.
func TestBash_BackgroundLogIsBounded(t *testing.T) {
	t.Parallel()
	x := inBackground(t)
	x.bash(t.Context(), tooltest.Input{"command": "sleep 3.3; head -c 30000000 /dev/zero | tr '\\0' a | fold -w 99; echo; echo the end", "background": true})
	work := x.Tasks.Work()
	if len(work) != 1 {
		t.Fatal("no task")
	}
	ended(t, work[0])
	text, err := os.ReadFile(work[0].Log)
	if err != nil || len(text) > 8<<20 || len(text) < 4<<20 || !strings.HasSuffix(string(text), "\nthe end\n") || !strings.HasPrefix(string(text), "... the beginning was removed") {
		t.Errorf("%d bytes, %v, ends %q", len(text), err, text[max(0, len(text)-50):])
	}
	left, err := os.ReadDir(filepath.Dir(work[0].Log))
	if err != nil || len(left) != 1 {
		t.Errorf("files left: %v %v", left, err)
	}
}

// Stopping a task, or closing the runner as the program does at its end, leaves no process, however it detaches. The
// control finds the processes while they run.
func TestBash_BackgroundLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*terminal, tool.Work){
		"stop": func(_ *terminal, w tool.Work) { w.Stop() },
		"end":  func(x *terminal, _ tool.Work) { _ = x.runner.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := inBackground(t)
			mark := "BACKGROUND_TEST=" + x.Dir
			x.cfg.Env = append(x.cfg.Env, mark)
			x.bash(t.Context(), tooltest.Input{"command": "(setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 0.2; done' &); trap '' TERM; while :; do sleep 0.2; done", "background": true})
			work := x.Tasks.Work()
			if len(work) != 1 || len(marked(t, mark)) == 0 {
				t.Fatalf("%d tasks, %v", len(work), marked(t, mark))
			}
			stop(x, work[0])
			ended(t, work[0])
			for deadline := time.Now().Add(20 * time.Second); len(marked(t, mark)) > 0; {
				if time.Now().After(deadline) {
					t.Fatalf("left: %v", marked(t, mark))
				}
				<-time.After(50 * time.Millisecond)
			}
		})
	}
}

// Nothing runs where no task may begin, and the user is not asked.
func TestBash_BackgroundRefused(t *testing.T) {
	t.Parallel()
	x := newTerminal(t)
	input := map[string]any{"command": "touch done", "background": true}
	if text := x.Fails(bash.New(x.cfg), input); !strings.Contains(text, "cannot run in the background here") {
		t.Errorf("%s", text)
	}
	x.Tasks = &tooltest.Tasks{Refuse: errors.New("too many")}
	if text := x.Fails(bash.New(x.cfg), input); !strings.Contains(text, "too many") || len(x.Asked) > 0 {
		t.Errorf("%s, asked %v", text, x.Asked)
	}
	if _, err := os.Stat(filepath.Join(x.Dir, "done")); err == nil {
		t.Error("it ran")
	}
	x.Tasks = &tooltest.Tasks{}
	x.Refuse = "bash" // the rules are those of every command
	if text := x.Fails(bash.New(x.cfg), input); !strings.Contains(text, "no bash") {
		t.Errorf("%s", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	x.Refuse, x.onShow = "", func(string) { cancel() }
	if r, _ := x.bash(ctx, tooltest.Input{"command": "sleep 100", "background": true}); !strings.Contains(r.Output, "aborted") {
		t.Errorf("%s", r.Output)
	}
}
