package lsp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
)

// States of a server.
const (
	Starting = "starting"
	Running  = "running"
	Idle     = "idle" // ended because it was not used; the next edit starts it
	Off      = "off"  // not started again
)

const (
	startTime    = 45 * time.Second // for the answer to initialize
	baselineTime = 20 * time.Second // for the errors before the first change, while the server loads
	openTime     = time.Second      // for those of a file that is opened, when it has loaded
	maxDocuments = 64
)

// server is one program for one root: at most one process at a time, which all sessions share.
type server struct {
	set     *Servers
	launch  Launch
	project Project
	work    chan func(context.Context)
	// lifetime ends with the set.
	lifetime context.Context

	mu      sync.Mutex // guards the fields below
	state   string
	why     string  // it is off, or its last failure
	client  *client // nil unless it runs
	crashes int
	docs    map[string]*document
	told    map[string][]Diagnostic // errors that were there before, or were reported
	owners  map[string]string       // sessions that changed files last
	open    []*batch                // changes without reported results

	lastReport time.Time // of errors to a session
}

// document is a file that the server has open, as it was last sent.
type document struct {
	text string
	stat fileStamp
	used time.Time
}

// fileStamp shows whether a file on disk is still the one that was sent.
type fileStamp struct {
	size int64
	time time.Time
}

// stampOf looks at a file. One that does not exist has a size of its own.
func stampOf(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{size: -1}
	}
	return fileStamp{info.Size(), info.ModTime()}
}

// run is the goroutine that owns the process. It waits without a timer unless the process runs.
func (s *server) run() {
	idle := time.NewTimer(time.Hour)
	idle.Stop()
	defer s.end(Idle, "")
	for {
		var ended <-chan struct{}
		if c := s.current(); c != nil {
			ended = c.conn.Done()
		}
		select {
		case <-s.lifetime.Done():
			return
		case f := <-s.work:
			idle.Stop()
			f(s.lifetime)
			if s.current() != nil {
				idle.Reset(s.set.o.Idle)
			}
		case <-ended:
			s.recover(s.lifetime)
		case <-idle.C:
			s.end(Idle, "")
		}
	}
}

// current returns the client, nil unless the process runs.
func (s *server) current() *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// ensure returns a running client, and starts one if there is none.
func (s *server) ensure(ctx context.Context) (*client, error) {
	s.mu.Lock()
	c, state, why := s.client, s.state, s.why
	s.mu.Unlock()
	switch {
	case state == Off:
		return nil, errors.New(why)
	case c != nil && c.conn.Err() == nil:
		return c, nil
	case c != nil:
		s.recover(ctx)
		return s.ensureOnce()
	}
	s.setState(Starting, "")
	c, err := s.start(ctx)
	if err == nil {
		s.mu.Lock()
		s.client = c
		s.mu.Unlock()
		s.setState(Running, "")
		return c, nil
	}
	if ctx.Err() != nil {
		s.setState(Idle, "")
		return nil, err
	}
	s.crash(err.Error())
	if s.isOff() {
		return nil, err
	}
	return s.ensure(ctx)
}

// ensureOnce returns the client that recover has started.
func (s *server) ensureOnce() (*client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return nil, errors.New(s.why)
	}
	return s.client, nil
}

// isOff reports whether the server is not started again.
func (s *server) isOff() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == Off
}

// start starts the program and introduces us.
func (s *server) start(ctx context.Context) (*client, error) {
	o := &s.set.o
	profile, err := o.Confine(s.launch, s.project)
	if err != nil {
		return nil, err
	}
	// Even a server that executes nothing parses hostile files; only the sandbox limits a bug in it.
	if !s.project.Trusted && !profile.Confined() && !s.launch.definition.Custom {
		return nil, errors.New("it cannot be confined here, and the project is not trusted")
	}
	if profile.Limits.Memory == 0 {
		profile.Limits.Memory = uint64(s.project.Config.memory())
	}
	env := environ.With(o.Env, s.launch.Env)
	svc, err := o.Runner.Start(sandbox.Command{Path: s.launch.Command[0], Args: s.launch.Command[1:], Dir: s.launch.Root, Env: env, Profile: profile})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Start, fmt.Errorf("it did not answer within %s", o.Start))
	defer cancel()
	c, err := dial(ctx, s.launch, svc, clientHooks{diagnosed: s.noteDiagnostics, pulls: func(c *client, open []string) {
		s.set.group.Go(func() { s.pullAll(s.lifetime, c, open) })
	}})
	if err != nil {
		res, _ := c.stop()
		return nil, fmt.Errorf("%w%s", err, ending(res, svc.Stderr(), s.project.Config.memory()))
	}
	return c, nil
}

