package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// A command that is confined is started by a thread, of a launcher or of a session's first process, that
// has done to itself what cannot be undone. It holds for all that the thread starts and for no other thread.

// failure is why a command was not started.
type failure struct {
	errno int // of its start; 0 means that it was not confined
	text  string
	mount bool // it may work without mounts
}

func (f failure) failed() bool { return f.errno != 0 || f.text != "" }

// confineThread does to this thread, and to all that it starts, what cannot be undone. It
// returns the file that the kernel asks on, -1 if there is none. The thread keeps some
// capabilities, and with a secret a way to other mounts; the programs that it runs have none.
func (p *plan) confineThread(secret uint64, keep ...uint) (notify int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, fmt.Errorf("give up new privileges: %w", err)
	}
	if err := restrict(p); err != nil {
		return -1, err
	}
	if err := dropCapabilities(keep...); err != nil {
		return -1, err
	}
	return p.forbid(secret)
}

func number(err error) int {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return int(errno)
	}
	return int(unix.EINVAL)
}

const terminalFolder, terminalMaker = "/dev/pts", "/dev/ptmx"

// ownTerminals makes pseudo-terminals for commands, where the system can: those that are there are the
// user's.
func ownTerminals() bool {
	return unix.Mount("devpts", terminalFolder, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620") == nil &&
		unix.Mount(terminalFolder+"/ptmx", terminalMaker, "", unix.MS_BIND, "") == nil
}

func (l Limits) set() error {
	for what, n := range map[int]uint64{unix.RLIMIT_DATA: l.Memory, unix.RLIMIT_NPROC: l.Processes, unix.RLIMIT_FSIZE: l.FileSize} {
		if n == 0 {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err != nil {
			return fmt.Errorf("read a limit: %w", err)
		}
		n = min(n, now.Max) // no one may raise what the user has
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("set a limit: %w", err)
		}
	}
	return nil
}

// started is a command that runs confined.
type started struct {
	pid          int
	report       Report
	guard        *guard
	placeholders standIns
}

// way is how a command can be held.
type way struct {
	mounts  bool // it has mounts of its own
	session bool // and shares the processes of a session
}

// startConfined starts a command below the launcher: with mounts of its own if they can be had.
func startConfined(r request, c commandStart) (started, failure) {
	// The command is the same user, but must not change mounts as the launcher may.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return started{}, failure{text: "keep the command from its launcher: " + err.Error()}
	}
	w := way{mounts: r.Kernel.Mounts}
	s, f := r.start(w, c)
	if w.mounts && f.mount {
		w.mounts = false
		return r.start(w, c)
	}
	return s, f
}

// start starts a command from a new thread, which lives on: the command ends with it.
func (r request) start(w way, c commandStart) (s started, f failure) {
	p, err := newPlan(r, w, place{dir: c.dir, env: c.env})
	defer func() {
		if f.failed() {
			p.placeholders.leave()
		}
	}()
	if err != nil {
		return s, failure{text: err.Error()}
	}
	guarded := Restored
	if w.mounts {
		guarded = Bound
	}
	s = started{placeholders: p.placeholders, guard: newGuard(p.watch, r.Profile.QuarantineDir), report: r.Kernel.report(r.Profile, guarded)}
	own, notify, done := p.reach(), -1, make(chan failure, 1)
	onNewThread(func() {
		var f failure
		s.pid, notify, f = p.start(c)
		if done <- f; !f.failed() {
			select {}
		}
	})
	if f = <-done; f.failed() {
		return s, f
	}
	s.report.Missing = slices.Concat(s.report.Missing, p.missing)
	go (&gate{
		notify: notify, members: func() []int { return descendants(os.Getpid()) },
		reach: func(int) (reach, error) { return own, nil },
	}).serve()
	return s, failure{}
}

// start confines this thread and starts a command.
func (p *plan) start(c commandStart) (pid, notify int, f failure) {
	var err error
	if p.Mounts {
		if err = unix.Unshare(unix.CLONE_NEWNS); err == nil {
			err = p.mount()
		}
		if err != nil {
			return 0, -1, failure{text: err.Error(), mount: true}
		}
	}
	if notify, err = p.confineThread(0); err != nil {
		return 0, -1, failure{text: "confine the command: " + err.Error()}
	}
	if pid, err = c.fork(); err != nil {
		return 0, notify, failure{errno: number(err)}
	}
	return pid, notify, failure{}
}

// commandStart is a command to be started by this thread.
type commandStart struct {
	dir     string
	argv    []string
	env     []string
	streams [3]int
	mortal  bool // it ends with this thread
}

func (c commandStart) fork() (pid int, err error) {
	attr := &syscall.ProcAttr{
		Dir: c.dir, Env: c.env, Files: []uintptr{uintptr(c.streams[0]), uintptr(c.streams[1]), uintptr(c.streams[2])},
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: isTerminal(c.streams[1])},
	}
	if c.mortal {
		attr.Sys.Pdeathsig = syscall.SIGKILL
	}
	return syscall.ForkExec(c.argv[0], c.argv, attr)
}

// ownUsers lets a process be started that can have mounts and its own network. The
// administrator needs no other user for that, and would lose the files of all others with one.
func ownUsers(a *syscall.SysProcAttr) {
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		return
	}
	a.Cloneflags |= unix.CLONE_NEWUSER
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	// None is left to commands. Overlays work with the rights of who made them.
	a.AmbientCaps = []uintptr{
		unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN,
		unix.CAP_SYS_PTRACE, unix.CAP_KILL, unix.CAP_SYS_CHROOT, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE,
	}
}
