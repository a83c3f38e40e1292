package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// launchTime is how long a launcher may take to say that it runs: ages, for a busy machine.
const launchTime = 30 * time.Second

func (r *Runner) start(c Command, s streams) (tree, error) {
	switch {
	case r.launcher != "":
		return r.launch(c, s)
	case !c.Profile.zero():
		return nil, fmt.Errorf("%w: the runner has no launcher", ErrUnavailable)
	}
	return startGroup(c, s, r.grace)
}

// request is what the launcher is told of the sandbox; "" is that there is none.
func (r *Runner) request(p Profile) (string, error) {
	if p.zero() {
		return "", nil
	}
	k := r.Kernel()
	if p.Confined() {
		if err := k.Available(p.Strict); err != nil {
			return "", err
		}
	}
	k.Mounts = k.Mounts && !r.noMounts.Load()
	b, err := json.Marshal(request{Profile: p, Kernel: k})
	return string(b), err
}

func probe() Kernel { return Kernel{Landlock: landlockVersion(), Mounts: true} }

// launched is a tree with a launcher at its root.
type launched struct {
	launcher *os.Process // nil where it is the first process of a session
	session  *session
	control  *os.File
	pid      int // of the command
	sandbox  *Report
	profile  Profile

	over   chan struct{}
	how    status // valid when over is closed
	empty  chan struct{}
	listed chan []Process
}

func (r *Runner) launch(c Command, s streams) (tree, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("a socket for the launcher: %w", err)
	}
	_ = unix.SetNonblock(pair[0], true) // so that reading it can have an end
	ours, theirs := os.NewFile(uintptr(pair[0]), "control"), os.NewFile(uintptr(pair[1]), "control")
	defer func() { _ = theirs.Close() }()
	t := &launched{control: ours, over: make(chan struct{}), empty: make(chan struct{}), listed: make(chan []Process)}
	err = errNoSession
	if r.shares(c) {
		err = t.join(r, c, theirs, s)
	}
	if errors.Is(err, errNoSession) {
		err = t.begin(r, c, theirs, s)
	}
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	go t.listen()
	return t, nil
}

// pipe makes one whose reader can be given up, and whose writer blocks as programs expect.
func pipe() (out, in *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	_ = unix.SetNonblock(fds[0], true)
	return os.NewFile(uintptr(fds[0]), "output"), os.NewFile(uintptr(fds[1]), "output"), nil
}

// errNoSession is that a command is to be started without sharing the processes of a session.
var errNoSession = errors.New("no session")

// join starts the command in its session.
func (t *launched) join(r *Runner, c Command, theirs *os.File, s streams) error {
	in, done, err := r.use(c.Profile.Session)
	if err != nil {
		done()
		r.noSessions.Store(true) // it costs time to try
		return errNoSession
	}
	k := r.Kernel()
	if err := k.Available(c.Profile.Strict); err != nil {
		done()
		return err
	}
	err = in.send(errand{
		Grace: r.grace, Request: request{Profile: c.Profile, Kernel: k}, Dir: c.Dir, Args: append([]string{c.Path}, c.Args...), Env: c.environment(),
	}, s.in, s.out, s.err, theirs)
	if err != nil {
		done()
		return fmt.Errorf("start the command in its session: %w", err)
	}
	_ = theirs.Close() // or its death would not be noticed
	t.session = in
	first, err := t.first()
	switch {
	case err == nil && first.PID > 0:
		t.take(first, c.Profile)
		go func() {
			<-t.empty
			done()
		}()
		return nil
	case first.Mount:
		err = errNoSession
	default:
		err = first.reason(err)
	}
	done()
	c.Profile.sweep()
	return err
}

// first hears whether the command was started.
func (t *launched) first() (first report, err error) {
	_ = t.control.SetReadDeadline(time.Now().Add(launchTime))
	err = t.hear(&first)
	_ = t.control.SetReadDeadline(time.Time{})
	return first, err
}

// take is that it was.
func (t *launched) take(first report, p Profile) {
	t.pid, t.sandbox, t.profile = first.PID, first.Sandbox, p
}