// noteDiagnostics publishes that the diagnostics of a file have changed.
func (s *server) noteDiagnostics(path string) {
	if s.project.contains(path) {
		s.set.events.add(s, path)
	}
}

// ending says how a program ended and what it said last.
func ending(res sandbox.Result, stderr string, memory int64) string {
	out := ""
	switch {
	case res.Signal != "":
		out = "; ended by " + res.Signal
	case res.Exit > 0:
		out = fmt.Sprintf("; ended with code %d", res.Exit)
	}
	if said := clean(lastWords(stderr), 200); said != "" {
		out += ": " + said
	}
	low := strings.ToLower(stderr)
	for _, word := range []string{"out of memory", "cannot allocate", "failed to allocate", "allocation failed", "enomem", "bad_alloc", "pthread_create failed"} {
		if strings.Contains(low, word) {
			return out + fmt.Sprintf(" (its memory is limited to %s, see lsp.memory)", phrase.Size(memory))
		}
	}
	return out
}

// lastWords is the line of an error output that says most: the first about an error, else the last.
func lastWords(stderr string) (last string) {
	for line := range strings.Lines(stderr) {
		low := strings.ToLower(line)
		for _, word := range []string{"panic:", "fatal", "error:", "exception"} {
			if strings.Contains(low, word) {
				return line
			}
		}
		if strings.TrimSpace(line) != "" {
			last = line
		}
	}
	return last
}

// crash counts a failure. The second one switches the server off, with a notice.
func (s *server) crash(why string) {
	s.mu.Lock()
	s.crashes++
	off := s.crashes > 1
	s.mu.Unlock()
	s.set.o.Log.Warn("language server failed", "server", s.launch.ID, "root", s.launch.Root, "error", clean(why, 500))
	if !off {
		s.setState(Idle, why)
		return
	}
	why = clean(why, maxText)
	s.setState(Off, "is off, since it failed twice: "+why)
	s.set.notice("The language server "+s.launch.ID+" is off", "It failed twice in "+s.launch.Root+" and is not started again: "+why)
}

// recover ends what is left of a client and starts another with the same documents, once.
func (s *server) recover(ctx context.Context) {
	s.mu.Lock()
	c := s.client
	s.client = nil
	docs := maps.Clone(s.docs)
	s.mu.Unlock()
	if c == nil {
		return
	}
	cause := c.conn.Err()
	res, _ := c.stop() // it ended by itself
	s.crash("it ended" + ending(res, c.service.Stderr(), s.project.Config.memory()) + closeReason(cause))
	if s.isOff() {
		return
	}
	next, err := s.ensure(ctx)
	if err != nil {
		return
	}
	// The new process gets the same texts, so that the changes that wait for results still get them.
	for path, d := range docs {
		_ = next.open(ctx, path, d.text) // or it fails again, which counts
	}
	s.resend(next)
}

// closeReason is why a conversation ended, if it was the other side's fault.
func closeReason(err error) string {
	if err == nil || strings.HasSuffix(err.Error(), "by the other side") {
		return ""
	}
	return ": " + clean(err.Error(), 100)
}

// end stops the process.
func (s *server) end(state, why string) {
	s.mu.Lock()
	c := s.client
	s.client = nil
	s.docs, s.open = map[string]*document{}, nil
	if s.state == Off {
		state, why = s.state, s.why
	}
	s.mu.Unlock()
	if c != nil {
		if _, err := c.stop(); err != nil {
			s.set.o.Log.Debug("language server ended", "server", s.launch.ID, "error", err)
		}
		s.setState(state, why)
	}
}

// setState changes the state and tells clients, unless nothing changed.
func (s *server) setState(state, why string) {
	s.mu.Lock()
	same := s.state == state && s.why == why
	s.state, s.why = state, why
	s.mu.Unlock()
	if !same {
		s.set.o.Updated(s.project.Directory)
	}
}

// post gives work to the goroutine of the server; false if it is busy with too much.
func (s *server) post(f func(context.Context)) bool {
	select {
	case s.work <- f:
		return true
	default:
		return false
	}
}

// forgetOldest closes documents beyond the limit.
func (s *server) forgetOldest(ctx context.Context, c *client) {
	s.mu.Lock()
	var gone []string
	for len(s.docs) > maxDocuments {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.docs)), func(a, b string) int { return s.docs[a].used.Compare(s.docs[b].used) })
		delete(s.docs, oldest)
		gone = append(gone, oldest)
	}
	s.mu.Unlock()
	for _, path := range gone {
		_ = c.closeFile(ctx, path) // or it has ended
	}
}
