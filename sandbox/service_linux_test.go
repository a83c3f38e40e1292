package sandbox_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

// marked counts the processes that live and have a word in their environment.
func marked(word string) (n int) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		var pid int
		_, _ = fmt.Sscanf(path, "/proc/%d/environ", &pid)
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(word)) && alive(pid) {
			n++
		}
	}
	return n
}

// forks makes daemons of every kind, which hear nothing, and says when they are there.
const forks = `trap "" TERM INT HUP
	d='trap "" TERM INT HUP; while :; do sleep 0.05; done'
	sh -c "$d" & setsid sh -c "$d" & (setsid sh -c "sh -c '$d' & setsid sh -c '$d' &" &) ; (sh -c "$d" </dev/null >/dev/null 2>&1 &)
	sleep 0.2; echo $$ > there; `

// Daemons of a service end with it, whichever way it ends; no process is left of many.
func TestService_Daemons(t *testing.T) {
	for name, script := range map[string]string{"stopped": forks + "while :; do sleep 1; done", "by itself": forks + "exit 0", "killed": forks + "kill -9 $$"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, sandbox.Config{Launcher: sandbox.Self(), Grace: 200 * time.Millisecond})
			dir, word := t.TempDir(), fmt.Sprintf("MARK=%s-%d", filepath.Base(name), os.Getpid())
			c := shell(dir, script)
			c.Env = append(c.Env, word)
			s := start(t, r, c)
			pidIn(t, filepath.Join(dir, "there"))
			if n := marked(word); name == "stopped" && n < 6 {
				t.Errorf("%d processes", n)
			}
			if name == "stopped" {
				if res, err := s.Stop(); err != nil || len(res.Leftovers) > 0 {
					t.Errorf("%+v, %v", res, err)
				}
			}
			<-s.Done()
			eventually(t, 2*time.Second, "none left", func() bool { return marked(word) == 0 })
		})
	}
}

// The program that started a service is killed: nothing of it is left.
func TestService_HostKilled(t *testing.T) {
	dir, word := t.TempDir(), fmt.Sprintf("MARK=host-%d", os.Getpid())
	cmd := exec.Command(sandbox.Self(), "host", dir, "export "+word+"; "+forks+"while :; do sleep 1; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pidIn(t, filepath.Join(dir, "there"))
	before := marked(word)
	if before < 5 {
		t.Errorf("%d processes", before)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	eventually(t, 5*time.Second, "none left", func() bool { return marked(word) == 0 })
	t.Logf("%d processes before, %d after", before, marked(word))
}

// A service is confined as a command is, for as long as it lives.
func TestService_Confined(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		before := tree(t, y.outside)
		c := y.shell(`read -r l; echo x > $OUT/new; echo x > inside; echo $?; cat`)
		c.Profile.Limits.FileSize = 1 << 20
		s := start(t, y.runner, c)
		if _, err := s.Stdin.Write([]byte("go\n")); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 2)
		if _, err := s.Stdout.Read(buf); err != nil || string(buf) != "0\n" {
			t.Errorf("%q, %v; %s", buf, err, s.Stderr())
		}
		res, err := s.Stop()
		if err != nil || res.Sandbox == nil || res.Sandbox.Guard != y.guard {
			t.Errorf("%+v, %v", res, err)
		}
		if after := tree(t, y.outside); !maps.Equal(before, after) {
			t.Errorf("%v", after)
		}
		if there(y.project + "/lathe.jsonc") {
			t.Error("something still stands in for a name")
		}
	})
}
