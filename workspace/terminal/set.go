package terminal

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
)

// Options are the surroundings of a [Set].
type Options struct {
	Runner  *sandbox.Runner
	Env     []string // of terminals, as name=value
	Shell   string   // the user's preferred shell, a path or a name; "" is the default
	IDs     *lathe.IDs
	Publish func(...lathe.Event) // publishes events
	Max     int                  // terminals at a time; 0 is 50
	// Confine says what the terminals of a directory are confined to; nil is nothing.
	Confine func(workspace.Place) (sandbox.Profile, error)
}

// Set is all terminals of this process.
type Set struct {
	Options
	work sync.WaitGroup // the readers

	mu       sync.Mutex // guards the fields below
	all      map[lathe.PtyID]*Terminal
	opened   []lathe.PtyID // in the order they were made
	starting int           // that are being started
	closed   bool
}

// Open makes a set. It starts nothing.
func Open(o Options) *Set {
	if o.Max <= 0 {
		o.Max = 50
	}
	return &Set{Options: o, all: map[lathe.PtyID]*Terminal{}}
}

// CreateOptions are the optional settings of a terminal.
type CreateOptions struct {
	Command string // a path, or a name on the PATH; "" is the user's shell
	Args    []string
	Dir     string // from the place's directory, if it is relative
	Title   string
	Env     map[string]string
}

// Create starts a terminal in a directory and publishes it.
func (s *Set) Create(at workspace.Place, in CreateOptions) (lathe.Pty, error) {
	c, err := s.command(at, in)
	if err != nil {
		return lathe.Pty{}, err
	}
	if err := s.begin(); err != nil {
		return lathe.Pty{}, err
	}
	defer s.began()
	run, err := s.Runner.Terminal(c, 24, 80)
	if err != nil {
		code := lathe.Unavailable
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			code = lathe.Invalid
		}
		return lathe.Pty{}, lathe.Errorf(code, "open a terminal: %w", err)
	}
	id := lathe.PtyID(s.IDs.New(lathe.PrefixPty))
	t := &Terminal{set: s, at: at, run: run, info: lathe.Pty{
		ID: id, Title: in.Title, Command: c.Path, Args: c.Args, Cwd: c.Dir, Status: "running", PID: run.PID(),
	}}
	if t.info.Title == "" {
		t.info.Title = "Terminal " + string(id[len(id)-4:])
	}
	info := t.info
	if !s.enter(t) {
		run.Stop()
		return lathe.Pty{}, errClosed
	}
	s.publish(at, &lathe.PtyCreated{Info: info})
	go t.follow()
	return info, nil
}

var errClosed = lathe.Errorf(lathe.Unavailable, "the server ends; no terminals are opened any more")

// begin counts a terminal that is being started, if one more may be.
func (s *Set) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed
	case len(s.all)+s.starting >= s.Max:
		return lathe.Errorf(lathe.Limited, "there are %d terminals already; close one of them first", s.Max)
	}
	s.starting++
	return nil
}

func (s *Set) began() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting--
}

func (s *Set) enter(t *Terminal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.all[t.info.ID] = t
	s.opened = append(s.opened, t.info.ID)
	s.work.Add(1)
	return true
}

// leave takes a terminal out and reports whether it was in.
func (s *Set) leave(id lathe.PtyID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[id] == nil {
		return false
	}
	delete(s.all, id)
	s.opened = slices.DeleteFunc(s.opened, func(one lathe.PtyID) bool { return one == id })
	return true
}

// List returns the terminals of a directory that run, the oldest first.
func (s *Set) List(dir string) []lathe.Pty {
	s.mu.Lock()
	var some []*Terminal
	for _, id := range s.opened {
		if t := s.all[id]; t.at.Directory == dir {
			some = append(some, t)
		}
	}
	s.mu.Unlock()
	out := make([]lathe.Pty, 0, len(some))
	for _, t := range some {
		out = append(out, t.Info())
	}
	return out
}

// Find returns a terminal of a directory; nil means that none of that id runs there.
func (s *Set) Find(dir string, id lathe.PtyID) *Terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.all[id]; t != nil && t.at.Directory == dir {
		return t
	}
	return nil
}

// Close ends all terminals with what they started, and waits for that.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	var rest []*Terminal
	for _, t := range s.all {
		rest = append(rest, t)
	}
	s.mu.Unlock()
	for _, t := range rest {
		go t.run.Stop() // its reader waits for the end of it
	}
	s.work.Wait()
	return nil
}

func (s *Set) publish(at workspace.Place, f lathe.Fact) {
	s.Publish(lathe.Event{ID: s.IDs.Event(), Directory: at.Directory, Project: at.ProjectID, Fact: f})
}

// The limits of what a terminal may be given.
const (
	mostArgs  = 1000
	mostEnv   = 1000
	mostBytes = 96 << 10 // of each of them together
	mostTitle = 200
)

// command checks what a terminal is given, and completes it.
func (s *Set) command(at workspace.Place, in CreateOptions) (sandbox.Command, error) {
	c := sandbox.Command{Dir: at.Directory, Args: in.Args, UserTyped: true}
	if err := in.check(); err != nil {
		return c, err
	}
	if in.Dir != "" {
		c.Dir = absolute(at.Directory, in.Dir)
	}
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return c, lathe.Errorf(lathe.Invalid, "cwd: %s is not a directory that can be used", c.Dir)
	}
	name := in.Command
	if name == "" {
		name = s.shell()
	}
	if c.Path = environ.Find(s.Env, c.Dir, name); c.Path == "" {
		return c, lathe.Errorf(lathe.Invalid, "command: program %q not found; give its path, or a name on the server's PATH", name)
	}
	if len(c.Args) == 0 && slices.Contains(login, shellName(c.Path)) {
		c.Args = []string{"-l"}
	}
	c.Env = s.environment(in.Env)
	if s.Confine != nil {
		var err error
		if c.Profile, err = s.Confine(at); err != nil {
			return c, lathe.Errorf(lathe.Unavailable, "open a terminal: %w", err)
		}
	}
	return c, nil
}

func (in CreateOptions) check() error {
	size := 0
	for name, value := range in.Env {
		size += len(name) + len(value)
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return lathe.Errorf(lathe.Invalid, "env: %q is not a variable name, or its value has a null byte", name)
		}
	}
	if len(in.Env) > mostEnv || size > mostBytes {
		return lathe.Errorf(lathe.Invalid, "env: more than %d variables, or more than %d bytes", mostEnv, mostBytes)
	}
	size = 0
	for _, a := range in.Args {
		size += len(a)
	}
	text := strings.Join(in.Args, "") + in.Command + in.Dir
	switch {
	case len(in.Args) > mostArgs || size > mostBytes:
		return lathe.Errorf(lathe.Invalid, "args: more than %d, or more than %d bytes", mostArgs, mostBytes)
	case len(in.Command)+len(in.Dir) > 8192:
		return lathe.Errorf(lathe.Invalid, "command, cwd: longer than any path")
	case strings.ContainsRune(text, 0):
		return lathe.Errorf(lathe.Invalid, "command, args, cwd: a null byte, which no path and no argument has")
	}
	return checkTitle(in.Title)
}

func checkTitle(title string) error {
	if len(title) > mostTitle {
		return lathe.Errorf(lathe.Invalid, "title: longer than %d bytes", mostTitle)
	}
	return nil
}
