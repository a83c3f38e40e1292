package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

// street is a folder for sockets, which have short names, and how often some were reached.
type street struct {
	t       *testing.T
	dir     string
	reached atomic.Int32
}

func newStreet(t *testing.T, parent string) *street {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "s")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &street{t: t, dir: dir}
}

// listen makes a socket of another program; a name without a slash lies in the folder.
func (s *street) listen(name string) string {
	s.t.Helper()
	if !strings.ContainsAny(name[:1], "/@") {
		name = filepath.Join(s.dir, name)
	}
	l, err := net.Listen("unix", name)
	if err != nil {
		s.t.Skip(err)
	}
	s.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.reached.Add(1)
			_ = conn.Close()
		}
	}()
	return name
}

// fill makes many, so that who counts them gives up.
func (s *street) fill(n int) {
	for i := range n {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("%s/f%d", s.dir, i)})
		if err != nil {
			s.t.Skip(err)
		}
		s.t.Cleanup(func() { _ = l.Close() })
	}
}

// free is the same command without a sandbox.
func free(c sandbox.Command) sandbox.Command {
	c.Profile = sandbox.Profile{}
	return c
}

func TestGate_ForeignSockets(t *testing.T) {
	s := newStreet(t, "/tmp")
	s.fill(1500)
	foreign, tmux, abstract := s.listen("foreign"), s.listen("default"), s.listen(fmt.Sprintf("@lathe-gate-%d", os.Getpid()))
	yards(t, func(t *testing.T, y *yard) {
		if err := os.Symlink(foreign, y.project+"/link"); err != nil {
			t.Fatal(err)
		}
		for name, script := range map[string]string{
			"by its name": "$SELF unix " + foreign, "through a link": "$SELF unix link", "from its folder": "cd " + s.dir + " && $SELF unix foreign",
			"of tmux": "$SELF unix " + tmux, "abstract": "$SELF unix " + abstract, "while its name changes": "$SELF flip " + foreign,
			"through /proc": "$SELF unix /proc/self/root" + foreign,
		} {
			y.profile.Write = []string{y.project}
			if name == "of tmux" { // where a command may write is no matter
				y.profile.Write = append(y.profile.Write, "/tmp")
			}
			was := s.reached.Load()
			control := script
			if name == "while its name changes" { // it is a matter of luck how soon
				control = "for i in $(seq 50); do " + script + " && exit 0; done; exit 1"
			}
			if res, out := run(t, y.runner, free(y.shell(control))); res.Exit != 0 {
				t.Fatalf("%s: not reached without a sandbox: %s", name, out)
			}
			eventually(t, 5*time.Second, "a connection", func() bool { return s.reached.Load() > was })
			was = s.reached.Load()
			if res, out := run(t, y.runner, y.shell(script)); res.Exit == 0 || s.reached.Load() != was {
				t.Errorf("%s: reached %d times: %s", name, s.reached.Load()-was, out)
			}
		}
	})
}

// A socket that is made after the command has started is as far away.
func TestGate_LaterSocket(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		s := newStreet(t, "/tmp")
		script := "echo $$ > started; while [ ! -e " + s.dir + "/late ]; do sleep 0.01; done; $SELF unix " + s.dir + "/late"
		for _, c := range []sandbox.Command{free(y.shell(script)), y.shell(script)} {
			_ = os.Remove(y.project + "/started")
			_ = os.Remove(s.dir + "/late")
			type ended struct {
				res sandbox.Result
				err error
			}
			done := make(chan ended, 1)
			go func() {
				res, err := y.runner.Run(t.Context(), c, func([]byte) {})
				done <- ended{res, err}
			}()
			pidIn(t, y.project+"/started")
			s.listen("late")
			if e := <-done; e.err != nil || (e.res.Exit == 0) == c.Profile.Confined() {
				t.Errorf("confined %v: %+v", c.Profile.Confined(), e)
			}
		}
	})
}

// What is the command's own, or allowed, can be connected to, with the errors of a kernel.
func TestGate_Works(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		s := newStreet(t, "/tmp")
		allowed := s.listen("allowed")
		y.profile.Sockets = []string{allowed}
		y.profile.Write = append(y.profile.Write, "/tmp")
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		closed, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = closed.Close()
		own := fmt.Sprintf("/tmp/own-%d-%s-%s", os.Getpid(), y.guard, y.profile.Session)
		t.Cleanup(func() { _ = os.Remove(own) })
		serve := func(name string) string {
			return "$SELF serve " + name + " > ready 2>&1 & while [ ! -s ready ]; do sleep 0.01; done; rm ready; $SELF unix " + name + "; e=$?; kill $!; exit $e"
		}
		for name, script := range map[string]string{
			"allowed": "$SELF unix " + allowed, "in the project": serve("sock"), "in the temporary folder": serve(own), "abstract": serve("@own-" + filepath.Base(own)),
			"tcp": "$SELF tcp " + l.Addr().String(), "tcp that waits": "$SELF wait " + l.Addr().String(),
			"refused": "$SELF tcp " + closed.Addr().String() + " | grep 'connection refused'", "no socket": "$SELF unix file | grep 'connection refused'",
			"not there": "$SELF unix none | grep 'no such file'", "from a thread": "$SELF 'own files' " + l.Addr().String(),
		} {
			if res, out := run(t, y.runner, y.shell(script)); res.Exit != 0 {
				t.Errorf("%s: %+v %s", name, res, out)
			}
		}
		if res, out := run(t, y.runner, y.shell("$SELF dgram "+allowed)); res.Exit == 0 {
			t.Errorf("a message without a connection: %s", out)
		}
	})
}

// A command that waits in many connections keeps no other of its session from connecting.
func TestGate_Crowd(t *testing.T) {
	y := inSession(t)
	run(t, y.runner, y.shell(`$SELF crowd full > crowd 2>&1 & while [ ! -s crowd ]; do sleep 0.01; done`))
	c := y.shell(`cat crowd; ($SELF serve sock > ready) & while [ ! -s ready ]; do sleep 0.01; done; $SELF unix sock`)
	c.Timeout = 10 * time.Second
	if res, out := run(t, y.runner, c); res.Exit != 0 || !strings.HasPrefix(out, "crowded") {
		t.Errorf("%+v %s", res, out)
	}
}
