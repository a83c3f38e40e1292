package sandbox

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/signal"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// The launcher gets its orders in its arguments (launchWord, its grace in milliseconds, the
// request for a sandbox or "", the directory, the program and the arguments of the command) and
// over a socket. Its environment and its input and output are the command's.

const (
	launchWord = "__sandbox-launch"
	ownWord    = "__sandbox-own" // the same for a command that may use our server; see PeerChecker

	controlFD = 3 // the socket to the process that started us
	drainFD   = 4 // the other side of the output, for a command whose rest may be let go
	networkFD = 5 // the socket to lathe for a launcher in its own network
)

// Self is the program that runs, as a [Config.Launcher]: also where its file was replaced since.
func Self() string { return "/proc/self/exe" }

// order is an instruction to the launcher.
type order string

const (
	orderKill  order = "kill"  // end all
	orderRest  order = "rest"  // say what runs
	orderLeave order = "leave" // live on when we are gone
)

// report is a message of the launcher; one member is set.
type report struct {
	PID     int       `json:"pid,omitempty"`     // it was started
	Sandbox *Report   `json:"sandbox,omitempty"` // and confined
	Errno   int       `json:"errno,omitempty"`   // it was not
	Text    string    `json:"text,omitempty"`    // it could not be confined
	Late    bool      `json:"late,omitempty"`    // its fence had expired
	Mount   bool      `json:"mount,omitempty"`   // for want of mounts
	Network string    `json:"network,omitempty"` // it could not have its own network
	Exit    *wstatus  `json:"exit,omitempty"`    // it has ended
	Rest    []Process `json:"rest,omitempty"`    // running processes
	Empty   bool      `json:"empty,omitempty"`   // nothing runs
	Bye     bool      `json:"bye,omitempty"`     // nothing runs any more, and all is cleared away
}

type wstatus struct {
	Code   int      `json:"code"`
	Signal string   `json:"signal,omitempty"`
	Undone []string `json:"undone,omitempty"` // the protected names that were put back
	Lost   string   `json:"lost,omitempty"`   // why some were not
}

// Launch is the whole life of a process that was started as launcher: main calls it with
// os.Args and os.Environ before anything else, and exits with its code if the process is one.
// In any other process it costs a comparison.
func Launch(args []string, environ func() []string) (exit int, mine bool) {
	if len(args) == 3 && args[1] == overlayWord {
		return tryOverlay(args[2]), true
	}
	switch {
	case len(args) < 2 || args[1] != launchWord && args[1] != ownWord && args[1] != initWord && args[1] != limitWord:
		return 0, false
	case args[1] == initWord:
		return beInit(args[2:]), true
	case args[1] == limitWord && len(args) >= 4:
		return limit(args[2:], environ()), true
	case len(args) < 6 || args[1] == limitWord:
		return 2, true
	}
	// The command gets a signal when the thread that started it dies, so that thread must live
	// on.
	runtime.LockOSThread()
	l, err := newLauncher(args[2])
	if err != nil {
		return 2, true
	}
	l.run(args[3], args[4], args[5:], environ())
	return 0, true
}

// launcher looks after one command.
type launcher struct {
	control *os.File
	parent  int
	grace   time.Duration
	command int // its pid

	orders  chan order    // closed when no more orders can come
	ended   chan wstatus  // of the command itself
	empty   chan struct{} // closed when the last process is collected
	ordered <-chan order  // the same until then
	leave   bool          // no process's death is a reason to kill
	over    bool          // the command has ended

	killing time.Time     // SIGKILL from then on; zero means that nothing is killed
	until   time.Duration // ends all at that time of [fence.Now]; 0 has no limit

	guard        *guard   // of protected names; nil where there are none
	placeholders standIns // for those that do not exist

	shared *membership // finds its processes in a session; nil: all below us
}

func newLauncher(times string) (*launcher, error) {
	grace, until, err := parseTimes(times)
	if err != nil {
		return nil, err
	}
	kind, err := unix.GetsockoptInt(controlFD, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_SEQPACKET {
		return nil, errors.New("started by hand")
	}
	unix.CloseOnExec(controlFD)
	unix.CloseOnExec(drainFD) // it may not be there
	// Also what others let us inherit by mistake; older systems cannot.
	_ = unix.CloseRange(controlFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err := unix.SetNonblock(controlFD, true); err != nil {
		return nil, err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	// The end of the socket tells the same. This one comes as well, should a process hold a copy
	// of its other end. It also comes when only a thread has ended; see signaled.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGUSR1), 0, 0, 0); err != nil {
		return nil, err
	}
	return &launcher{
		control: os.NewFile(controlFD, "control"), parent: os.Getppid(), grace: grace, until: until,
		orders: make(chan order), ended: make(chan wstatus, 1), empty: make(chan struct{}),
	}, nil
}

func (l *launcher) run(request, dir string, argv, env []string) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGUSR1, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	first := l.start(request, dir, argv, env)
	if first.PID == 0 {
		l.sendReport(first)
		return
	}
	l.command = first.PID
	letGoOfOutput()
	l.sendReport(first)
	go l.collect()
	go l.listen()
	l.loop(signals)
	l.restore(nil)
	l.placeholders.leave()
	unix.Exit(0) // at once: in a program with the race detector the usual way takes a second
}

// start starts the command and reports the result.
func (l *launcher) start(sandbox, dir string, argv, env []string) report {
	if l.isLate() {
		return report{Late: true}
	}
	var r request
	if sandbox != "" {
		if err := json.Unmarshal([]byte(sandbox), &r); err != nil {
			return report{Text: "read the profile: " + err.Error()}
		}
	}
	if r.OwnNetwork {
		if err := serveNetwork(networkFD); err != nil {
			return report{Network: err.Error()}
		}
	}
	c := commandStart{dir: dir, argv: r.Profile.Limits.limited(argv), env: env, streams: [3]int{0, 1, 2}, mortal: true}
	if !r.Profile.Confined() {
		pid, err := c.fork()
		if err != nil {
			return report{Errno: number(err)}
		}
		return report{PID: pid}
	}
	s, f := startConfined(r, c)
	if f.failed() {
		return report{Errno: f.errno, Text: f.text}
	}
	l.guard, l.placeholders = s.guard, s.placeholders
	return report{PID: s.pid, Sandbox: &s.report}
}

// restore puts protected names back and says which.
func (l *launcher) restore(s *wstatus) {
	if l.guard == nil {
		return
	}
	names, err := l.guard.restore()
	if s == nil {
		return
	}
	const most, longest = 10, 500 // it must fit into one report
	for _, name := range names[:min(len(names), most)] {
		s.Undone = append(s.Undone, name[:min(len(name), longest)])
	}
	if err != nil {
		s.Lost = err.Error()
		s.Lost = s.Lost[:min(len(s.Lost), longest)]
	}
}

// finish tells how the command ended, once the protected names are as they were. If it was the
// last of its processes, which is known in a moment if it is, nothing is done to them afterwards:
// what is made under them from then on is the user's.
func (l *launcher) finish(s wstatus) {
	if l.guard == nil {
		l.sendReport(report{Exit: &s})
		return
	}
	last := false
	select {
	case <-l.empty:
		last = true
	case <-time.After(time.Millisecond):
	}
	l.restore(&s)
	if last {
		l.placeholders.leave()
		l.guard = nil
	}
	l.sendReport(report{Exit: &s})
}

// letGoOfOutput leaves the output to the command, so that it ends when the command has.
func letGoOfOutput() {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil {
			_ = unix.Close(fd)
		} else {
			_ = unix.Dup3(null, fd, 0)
		}
	}
}

