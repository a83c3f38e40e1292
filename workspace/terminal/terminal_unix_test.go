//go:build unix

package terminal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/terminal"
)

func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

// fixture is a set with a directory, and its events.
type fixture struct {
	*testing.T
	*terminal.Set
	at     workspace.Place
	events chan lathe.Event
}

func begin(t *testing.T, most int) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Grace: 300 * time.Millisecond})
	r := &fixture{T: t, at: workspace.Place{Directory: dir, ProjectID: "p"}, events: make(chan lathe.Event, 1000)}
	r.Set = terminal.Open(terminal.Options{
		Runner: runner, Env: []string{"PATH=/usr/bin:/bin", "PS1=$ ", "A=1", "HOME=" + dir}, Shell: "/bin/sh", IDs: lathe.NewIDs(), Max: most,
		Publish: func(all ...lathe.Event) {
			for _, e := range all {
				r.events <- e
			}
		},
	})
	t.Cleanup(func() {
		if err := r.Set.Close(); err != nil {
			t.Error(err)
		}
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *fixture) create(in terminal.CreateOptions) *terminal.Terminal {
	r.Helper()
	info, err := r.Create(r.at, in)
	if err != nil {
		r.Fatal(err)
	}
	t := r.Find(r.at.Directory, info.ID)
	if t == nil {
		r.Fatalf("%s has ended already", info.ID)
	}
	return t
}

// shows reads until a word was shown.
func (r *fixture) shows(t *terminal.Terminal, word string) string {
	r.Helper()
	all, late := "", time.After(20*time.Second)
	for at := int64(0); !strings.Contains(all, word); {
		p := t.Read(at, 1000)
		all, at = all+p.Text, p.Next
		if p.Ended {
			r.Fatalf("over after %q", all)
		}
		if p.Text == "" {
			select {
			case <-p.More:
			case <-late:
				r.Fatalf("no %q in %q", word, all)
			}
		}
	}
	return all
}

func (r *fixture) hears(kind string) lathe.Event {
	r.Helper()
	for {
		select {
		case e := <-r.events:
			if e.Fact.Type() == kind {
				return e
			}
		case <-time.After(20 * time.Second):
			r.Fatalf("no %s", kind)
		}
	}
}

func TestShell(t *testing.T) {
	r := begin(t, 0)
	term := r.create(terminal.CreateOptions{Env: map[string]string{"B": "2"}})
	info := term.Info()
	if want := "Terminal " + string(info.ID[len(info.ID)-4:]); info.Title != want || info.Command != "/bin/sh" || fmt.Sprint(info.Args) != "[-l]" || info.Cwd != r.at.Directory || info.Status != "running" || info.PID == 0 {
		t.Errorf("%+v", info)
	}
	if e := r.hears("pty.created"); e.Directory != r.at.Directory || e.Project != "p" {
		t.Errorf("%+v", e)
	}
	_ = term.Type([]byte("echo $A$B $TERM $OPENCODE_TERMINAL $((40+2))\r"))
	r.shows(term, "12 xterm-256color 1 42")
	if err := term.Resize(33, 99); err != nil {
		t.Error(err)
	}
	_ = term.Type([]byte("stty size\r"))
	r.shows(term, "33 99")
	if err := term.Rename("mine"); err != nil || term.Info().Title != "mine" {
		t.Errorf("%v, %+v", err, term.Info())
	}
	r.hears("pty.updated")
	_ = term.Type([]byte("exit 3\r"))
	if f := r.hears("pty.exited").Fact.(*lathe.PtyExited); f.ID != info.ID || f.ExitCode != 3 {
		t.Errorf("%+v", f)
	}
	r.hears("pty.deleted")
	if r.Find(r.at.Directory, info.ID) != nil || len(r.List(r.at.Directory)) != 0 {
		t.Error("it is still there")
	}
}

func TestRemove_EndsWhatItStarted(t *testing.T) {
	r := begin(t, 0)
	term := r.create(terminal.CreateOptions{Command: "sh", Args: []string{"-c", `trap "" HUP TERM; (trap "" HUP TERM; while :; do sleep 0.05; done) & echo "pid $!."; wait`}})
	pid := 0
	shown := r.shows(term, ".\r\n")
	if _, err := fmt.Sscanf(shown, "pid %d.", &pid); err != nil {
		t.Fatalf("%v: %q", err, shown)
	}
	term.Remove()
	r.hears("pty.deleted")
	for p := term.Read(1<<40, 1); !p.Ended; p = term.Read(1<<40, 1) {
		<-p.More
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		t.Error("what it started lives on")
	}
}

func TestCreate_Refuses(t *testing.T) {
	r := begin(t, 2)
	long := strings.Repeat("x", 100<<10)
	for name, in := range map[string]terminal.CreateOptions{
		"program": {Command: "no-such-program"}, "path": {Command: "../../no/such"}, "directory": {Command: r.at.Directory}, "dir": {Dir: "nowhere"}, "null": {Command: "sh", Args: []string{"a\x00"}},
		"env": {Env: map[string]string{"A=B": ""}}, "args": {Args: []string{long}}, "title": {Title: long}, "values": {Env: map[string]string{"A": long}}, "name": {Command: long},
	} {
		if _, err := r.Create(r.at, in); lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.create(terminal.CreateOptions{})
	r.create(terminal.CreateOptions{})
	if _, err := r.Create(r.at, terminal.CreateOptions{}); lathe.CodeOf(err) != lathe.Limited {
		t.Errorf("a third: %v", err)
	}
	if list := r.List(r.at.Directory); len(list) != 2 || len(r.List("/")) != 0 || r.Find("/", list[0].ID) != nil {
		t.Errorf("%+v", list)
	}
}

// A program that does not read its input blocks no client for long.
func TestType_Unread(t *testing.T) {
	r := begin(t, 0)
	term := r.create(terminal.CreateOptions{Command: "sh", Args: []string{"-c", "stty raw -echo; echo ready; exec sleep 60"}})
	r.shows(term, "ready")
	began := time.Now()
	if err := term.Type(make([]byte, 1<<20)); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestShells(t *testing.T) {
	r := begin(t, 0)
	all := r.Shells()
	if len(all) == 0 || all[0] != (terminal.Shell{Path: "/bin/sh", Name: "sh", Acceptable: true}) {
		t.Errorf("%+v", all)
	}
}

func TestClose(t *testing.T) {
	r := begin(t, 0)
	r.create(terminal.CreateOptions{})
	if err := r.Set.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Create(r.at, terminal.CreateOptions{}); lathe.CodeOf(err) != lathe.Unavailable {
		t.Error(err)
	}
	if n := len(r.List(r.at.Directory)); n != 0 {
		t.Errorf("%d are left", n)
	}
}
