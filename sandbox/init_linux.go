package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The commands of a session share a namespace of processes. Its first process is this program again:
// it starts each command, looks after it as a launcher does after one, and collects orphans. When it
// ends, the system ends all others. No signal of a command reaches it.
//
// Every command has mounts of its own and can make none, so the namespace of its mounts tells which
// command a process belongs to, however it was detached.

const (
	initWord    = "__sandbox-init"
	initNetwork = "network" // the argument of one in its own network

	initNetworkFD = 4
)

// initTask is a command for the first process to start. Its streams and its control socket come with it.
type initTask struct {
	Grace   time.Duration `json:"grace"`
	Until   time.Duration `json:"until,omitempty"` // the limit of a fenced command
	Request request       `json:"request"`
	Dir     string        `json:"dir"`
	Args    []string      `json:"args"` // with the program
	Env     []string      `json:"env"`
	Drop    []Mount       `json:"drop,omitempty"` // overlays that no command uses any more
}

// initTaskFiles counts the files sent with a task; the first holds the task itself.
const initTaskFiles = 5

// initProcess is the first process of a session.
type initProcess struct {
	mu       sync.Mutex
	commands map[*launcher]bool
	starting int                     // commands without a launcher yet
	ended    map[int]unix.WaitStatus // since there are such, what they may have been
	started  chan struct{}           // a process was started
	reaches  map[string]reach        // of commands, by the namespace of their mounts

	mounts  *sharedMounts
	domains *domains
	rebinds *rebinder
	work    sync.WaitGroup
}