// collect waits for every process that has no other parent, until there is none. None can come
// after that: who could make one is gone.
func (l *launcher) collect() {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			close(l.empty)
			return
		case pid == l.command:
			l.claim(ws)
		}
	}
}

func (l *launcher) listen() {
	defer close(l.orders)
	buf := make([]byte, 64)
	for {
		n, err := l.control.Read(buf)
		if err != nil {
			return
		}
		l.orders <- order(buf[:n])
	}
}

func (l *launcher) sendReport(r report) {
	if b, err := json.Marshal(r); err == nil {
		_, _ = l.control.Write(b) // to the dead there is nothing to say
	}
}

// members are the processes that are not dead.
func (l *launcher) members() []int {
	if l.shared != nil {
		return l.shared.members()
	}
	return descendants(os.Getpid())
}

// lookEmpty finds out whether the last process of a command in a session has ended.
func (l *launcher) lookEmpty() {
	if l.shared == nil || !l.over || !l.shared.none() {
		return
	}
	select {
	case <-l.empty: // it is known
	default:
		close(l.empty)
	}
}

func (l *launcher) loop(signals <-chan os.Signal) {
	l.ordered = l.orders
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	fenced, stopFence := l.watchFence()
	defer stopFence()
	var stop, reaped chan struct{}
	if l.shared != nil {
		stop, reaped = l.shared.stop, l.shared.reaped
	}
	for {
		select {
		case s := <-l.ended:
			l.over = true
			l.lookEmpty()
			l.finish(s)
		case <-reaped:
			l.lookEmpty()
		case <-stop:
			stop = nil
			l.kill()
		case <-l.empty:
			select { // both may have come at once
			case s := <-l.ended:
				l.finish(s)
			default:
			}
			return
		case o, ok := <-l.ordered:
			l.obey(o, ok)
		case s := <-signals:
			l.handleSignal(s)
		case <-fenced:
			l.enforceFence()
		case <-tick.C:
			if !time.Now().Before(l.killing) {
				l.signal(unix.SIGKILL)
			}
		}
		if !l.killing.IsZero() {
			tick.Reset(5 * time.Millisecond)
		}
	}
}

func (l *launcher) obey(o order, ok bool) {
	switch {
	case !ok:
		l.ordered = nil
		if l.leave && l.over {
			go drain()
			return
		}
		l.kill()
	case o == orderKill:
		l.kill()
	case o.until() > 0:
		l.until = max(l.until, o.until())
	case o == orderLeave:
		l.leave = true
	case o == orderRest:
		rest := processes(l.members())
		l.sendReport(report{Rest: rest, Empty: len(rest) == 0})
	}
}

// handleSignal tells the death of our parent from that of the thread of it that started us.
func (l *launcher) handleSignal(s os.Signal) {
	if s == unix.SIGUSR1 && (os.Getppid() == l.parent || l.leave && l.over) {
		return
	}
	l.kill()
}

// kill asks every process to end, and lets the loop kill those that do not.
func (l *launcher) kill() {
	if l.killing.IsZero() {
		l.killing = time.Now().Add(l.grace)
		l.signal(unix.SIGTERM)
	}
}

// signal reaches all processes below us: orphans have become our children. One that is made
// while we look is found the next time.
func (l *launcher) signal(s unix.Signal) {
	below := l.members()
	for _, pid := range below {
		_ = unix.Kill(pid, s) // it may have ended
	}
	if len(below) == 0 && !l.over && l.shared == nil { // /proc is closed to us: the group is what we know
		_ = unix.Kill(-l.command, s)
	}
}

// drain keeps detached processes from blocking on an output without a reader.
func drain() {
	if unix.SetNonblock(drainFD, true) != nil {
		return
	}
	out := os.NewFile(drainFD, "output")
	buf := make([]byte, 4<<10)
	for {
		if _, err := out.Read(buf); err != nil {
			return
		}
	}
}
