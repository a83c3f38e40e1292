package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Between the launcher and a command that is confined stands this program a third time: in the
// namespaces of the command it does to itself what cannot be undone, and becomes the command.

const (
	confineWord = "__sandbox-confine"
	failureFD   = 3 // closed when the command has taken over
	planFD      = 4
)

// failure is why a command did not take over.
type failure struct {
	Errno int    `json:"errno,omitempty"` // of its start; 0 is that it was not confined
	Text  string `json:"text,omitempty"`
	Mount bool   `json:"mount,omitempty"` // it may work without mounts
	// Missing is what of its mounts it does not have, said before it takes over; then nothing else
	// is set.
	Missing []string `json:"missing,omitempty"`
}

func (f failure) failed() bool { return f.Errno != 0 || f.Text != "" }

// say tells the launcher.
func (f failure) say() {
	if b, err := json.Marshal(f); err == nil {
		_, _ = unix.Write(failureFD, b)
	}
}

// failures is what the process said until the command took over, if it did.
func failures(b []byte, missing []string) (failure, []string) {
	var f failure
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var next failure
		if err := d.Decode(&next); err != nil {
			return f, missing
		}
		if missing = append(missing, next.Missing...); next.Missing == nil {
			f = next
		}
	}
}

// confine is the life of that process: its arguments are the directory, the program and the
// arguments of the command. The plan comes while it starts.
func confine(args, env []string) int {
	runtime.LockOSThread()
	unix.CloseOnExec(failureFD)
	unix.CloseOnExec(planFD)
	become(args, env).say()
	unix.Exit(2)
	return 2
}

func become(args, env []string) failure {
	var p plan
	if err := json.NewDecoder(os.NewFile(planFD, "plan")).Decode(&p); err != nil {
		return failure{Text: "read the plan: " + err.Error()}
	}
	if p.Mounts {
		if err := p.mount(); err != nil {
			return failure{Text: err.Error(), Mount: true}
		}
	}
	if err := unix.Chdir(args[0]); err != nil { // again: what is mounted there may be new
		return failure{Errno: number(err)}
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return failure{Text: "die with the launcher: " + err.Error()}
	}
	if err := p.Limits.set(); err != nil {
		return failure{Text: err.Error()}
	}
	if p.Landlock > 0 {
		notify, err := p.confineThread(0)
		if err == nil && notify >= 0 {
			err = unix.Sendmsg(failureFD, []byte("x"), unix.UnixRights(notify), nil, 0)
		}
		if err != nil {
			return failure{Text: "confine the command: " + err.Error()}
		}
	}
	if p.missing != nil {
		failure{Missing: p.missing}.say()
	}
	return failure{Errno: number(syscall.Exec(args[1], args[1:], env))}
}

// confineThread does to this thread, and to all that it starts, what cannot be undone. It returns the
// file that the kernel asks on, -1 where there is none. The thread keeps some capabilities, and with a
// secret a way to other mounts; the programs that it runs have none.
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
	pid     int
	report  Report
	guard   *guard
	stands  standIns
	sockets *gate
}

// way is how a command can be held.
type way struct {
	mounts  bool // it has mounts of its own
	session bool // and shares the processes of a session
}

// startConfined starts a command below the launcher: with mounts of its own if they can be had.
func startConfined(r request, dir string, argv, env []string) (started, failure) {
	w := way{mounts: r.Kernel.Mounts && r.Profile.Confined()}
	s, f := r.start(w, dir, argv, env)
	if w.mounts && f.Mount {
		w.mounts = false
		return r.start(w, dir, argv, env)
	}
	return s, f
}

// start makes the process that becomes the command, tells it the plan, and waits until it has taken
// over. The plan is made while the process starts, which takes as long.
func (r request) start(w way, dir string, argv, env []string) (s started, f failure) {
	pair, err1 := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	planned, planning, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		return s, failure{Errno: number(err)} // the launcher ends now, and with it what is open
	}
	files := []uintptr{0, 1, 2, uintptr(pair[1]), planned.Fd()}
	pid, err := syscall.ForkExec(Self(), append([]string{"lathe", confineWord, dir}, argv...), &syscall.ProcAttr{
		Dir: dir, Env: env, Files: files, Sys: attributes(w.mounts),
	})
	_, _ = unix.Close(pair[1]), planned.Close() // they are the child's
	defer func() { _ = unix.Close(pair[0]) }()
	if err != nil {
		_ = planning.Close()
		return s, failure{Errno: number(err), Mount: w.mounts && err != unix.E2BIG}
	}
	p, planErr := newPlan(r, w, place{dir: dir, env: env})
	if s.pid, s.stands = pid, p.stands; r.Profile.Confined() {
		guarded := Restored
		if w.mounts {
			guarded = Bound
		}
		s.guard, s.report = newGuard(p.watch, r.Profile.Aside), r.Kernel.report(r.Profile, guarded)
	}
	if planErr == nil {
		err = json.NewEncoder(planning).Encode(p)
	}
	err = errors.Join(err, planning.Close())
	said, notify := hear(pair[0])
	f, s.report.Missing = failures(said, s.report.Missing)
	switch {
	case planErr != nil:
		f = failure{Text: planErr.Error()}
	case f.failed():
	case err != nil:
		f = failure{Text: err.Error()}
	default:
		own := p.reach()
		s.sockets = &gate{
			notify: notify, members: func() []int { return descendants(os.Getpid()) },
			reach: func(int) (reach, error) { return own, nil },
		}
		return s, failure{}
	}
	if notify >= 0 {
		_ = unix.Close(notify)
	}
	_, _ = unix.Wait4(pid, nil, 0, nil)
	p.stands.leave()
	return started{}, f
}

// hear reads what the process says until the command takes over, and takes the file that it is given.
func hear(socket int) (said []byte, notify int) {
	notify = -1
	buf, oob := make([]byte, 64<<10), make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(socket, buf, oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return said, notify
		}
		messages, _ := unix.ParseSocketControlMessage(oob[:oobn]) // most have none
		for _, m := range messages {
			if fds, err := unix.ParseUnixRights(&m); err == nil && len(fds) == 1 {
				notify = fds[0]
				n = 0 // it says nothing else
			}
		}
		said = append(said, buf[:n]...)
	}
}

// attributes are those of a process with mounts. The administrator needs no other user to have mounts, and
// would lose the files of all others with one.
func attributes(mounts bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Setctty: isTerminal(1), Pdeathsig: syscall.SIGKILL}
	if !mounts {
		return a
	}
	a.Cloneflags = unix.CLONE_NEWNS
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		// Over these mounts, until the command takes over. Overlays work with the rights of who made them.
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN}
	}
	return a
}
