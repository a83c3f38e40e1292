// Package sandbox runs a command and owns its process group, its deadline, its output, and
// every process it leaves behind.
//
// On Linux a command is the child of a launcher, which is this program started again (see
// [Launch]). Orphans of the command become children of the launcher, however they detached, so
// it can end them all: on request, and when the program that started it dies for any reason.
// Elsewhere it has only the process group (Unix) or the job object (Windows): on Unix it cannot
// find a process that left its group, and nothing ends a command whose starter was killed.
//
// It does not decide what may run, knows no tool, and reads no environment: a command has the
// environment it is given. On Linux a command can have a [Profile]: the launcher starts it from
// a thread that has confined itself with Landlock, a system call filter and its own mounts. On
// macOS sandbox-exec confines it with a text form of the [Profile] (seatbelt.go).
//
// A [Runner] is safe for use by many goroutines. [Runner.Run] calls its output function in the
// goroutine of its caller, never after it has returned.
//
// Start reading at [Runner.Run], or [Runner.Start] for programs that keep running;
// launch_linux.go is the launcher, confine_linux.go the sandbox.
package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe/internal/fence"
)

// The default times.
const (
	// DefaultGrace is how long a process has between being asked to end and being killed.
	DefaultGrace = time.Second

	settleTime = 150 * time.Millisecond // a canceled Run returns by then; the tree may take its grace
	lateOutput = 250 * time.Millisecond // how long a command that has ended may be read from
	killTime   = 5 * time.Second        // how long the killed may take to disappear, on a machine that is busy
)

// Config configures a [Runner]; its zero value can be used.
type Config struct {
	// Launcher is the program that is started as launcher, [Self] in a program whose main calls
	// [Launch] before all else. Where it is empty, commands run without one.
	Launcher string
	// Grace is the time between SIGTERM and SIGKILL; 0 is [DefaultGrace].
	Grace time.Duration
	// Forbidden reports addresses that no [Network.Hosts] open: those of our own server. nil
	// means none.
	Forbidden func(netip.AddrPort) bool
	// Kernel overrides the features of the kernel in tests; nil asks it.
	Kernel *Kernel
}

// Command describes a command to run.
type Command struct {
	Path  string   // of the program; nothing is searched
	Args  []string // without its name
	Dir   string   // absolute, and there
	Env   []string // all of it, as name=value
	Stdin *os.File // nil is an input that has ended
	// Stderr receives the error output of [Runner.Run]; nil puts it between the other output.
	Stderr *os.File
	// Timeout is how long it may run; 0 is no limit.
	Timeout time.Duration
	// Leftovers is the policy for processes that outlive the command. Processes of a canceled
	// or timed-out command always end with it.
	Leftovers LeftoverPolicy
	// Profile confines it; the zero value does not.
	Profile Profile
	// Owner says whose background processes it leaves, for [Runner.Jobs]; "" numbers none.
	Owner string
	// Started, if set, is called once it runs, in the goroutine of [Runner.Run]. list returns its processes,
	// which are jobs of Owner from the first call on. It may be called from any goroutine, also after the end.
	Started func(list func() []Process)
	// Unlimited, once closed, lifts Timeout: the command has moved to the background.
	Unlimited <-chan struct{}
	// until is the limit of a command that a fence ends, measured by [fence.Now]; 0 has none.
	until time.Duration
	// UserTyped says that the user typed it. Where nothing confines it, it may use our server (see [PeerChecker]).
	UserTyped bool
}

// LeftoverPolicy says what happens to the processes a command leaves behind.
type LeftoverPolicy int

const (
	// KeepLeftovers lets them run until the runner is closed or its program dies.
	KeepLeftovers LeftoverPolicy = iota
	// EndLeftovers ends them before Run returns.
	EndLeftovers
	// DetachLeftovers lets them go: they may outlive the program.
	DetachLeftovers
)

// Result is how a command ended.
type Result struct {
	// Exit is its exit code, -1 if there is none: ended by a signal, or not ended yet.
	Exit int
	// Signal names the signal that ended it, as SIGKILL; "" where none did.
	Signal string
	// TimedOut and Canceled say that it was ended because of its Timeout or its context.
	TimedOut, Canceled bool
	// Leftovers lists the processes still running; it is not complete beyond some twenty.
	Leftovers []Process
	// Took is the time from start to end.
	Took time.Duration
	// Sandbox reports what the kernel enforced; nil means that it was not.
	Sandbox *Report
	// Restored are the protected names that it changed and that were put back; Lost says why some
	// were not. See [Guard].
	Restored     []string
	RestoreError string
	// Notes are the messages of the [Monitor] of its profile, and notices about the network
	// since the last result: refused connections, ports that could not be forwarded.
	Notes []string
}

// Process is a process that outlived its command.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name,omitempty"` // its command line, cut; "" where the system does not tell
	// Parent and Start, in ticks of the system's clock, are known on Linux only.
	Parent int    `json:"parent,omitempty"`
	Start  uint64 `json:"start,omitempty"`
	// Ports are the TCP ports that it listens on, known on Linux only.
	Ports []uint16 `json:"ports,omitempty"`
	// Job is the number of its [Job]; 0 means none.
	Job int `json:"-"`
}

