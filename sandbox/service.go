package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Service is a program that others talk to over its input and output for as long as it lives:
// an MCP server, a language server, a formatter, a plugin. Its error output is read at once, so
// that it never blocks, and its end is stored.
//
// The starter calls [Service.Stop] when it is no longer needed, also when it ended by itself.
// It ends with its runner too, and with our program, and all that it started with it.
type Service struct {
	// Stdin is its input. Writing fails when the program has ended, and can be given up by closing.
	Stdin io.WriteCloser
	// Stdout is its output, whole and unchanged: an unread output makes the program wait.
	Stdout io.ReadCloser

	grace  time.Duration
	tree   tree
	began  time.Time
	errors *tail
	done   chan struct{}
	res    Result // valid when done is closed, as err
	err    error
}

// maxErrorOutput limits the stored end of a service's error output.
const maxErrorOutput = 16 << 10

// Start starts a service. What it leaves behind when it ends, ends with it, so
// [Command.Leftovers] has no meaning here; it has its own input and no time limit.
func (r *Runner) Start(c Command) (*Service, error) {
	if c.Stdin != nil || c.Timeout != 0 {
		return nil, fmt.Errorf("start %s: a service has neither an input of its caller nor a time limit", c.Path)
	}
	var s *Service
	err := r.enter(c, func() (_ tree, err error) {
		if s, err = r.serve(c); err != nil {
			return nil, err
		}
		return s.tree, nil
	})
	if err != nil {
		return nil, err
	}
	go s.watch()
	return s, nil
}

// serve starts the program with three pipes.
func (r *Runner) serve(c Command) (*Service, error) {
	inReader, stdin, err1 := os.Pipe()
	stdout, outWriter, err2 := pipe()
	stderr, errWriter, err3 := pipe()
	defer closeAll(inReader, outWriter, errWriter) // which are the program's
	began := time.Now()
	var t tree
	err := errors.Join(err1, err2, err3)
	if err == nil {
		t, err = r.startMonitored(c, streams{in: inReader, out: outWriter, err: errWriter})
	}
	if err != nil {
		closeAll(stdin, stdout, stderr)
		return nil, err
	}
	return &Service{
		Stdin: stdin, Stdout: stdout, grace: r.grace, tree: t, began: began, errors: keepTail(stderr), done: make(chan struct{}),
	}, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // it may not have been opened
	}
}

// watch waits for the end of the program, and ends what it left behind.
func (s *Service) watch() {
	defer close(s.done)
	<-s.tree.exited()
	st := s.tree.status()
	s.tree.kill()
	await(s.tree.gone(), s.grace+killTime)
	await(s.errors.ended, settleTime)
	s.res = Result{
		Exit: st.code, Signal: st.signal, Leftovers: s.tree.rest(), Took: time.Since(s.began), Sandbox: s.tree.confined(), Restored: st.undone, RestoreError: st.lost,
	}
	s.err = st.err
}

// await waits for a channel to be closed and reports whether it was in time.
func await(c <-chan struct{}, limit time.Duration) bool {
	select {
	case <-c:
		return true
	case <-time.After(limit):
		return false
	}
}

// Done is closed when the program and all its processes have ended.
func (s *Service) Done() <-chan struct{} { return s.done }

// Stderr is the end of its error output so far, for people to read.
func (s *Service) Stderr() string { return s.errors.String() }

// Stop ends the service and returns how it ended: its input ends, which is all that most need; what
// runs on after the grace is asked to end, and killed after another. It may be called more than once.
func (s *Service) Stop() (Result, error) {
	_ = s.Stdin.Close() // it may be closed already
	if !await(s.done, s.grace) {
		s.tree.kill()
		<-s.done
	}
	_ = s.Stdout.Close()
	return s.res, s.err
}

// tail keeps the end of what comes out of a pipe.
type tail struct {
	ended chan struct{} // closed at the end of the pipe

	mu   sync.Mutex
	data []byte
}

// keepTail reads a pipe to its end, which comes with that of all who could write to it.
func keepTail(out *os.File) *tail {
	t := &tail{ended: make(chan struct{})}
	go func() {
		defer close(t.ended)
		defer func() { _ = out.Close() }() // it was only read
		buf := make([]byte, 16<<10)
		for {
			n, err := out.Read(buf)
			t.add(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	return t
}

func (t *tail) add(piece []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, piece...)
	if over := len(t.data) - maxErrorOutput; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data), "")
}