// beInit is the whole life of that process.
func beInit(args []string) int {
	kind, err := unix.GetsockoptInt(controlFD, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_SEQPACKET || os.Getpid() != 1 {
		return 2
	}
	_ = unix.CloseRange(controlFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if len(args) > 0 && args[0] == initNetwork {
		if err := serveNetwork(initNetworkFD); err != nil {
			_, _ = unix.Write(controlFD, []byte(err.Error()))
			return 2
		}
	}
	p := &initProcess{commands: map[*launcher]bool{}, ended: map[int]unix.WaitStatus{}, started: make(chan struct{}, 1), reaches: map[string]reach{}}
	if err := p.prepare(); err != nil {
		_, _ = unix.Write(controlFD, []byte(err.Error()))
		return 2
	}
	go p.collect()
	_, _ = unix.Write(controlFD, []byte("ready"))
	for {
		e, files, err := receiveInitTask(controlFD)
		if err != nil {
			break // lathe is gone
		}
		p.work.Go(func() { p.look(e, files) })
	}
	p.end()
	unix.Exit(0)
	return 0
}

// prepare keeps the commands from the process, and gives them a view of their processes.
func (p *initProcess) prepare() (err error) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	ignoreSignals()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	_ = unix.Mount("shm", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777") // there may be none
	p.domains = newDomains(func(notify int) { (&gate{notify: notify, reach: p.reach, members: p.members}).serve() })
	p.rebinds = newRebinder()
	p.mounts, err = newSharedMounts()
	return err
}

// ignoreSignals gives up all handlers but those that the runtime needs. It is not enough that the
// system keeps signals from the first process: one that comes while a thread of ours blocks it, as for
// every start of a process, would be fatal.
//
// Commands must not inherit that. The runtime does not know, and reverts in every process that it
// starts the handlers that it believes to have. Those that it never has get one that does nothing,
// which ends when a program is run.
func ignoreSignals() {
	const ignore = 1    // SIG_IGN
	var plain [4]uint64 // the kernel's sigaction, as the runtime uses it on this architecture
	setAction := func(s unix.Signal, set, get *[4]uint64) {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 8, 0, 0)
	}
	setAction(unix.SIGURG, nil, &plain)
	plain[0] = uint64(reflect.ValueOf(doNothing).Pointer())
	for s := unix.Signal(1); s <= 64; s++ {
		switch s {
		case unix.SIGKILL, unix.SIGSTOP, unix.SIGURG, unix.SIGCHLD:
		case unix.SIGHUP, unix.SIGINT, unix.SIGCONT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, 32, 33, 34:
			setAction(s, &plain, nil)
		default:
			setAction(s, &[4]uint64{ignore}, nil)
		}
	}
}

// doNothing is a single instruction, so that the kernel can call it.
//
//go:nosplit
//go:norace
func doNothing() {}

// receiveInitTask waits for the next one.
func receiveInitTask(control int) (initTask, []int, error) {
	var e initTask
	buf, oob := make([]byte, 16), make([]byte, unix.CmsgSpace(4*(initTaskFiles+1)))
	n, oobn, _, _, err := unix.Recvmsg(control, buf, oob, unix.MSG_CMSG_CLOEXEC)
	for err == unix.EINTR {
		n, oobn, _, _, err = unix.Recvmsg(control, buf, oob, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil || n == 0 {
		return e, nil, errors.Join(io.EOF, err)
	}
	var files []int
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	for _, m := range messages {
		fds, _ := unix.ParseUnixRights(&m) // those of another kind are none
		files = append(files, fds...)
	}
	if err != nil || len(files) != initTaskFiles {
		return e, nil, errors.Join(errors.New("files are missing"), err)
	}
	text := os.NewFile(uintptr(files[0]), "errand")
	defer func() { _ = text.Close() }()
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return e, nil, err
	}
	return e, files[1:], json.NewDecoder(text).Decode(&e)
}

// look runs one command to its end, with all its processes.
func (p *initProcess) look(e initTask, files []int) {
	_ = unix.SetNonblock(files[3], true)
	l := &launcher{
		control: os.NewFile(uintptr(files[3]), "control"), parent: os.Getppid(), grace: e.Grace, until: e.Until, orders: make(chan order), ended: make(chan wstatus, 1),
		empty: make(chan struct{}), shared: &membership{stop: make(chan struct{}), reaped: make(chan struct{}, 1)},
	}
	if l.isLate() {
		for _, fd := range files[:3] {
			_ = unix.Close(fd)
		}
		l.sendReport(report{Late: true})
		_ = l.control.Close()
		return
	}
	p.mu.Lock()
	p.starting++
	p.mu.Unlock()
	s, f := p.start(e, [3]int(files[:3]), l.shared)
	for _, fd := range files[:3] {
		_ = unix.Close(fd)
	}
	if f.failed() {
		p.enter(nil)
		p.forget(l.shared)
		l.sendReport(report{Errno: f.errno, Text: f.text, Mount: f.mount})
		_ = l.control.Close()
		return
	}
	l.command, l.guard, l.placeholders = s.pid, s.guard, s.placeholders
	p.enter(l)
	l.sendReport(report{PID: s.pid, Sandbox: &s.report})
	go l.listen()
	l.loop(nil)
	p.leave(l)
	l.restore(nil)
	l.placeholders.leave()
	p.forget(l.shared)
	l.sendReport(report{Bye: true})
	for range l.orders { // to the end: what is not read would make the last word be lost
	}
	_ = l.control.Close()
}

// start starts a command in a domain of the session.
func (p *initProcess) start(e initTask, streams [3]int, m *membership) (s started, f failure) {
	r := e.Request
	plan, err := newPlan(r, way{mounts: true, session: true}, place{dir: e.Dir, env: e.Env})
	defer func() {
		if f.failed() {
			plan.placeholders.leave()
		}
	}()
	p.mounts.drop(e.Drop)
	if err == nil {
		err = p.mounts.prepare(plan)
	}
	if err != nil {
		return s, failure{text: err.Error()}
	}
	held := plan.held()
	if err := p.rebinds.watch(held); err != nil {
		plan.missing = append(plan.missing, fmt.Sprintf("protected files that you replace while the command runs are open to it: %v", err))
	}
	guarded := make(chan *guard, 1)
	go func() { guarded <- newGuard(plan.watch, r.Profile.QuarantineDir) }()
	m.mounts, err = plan.mountApart()
	s.guard = <-guarded
	if err != nil {
		return s, failure{text: err.Error(), mount: true}
	}
	p.rebinds.add(m.mounts, held)
	p.mu.Lock()
	p.reaches[m.mounts.name] = plan.reach()
	p.mu.Unlock()
	pid, missing, err := p.domains.start(plan, domainStart{mounts: m.mounts, commandStart: commandStart{dir: e.Dir, argv: r.Profile.Limits.limited(e.Args), env: e.Env, streams: streams}})
	switch {
	case errors.Is(err, errConfine): // a launcher may be able to, where threads cannot have mounts
		return s, failure{text: err.Error(), mount: true}
	case err != nil:
		return s, failure{errno: number(err)}
	}
	s.pid, s.placeholders, s.report = pid, plan.placeholders, r.Kernel.report(r.Profile, Bound)
	s.report.Missing = slices.Concat(s.report.Missing, plan.missing, missing)
	return s, failure{}
}

// forget drops the state of a command that has ended.
func (p *initProcess) forget(m *membership) {
	if m.mounts == nil {
		return
	}
	p.mu.Lock()
	delete(p.reaches, m.mounts.name)
	p.mu.Unlock()
	p.rebinds.remove(m.mounts)
	m.mounts.close() // from now on the system may use its name again
}

// reach is where the command of a process can connect to.
func (p *initProcess) reach(pid int) (reach, error) {
	name, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "ns/mnt"))
	if err != nil {
		return reach{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.reaches[name]
	if !ok {
		return r, errors.New("it belongs to no command")
	}
	return r, nil
}

// members are all processes of the session.
func (p *initProcess) members() (pids []int) {
	for _, e := range entries() {
		if e.pid != 1 && !e.dead {
			pids = append(pids, e.pid)
		}
	}
	return pids
}

// enter begins to look after a command; it may have ended already. nil is one that did not start.
func (p *initProcess) enter(l *launcher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.starting--; l != nil {
		p.commands[l] = true
		if ws, ok := p.ended[l.command]; ok {
			l.claim(ws)
			delete(p.ended, l.command)
		}
	}
	if p.starting == 0 {
		clear(p.ended)
	}
	select {
	case p.started <- struct{}{}:
	default:
	}
}

func (p *initProcess) leave(l *launcher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.commands, l)
}

// collect waits for every process that has no other parent, for as long as we live.
func (p *initProcess) collect() {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.ECHILD:
			<-p.started
		case err == nil:
			p.noteReaped(pid, ws)
		}
	}
}

