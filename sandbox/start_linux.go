package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
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

// request describes the sandbox to the launcher.
func (r *Runner) request(p Profile, own bool) (request, error) {
	k := r.Kernel()
	if p.Confined() {
		if err := k.Available(p.Strict); err != nil {
			return request{}, err
		}
	}
	k.Mounts = k.Mounts && p.Confined()
	return request{Profile: p, Kernel: k, OwnNetwork: own}, nil
}

// argument is that as an argument; "" means that there is no sandbox.
func (r request) argument() (string, error) {
	if r.Profile.zero() {
		return "", nil
	}
	b, err := json.Marshal(r)
	return string(b), err
}

func probe() Kernel { return Kernel{Landlock: landlockVersion(), Mounts: true, Networks: true} }

// launched is a tree with a launcher at its root.
type launched struct {
	launcher *os.Process // nil where it is the first process of a session
	session  *session
	control  *os.File
	pid      int // of the command
	profile  Profile
	network  *network // nil is the one of its user

	course
	listed chan []Process
	fenced bool // the launcher ends it at a limit that we extend
}

func (r *Runner) launch(c Command, s streams) (tree, error) {
	own := r.ownNetwork(c.Profile)
	if c.Profile.Confined() && len(c.Profile.Network.Hosts) > 0 && !own {
		return nil, errNoNetwork
	}
	t, err := r.launchIn(own, c, s)
	if errors.Is(err, errNoNetwork) && c.Profile.Network.None() { // the filter of system calls can do that much
		r.noNetworks.Store(true)
		t, err = r.launchIn(false, c, s)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ownNetwork reports whether a command gets its own network.
func (r *Runner) ownNetwork(p Profile) bool {
	return p.Confined() && p.Network.Limited && r.Kernel().Networks && !r.noNetworks.Load()
}

// launchIn starts a command below its launcher, in its own network or that of its user.
func (r *Runner) launchIn(own bool, c Command, s streams) (*launched, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("a socket for the launcher: %w", err)
	}
	_ = unix.SetNonblock(pair[0], true) // so that reading it can have an end
	ours, theirs := os.NewFile(uintptr(pair[0]), "control"), os.NewFile(uintptr(pair[1]), "control")
	defer func() { _ = theirs.Close() }()
	t := &launched{control: ours, course: newCourse(), listed: make(chan []Process), fenced: c.until > 0}
	err = errNoSession
	if r.shares(c) {
		err = t.join(r, c, own, theirs, s)
	}
	if errors.Is(err, errNoSession) {
		if err = c.Profile.makeWork(); err == nil {
			err = t.begin(r, c, own, theirs, s)
		}
		if err != nil {
			c.Profile.removeWork()
		}
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

// errNoSession says that a command must start without sharing the processes of a session.
var errNoSession = errors.New("no session")

// join starts the command in its session.
func (t *launched) join(r *Runner, c Command, own bool, theirs *os.File, s streams) error {
	in, done, err := r.use(newSessionKey(c.Profile, own))
	if err != nil {
		done()
		if !own { // else it may be the network that cannot be had
			r.noSessions.Store(true) // it costs time to try
		}
		return errNoSession
	}
	env := c.environment()
	if own {
		env = c.Profile.Network.proxied(env)
	}
	k := r.Kernel()
	if err := k.Available(c.Profile.Strict); err != nil {
		done()
		return err
	}
	profile, drop := r.share(in, c.Profile)
	err = in.send(initTask{
		Grace: r.grace, Until: c.until, Request: request{Profile: profile, Kernel: k, OwnNetwork: own}, Dir: c.Dir, Args: append([]string{c.Path}, c.Args...), Env: env, Drop: drop,
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
	err = t.receive(&first)
	_ = t.control.SetReadDeadline(time.Time{})
	return first, err
}

// take says that it was. The lists are copied: what the launcher leaves is removed after its
// caller may have changed them for the next command.
func (t *launched) take(first report, p Profile) {
	p.Mounts, p.Protect, p.Files = slices.Clone(p.Mounts), slices.Clone(p.Protect), slices.Clone(p.Files)
	t.pid, t.report, t.profile = first.PID, first.Sandbox, p
}

// reason is why it was not, as far as reported.
func (r report) reason(err error) error {
	switch {
	case r.Late:
		return errLate
	case r.Errno > 0:
		return syscall.Errno(r.Errno)
	case r.Network != "":
		return fmt.Errorf("%w: %s", errNoNetwork, r.Network)
	case r.Text != "":
		return fmt.Errorf("%w: %s", ErrUnavailable, r.Text)
	}
	return err
}

// begin starts the launcher and waits until it has started the command.
func (t *launched) begin(r *Runner, c Command, own bool, theirs *os.File, s streams) (err error) {
	if own {
		if t.network, err = newNetwork(c.Profile.Network, r.never); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				t.network.close()
			}
		}()
	}
	request, err := r.request(c.Profile, own)
	if err != nil {
		return err
	}
	err = t.startLauncher(r, c, request, theirs, s)
	if request.Kernel.Mounts && t.network == nil && err != nil && !tooLong(err) { // there may be no other users
		r.noMounts.Store(true)
		request.Kernel.Mounts = false
		err = t.startLauncher(r, c, request, theirs, s)
	}
	if err != nil && t.network != nil {
		return fmt.Errorf("%w: %w", errNoNetwork, err)
	}
	if err != nil {
		return err
	}
	_ = theirs.Close() // or its death would not be noticed
	first, err := t.first()
	if err == nil && first.PID > 0 && t.network != nil {
		if err = t.network.begin(); err != nil {
			first = report{Network: err.Error()}
		}
	}
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
	if first.Late || first.Errno > 0 || first.Text != "" || first.Network != "" {
		return first.reason(nil)
	}
	return fmt.Errorf("the launcher %s did not start the command (does its main call sandbox.Launch?): %w", r.launcher, err)
}

// startLauncher starts the process.
func (t *launched) startLauncher(r *Runner, c Command, request request, theirs *os.File, s streams) error {
	files := []*os.File{s.in, s.out, s.err, theirs, s.drain}
	sys, env := &syscall.SysProcAttr{Setsid: true}, c.environment()
	if t.network != nil {
		files, env = append(files, t.network.theirs), c.Profile.Network.proxied(env)
		sys.Cloneflags = unix.CLONE_NEWNET
	}
	if t.network != nil || request.Kernel.Mounts {
		ownUsers(sys)
	}
	confined, err := request.argument()
	if err != nil {
		return err
	}
	argv := append([]string{"lathe", c.launchWord(), launchTimes(r.grace, c.until), confined, c.Dir, c.Path}, c.Args...)
	t.launcher, err = os.StartProcess(r.launcher, argv, &os.ProcAttr{Dir: "/", Env: env, Files: files, Sys: sys})
	return err
}

func (c Command) launchWord() string {
	if c.UserTyped && !c.Profile.Confined() {
		return ownWord
	}
	return launchWord
}

func (t *launched) receive(r *report) error {
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
		if err := t.receive(&r); err != nil {
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
		if t.launcher != nil { // it was killed: only its process group can still be found
			_ = unix.Kill(-t.pid, unix.SIGKILL)
		}
		t.how = status{code: -1, err: fmt.Errorf("the process that looks after the command has ended before it (%v); the command was killed", errors.Join(err, stateError(state)))}
		close(t.over)
	}
	if !cleared { // it could not do this itself
		t.profile.sweep()
	}
	if t.network != nil {
		t.network.close()
	}
	if t.launcher != nil {
		t.profile.removeWork() // a session removes its own
	}
	close(t.empty)
}

// errNoNetwork says that a command cannot have its own network.
var errNoNetwork = fmt.Errorf("%w: the setting sandbox.network lists hosts, which needs network namespaces, and this system does not let you make one", ErrUnavailable)

// notes are the notices about the network since the last time.
func (t *launched) notes() []string {
	switch {
	case t.network != nil:
		return t.network.notes.take()
	case t.session != nil && t.session.network != nil:
		return t.session.network.notes.take()
	}
	return nil
}

func stateError(s *os.ProcessState) error {
	if s == nil {
		return nil
	}
	return errors.New(s.String())
}

// beat moves the limit of a fenced command. A launcher that does not read its orders ends the command instead.
func (t *launched) beat(until time.Duration) {
	if !t.fenced {
		return
	}
	raw, err := t.control.SyscallConn()
	if err != nil {
		return // it has ended
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.Send(int(fd), []byte(beatOrder(until)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	})
}

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