// reason is why it was not, as far as that was told.
func (r report) reason(err error) error {
	switch {
	case r.Errno > 0:
		return syscall.Errno(r.Errno)
	case r.Text != "":
		return fmt.Errorf("%w: %s", ErrUnavailable, r.Text)
	}
	return err
}

// begin starts the launcher and waits until it has started the command.
func (t *launched) begin(r *Runner, c Command, theirs *os.File, s streams) error {
	files := []*os.File{s.in, s.out, s.err, theirs}
	if s.drain != nil {
		files = append(files, s.drain)
	}
	confined, err := r.request(c.Profile)
	if err != nil {
		return err
	}
	argv := append([]string{"lathe", c.launchWord(), strconv.FormatInt(r.grace.Milliseconds(), 10), confined, c.Dir, c.Path}, c.Args...)
	t.launcher, err = os.StartProcess(r.launcher, argv, &os.ProcAttr{
		Dir: "/", Env: c.environment(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	_ = theirs.Close() // or its death would not be noticed
	first, err := t.first()
	if err == nil && first.PID > 0 {
		t.take(first, c.Profile)
		if first.Sandbox != nil && first.Sandbox.Guard == Restored {
			r.noMounts.Store(true) // trying costs time
		}
		return nil
	}
	_ = t.launcher.Kill()
	_, _ = t.launcher.Wait()
	c.Profile.sweep()
	if first.Errno > 0 || first.Text != "" {
		return first.reason(nil)
	}
	return fmt.Errorf("the launcher %s did not start the command (does its main call sandbox.Launch?): %w", r.launcher, err)
}

func (c Command) launchWord() string {
	if c.Own && !c.Profile.Confined() {
		return ownWord
	}
	return launchWord
}

func (t *launched) hear(r *report) error {
	buf := make([]byte, 16<<10)
	n, err := t.control.Read(buf)
	if err != nil {
		return err
	}
	return json.Unmarshal(buf[:n], r)
}

// listen hears what the launcher says, to its end.
func (t *launched) listen() {
	known, cleared := false, false
	for !cleared {
		var r report
		if err := t.hear(&r); err != nil {
			break
		}
		switch {
		case r.Exit != nil && !known:
			known = true
			t.how = status{code: r.Exit.Code, signal: r.Exit.Signal, undone: r.Exit.Undone, lost: r.Exit.Lost}
			close(t.over)
		case r.Rest != nil || r.Empty:
			t.listed <- r.Rest
		case r.Bye:
			cleared = true
		}
	}
	_ = t.control.Close()
	var state *os.ProcessState
	var err error
	if t.launcher != nil {
		state, err = t.launcher.Wait()
		cleared = state != nil && state.Success()
	} else if !cleared {
		t.session.end() // it is gone, or soon is, and with it all that it looked after
	}
	if !known {
		if t.launcher != nil { // somebody killed it: its group is all that can be found now
			_ = unix.Kill(-t.pid, unix.SIGKILL)
		}
		t.how = status{code: -1, err: fmt.Errorf("the process that looks after the command has ended before it (%v); the command was killed", errors.Join(err, stateError(state)))}
		close(t.over)
	}
	if !cleared { // it could not do this itself
		t.profile.sweep()
	}
	close(t.empty)
}

func stateError(s *os.ProcessState) error {
	if s == nil {
		return nil
	}
	return errors.New(s.String())
}

func (t *launched) exited() <-chan struct{} { return t.over }

func (t *launched) status() status { return t.how }

func (t *launched) confined() *Report { return t.sandbox }

func (t *launched) gone() <-chan struct{} { return t.empty }

func (t *launched) kill() { t.order(orderKill) }

func (t *launched) letGo() { t.order(orderLeave) }

func (t *launched) order(o order) { _, _ = t.control.Write([]byte(o)) } // a launcher that is gone has nothing to do

func (t *launched) rest() []Process {
	t.order(orderRest)
	select {
	case list := <-t.listed:
		return list
	case <-t.empty:
		return nil
	}
}