func (p *initProcess) noteReaped(pid int, ws unix.WaitStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.starting > 0 {
		p.ended[pid] = ws
	}
	for l := range p.commands {
		if l.command == pid {
			l.claim(ws)
		}
		select {
		case l.shared.reaped <- struct{}{}:
		default:
		}
	}
}

// claim takes the end of the command itself.
func (l *launcher) claim(ws unix.WaitStatus) {
	s := wstatus{Code: -1}
	switch {
	case ws.Exited():
		s.Code = ws.ExitStatus()
	case ws.Signaled():
		s.Signal = unix.SignalName(ws.Signal())
	}
	select {
	case l.ended <- s:
	default: // it is known
	}
}

// end ends all commands.
func (p *initProcess) end() {
	p.mu.Lock()
	for l := range p.commands {
		close(l.shared.stop)
	}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		p.work.Wait()
		close(done)
	}()
	for range 2 { // the rest ends with us
		select {
		case <-done:
			return
		case <-time.After(10 * time.Second): // longer than any grace
			_ = unix.Kill(-1, unix.SIGKILL)
		}
	}
}

// membership tells which processes belong to one command of a session.
type membership struct {
	mounts *mountSpace   // its namespace of mounts
	stop   chan struct{} // closed when the session ends
	reaped chan struct{} // some process was collected
}

// members are the processes of the command that are not dead.
func (m *membership) members() (pids []int) {
	for _, e := range entries() {
		if e.pid == 1 || e.dead {
			continue
		}
		if name, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(e.pid), "ns/mnt")); err == nil && name == m.mounts.name {
			pids = append(pids, e.pid)
		}
	}
	return pids
}

// none reports whether there is no process of it. One that is made while its parent ends can be
// missed once.
func (m *membership) none() bool {
	for range 2 {
		if len(m.members()) > 0 {
			return false
		}
	}
	return true
}
