// Package hostiletest opens hostile repositories the way the program does, in a process
// that the kernel kills as soon as it starts another or opens a socket.
package hostiletest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/workspace"
)

// The test binary is a watched process itself when childEnv names a role.
const childEnv = "LATHE_TEST_CHILD"

// unwatched is how a child ends on a system that cannot watch.
const unwatched = 77

var roles = map[string]func(args []string) error{
	"open":    openChild,
	"exec":    func([]string) error { return exec.Command("true").Run() },
	"replace": replaceChild,
	"socket":  socketChild,
	"threads": threadsChild,
}

func TestMain(m *testing.M) {
	name := os.Getenv(childEnv)
	if name == "" {
		code := m.Run()
		if dir, err := templateOnce(); err == nil {
			os.RemoveAll(dir)
		}
		os.Exit(code)
	}
	if err := watch(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot watch:", err)
		os.Exit(unwatched)
	}
	go guardMemory()
	if err := roles[name](os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// guardMemory ends a process that a hostile file makes grow, before the machine does.
func guardMemory() {
	for range time.Tick(20 * time.Millisecond) {
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.HeapAlloc > 1<<30 {
			fmt.Fprintln(os.Stderr, "more than a gigabyte of memory")
			os.Exit(1)
		}
	}
}

// child is a process of this test binary in a role.
func child(ctx context.Context, role string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	return cmd
}

// spawn runs a child to its end and returns what it wrote. It skips the test where system calls
// cannot be traced.
func spawn(t *testing.T, role string, args ...string) (out []byte, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := child(ctx, role, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == unwatched {
		t.Skipf("no watcher on %s/%s: %s", runtime.GOOS, runtime.GOARCH, stderr.String())
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, tail(stderr.String()))
	}
	return stdout.Bytes(), err
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

// The watcher is worth something only if it can catch: a child that does what is
// forbidden dies of it, one that does not lives.
func TestWatcher(t *testing.T) {
	for _, role := range []string{"exec", "replace", "socket"} {
		_, err := spawn(t, role)
		if err == nil || !strings.Contains(err.Error(), "bad system call") {
			t.Errorf("%s was not caught: %v", role, err)
		}
	}
	if _, err := spawn(t, "threads"); err != nil {
		t.Errorf("threads: %v", err)
	}
}

// replaceChild becomes another program itself.
func replaceChild([]string) error {
	path, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	return replace(path)
}

// socketChild does what looking up an address or sending a datagram begins with.
func socketChild([]string) error {
	c, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		return err
	}
	return c.Close()
}

// threadsChild makes the runtime start threads.
func threadsChild([]string) error {
	var wg sync.WaitGroup
	all := make(chan struct{})
	var up sync.WaitGroup
	for range 8 {
		up.Add(1)
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			up.Done()
			<-all
		})
	}
	up.Wait()
	close(all)
	wg.Wait()
	return nil
}

// surroundings are the folders of the user who opens a repository.
type surroundings struct{ Home, UserDir, Data string }

func (s surroundings) options(place workspace.Place) config.Options {
	return config.Options{
		Directory: place.Directory, Worktree: place.Sandbox,
		Home: s.Home, UserDir: s.UserDir, Managed: []string{filepath.Join(s.Home, "managed")},
		Env:     os.LookupEnv,
		Trusted: s.trust().Trusts,
	}
}

func (s surroundings) trust() *workspace.Trust {
	return workspace.NewTrust(filepath.Join(s.Data, "trust"))
}

// request asks a child to open a directory for a user.
type request struct {
	Dir  string
	User surroundings
}

// report is what a child tells of a directory it has opened.
type report struct {
	Place        workspace.Place
	Project      string
	Err          string // of the settings
	Dangers      []string
	Config       json.RawMessage
	TUI          config.TUI
	Raw          json.RawMessage
	Skills       []config.Skill
	Instructions []config.Instruction
	Distrust     *config.Untrusted
}

// openChild opens directories as the program does, one after the other, with an engine on
// a database in the folder it is given.
func openChild(args []string) error {
	ctx := context.Background()
	driver, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(args[0], "lathe.db")})
	if err != nil {
		return err
	}
	e, err := engine.Open(ctx, engine.Options{Driver: driver, Blobs: filepath.Join(args[0], "blobs")})
	if err != nil {
		return err
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var q request
		if err := in.Decode(&q); err != nil {
			return e.Close() // no client asks any more
		}
		r, err := openDirectory(ctx, e, q)
		if err != nil {
			return err
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
}

func openDirectory(ctx context.Context, e *engine.Engine, q request) (*report, error) {
	inst, err := e.Instance(ctx, q.Dir)
	if err != nil {
		return nil, err
	}
	place, err := workspace.Locate(ctx, q.Dir, nil) // without the engine's memory
	if err != nil {
		return nil, err
	}
	r := &report{Place: place, Project: string(inst.Project.ID)}
	l, err := config.Load(q.User.options(place))
	if err != nil {
		r.Err = err.Error()
		return r, nil
	}
	r.Dangers, r.Distrust = dangers(l), l.Untrusted
	r.Raw, r.TUI, r.Skills, r.Instructions = l.Config.Raw, l.TUI, l.Skills, l.Instructions
	r.Config, err = json.Marshal(l.Config)
	return r, err
}

// watched is a child that opens directories. One that dies of a directory is followed by
// another for the next.
type watched struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr bytes.Buffer
}

// ask has a directory opened; an error says that the child did not survive it.
func (w *watched) ask(t *testing.T, q request) (r report, err error) {
	t.Helper()
	if w.cmd == nil {
		w.start(t)
	}
	late := time.AfterFunc(time.Minute, func() { _ = w.cmd.Process.Kill() })
	defer late.Stop()
	if err = json.NewEncoder(w.in).Encode(q); err == nil {
		err = w.out.Decode(&r)
	}
	if err == nil {
		return r, nil
	}
	err = errors.Join(err, w.stop())
	return r, fmt.Errorf("%w\n%s", err, tail(w.stderr.String()))
}

func (w *watched) start(t *testing.T) {
	t.Helper()
	if _, err := spawn(t, "threads"); err != nil { // or skip, without tracing
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "hostile-data-")
	if err != nil {
		t.Fatal(err)
	}
	*w = watched{}
	w.cmd = child(context.Background(), "open", dir)
	w.cmd.Env = append(w.cmd.Env, secName+"="+secret)
	w.cmd.Stderr = &w.stderr
	var out io.Reader
	w.in, err = w.cmd.StdinPipe()
	if err == nil {
		out, err = w.cmd.StdoutPipe()
	}
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	w.out = json.NewDecoder(out)
}

// stop ends the child and tells how it went.
func (w *watched) stop() error {
	if w.cmd == nil {
		return nil
	}
	_ = w.in.Close()
	err := w.cmd.Wait()
	_ = os.RemoveAll(w.cmd.Args[1])
	w.cmd = nil
	return err
}