// Runner runs commands and keeps an eye on what they leave behind.
type Runner struct {
	launching
	kernel func() Kernel
	never  func(netip.AddrPort) bool

	noMounts, noNetworks atomic.Bool // a launcher has found out

	noSessions atomic.Bool // processes of a session cannot be identified here

	work sync.WaitGroup // one for each process tree that is not gone

	mu     sync.Mutex
	live   map[tree]chan struct{} // closed when the tree is let go
	last   time.Time              // when a tree was started or gone last
	closed bool

	sessions map[sessionKey]*session
	uppers   map[string]*session      // which has used the folder of an overlay last
	jobs     map[string][]*trackedJob // by owner
}

// launching is how a runner starts and ends commands.
type launching struct {
	launcher string
	grace    time.Duration
	fence    *fence.Fence // of the commands of Run; nil has no limit
}

// tree is a command and all its processes.
type tree interface {
	// exited is closed when the command itself has ended; then status says how.
	exited() <-chan struct{}
	status() status
	// confined describes its sandbox, nil without one.
	confined() *Report
	// gone is closed when all its processes have ended.
	gone() <-chan struct{}
	// rest lists the processes left after the command has ended.
	rest() []Process
	// kill ends all of it, and returns at once.
	kill()
	// letGo makes it outlive us.
	letGo()
}

// course is the state of a command in all trees: whether and how it ended, its sandbox, and
// whether processes are left.
type course struct {
	over   chan struct{}
	how    status // valid when over is closed
	report *Report
	empty  chan struct{}
}

func newCourse() course { return course{over: make(chan struct{}), empty: make(chan struct{})} }

func (c *course) exited() <-chan struct{} { return c.over }

func (c *course) status() status { return c.how }

func (c *course) confined() *Report { return c.report }

func (c *course) gone() <-chan struct{} { return c.empty }

// status is how a command ended.
type status struct {
	code   int
	signal string
	err    error // that it is not known
	undone []string
	lost   string
}

// Open makes a runner. It starts nothing.
func Open(c Config) *Runner {
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}
	kernel := sync.OnceValue(probe)
	if c.Kernel != nil {
		kernel = func() Kernel { return *c.Kernel }
	}
	return &Runner{launching: launching{launcher: c.Launcher, grace: c.Grace}, never: c.Forbidden, kernel: kernel, live: map[tree]chan struct{}{}, sessions: map[sessionKey]*session{}, uppers: map[string]*session{}, jobs: map[string][]*trackedJob{}}
}

// Kernel returns the features that commands can be confined with. That it has mounts is a hope
// until the first ran.
func (r *Runner) Kernel() Kernel {
	k := r.kernel()
	k.Mounts = k.Mounts && !r.noMounts.Load()
	return k
}

// errClosed is the error of a run after Close.
var errClosed = errors.New("the runner of commands is closed")

// Close ends everything that still runs, except what was let go, and waits for it. Processes
// that cannot be killed are an error; it does not wait for those longer than seconds.
func (r *Runner) Close() error {
	r.mu.Lock()
	r.closed = true
	for t := range r.live {
		t.kill()
	}
	r.mu.Unlock()
	r.endSessions()
	done := make(chan struct{})
	go func() { // ends with the last tree, which may be after us where one cannot be killed
		r.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(r.grace + killTime):
		r.mu.Lock()
		defer r.mu.Unlock()
		return fmt.Errorf("close the runner: %d commands left processes that cannot be ended", len(r.live))
	}
}

// enter starts a command, and begins to look after its tree until it is gone or let go.
func (r *Runner) enter(c Command, start func() (tree, error)) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := r.begin(); err != nil {
		return err
	}
	t, err := start()
	if err != nil {
		r.work.Done()
		return explain(c, err)
	}
	left := make(chan struct{})
	r.mu.Lock()
	r.live[t] = left
	closed := r.closed
	r.mu.Unlock()
	if b, ok := t.(beaten); ok && c.until > 0 { // it was extended while the command started
		b.beat(r.fence.Until())
	}
	if closed { // it was started while Close looked at the others
		t.kill()
	}
	go func() { // begin has counted it
		defer r.work.Done()
		keep(t, c.Profile.Monitor, left)
		r.mu.Lock()
		delete(r.live, t)
		r.forgetJobs(func(j *trackedJob) bool { return j.tree == t })
		r.last = time.Now()
		r.mu.Unlock()
	}()
	return nil
}

func (r *Runner) letGo(t tree) {
	r.mu.Lock()
	left := r.live[t] // nil where it is gone by itself
	delete(r.live, t)
	r.forgetJobs(func(j *trackedJob) bool { return j.tree == t })
	r.mu.Unlock()
	if left != nil {
		t.letGo()
		close(left)
	}
}

// begin counts a tree that is about to start.
func (r *Runner) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	r.work.Add(1)
	r.last = time.Now()
	return nil
}
