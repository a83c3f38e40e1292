package sandbox

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A domain is a thread of a session's first process that has confined itself as commands are, and
// starts them. What a thread does to itself cannot be undone, holds for all that it starts and for no
// other thread. Landlock lets processes look into each other only if the same thread confined them: so
// fuser and lsof find what earlier calls of a session have left, if the calls may write the same.
//
// A confined thread can mount nothing. Another thread makes the mounts of each command, in a namespace
// that the domain enters before it starts the command.
type domain struct {
	key     string
	starts  chan domainStart
	dropped chan struct{} // closed when it takes no more
	missing []string      // limits that it does not enforce
}

// domainStart is a command to be started.
type domainStart struct {
	commandStart
	mounts *mountSpace
	done   chan<- domainStarted
}

type domainStarted struct {
	pid int
	err error
}

// mostDomains is how many a session keeps: one for each list of what commands may do.
const mostDomains = 8

// domains are those of a session.
type domains struct {
	secret uint64
	asked  func(notify int) // serves the connections that commands of a domain make

	mu   sync.Mutex
	list []*domain // the one used last is the last
}

func newDomains(asked func(notify int)) *domains {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return &domains{secret: binary.NativeEndian.Uint64(b[:]) | 1, asked: asked}
}

// start starts a command in the domain that is confined like it.
func (ds *domains) start(p *plan, s domainStart) (pid int, missing []string, err error) {
	done := make(chan domainStarted, 1)
	s.done = done
	for {
		d, err := ds.find(p, s.mounts)
		if err != nil {
			return 0, nil, err
		}
		select {
		case d.starts <- s:
			r := <-done
			return r.pid, d.missing, r.err
		case <-d.dropped: // others were used more
		}
	}
}

// errConfine says that a thread could not confine itself.
var errConfine = errors.New("confine the command")

// find returns the domain of a plan, which it makes if there is none.
func (ds *domains) find(p *plan, mounts *mountSpace) (*domain, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	i := slices.IndexFunc(ds.list, func(d *domain) bool { return d.key == mounts.rules })
	if i >= 0 {
		d := ds.list[i]
		ds.list = append(slices.Delete(ds.list, i, i+1), d)
		return d, nil
	}
	d := &domain{key: mounts.rules, starts: make(chan domainStart), dropped: make(chan struct{})}
	ready := make(chan error, 1)
	onNewThread(func() { d.live(p, mounts, ds, ready) })
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("%w: %w", errConfine, err)
	}
	if ds.list = append(ds.list, d); len(ds.list) > mostDomains {
		close(ds.list[0].dropped)
		ds.list = ds.list[1:]
	}
	return d, nil
}

// onNewThread runs a function in its own thread, which ends with it.
func onNewThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			f() // a thread that is still locked ends with its goroutine
			return
		}
		// The first thread stands for the process in /proc. While we hold it, another is found.
		done := make(chan struct{})
		onNewThread(func() {
			defer close(done)
			f()
		})
		<-done
		runtime.UnlockOSThread()
	}()
}

// live is the life of the thread.
func (d *domain) live(p *plan, mounts *mountSpace, ds *domains, ready chan<- error) {
	home, err := unix.Open("/proc/thread-self/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		ready <- err
		return
	}
	defer func() { _ = unix.Close(home) }()
	// A thread with its own mounts has its own working directory, too.
	if err = unix.Unshare(unix.CLONE_FS); err == nil {
		err = enterMounts(mounts.fd, 0)
	}
	notify := -1
	if err == nil {
		var q plan = *p // every command reports its own missing limits
		q.missing = nil
		// A program that is run has no capabilities, since the bounding set is empty. The thread
		// itself must change to the mounts of the next one.
		notify, err = q.confineThread(ds.secret, unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT)
		d.missing = q.missing
	}
	if err == nil {
		err = enterMounts(home, ds.secret)
	}
	if notify >= 0 {
		go ds.asked(notify) // until the last process of the domain has ended
	}
	if ready <- err; err != nil {
		return
	}
	for {
		select {
		case s := <-d.starts:
			s.done <- s.forkIn(home, ds.secret)
		case <-d.dropped:
			return
		}
	}
}

// enterMounts changes this thread to a namespace of mounts. The filter of system calls refuses
// that, unless an argument that the kernel does not read holds the secret.
func enterMounts(fd int, secret uint64) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETNS, uintptr(fd), unix.CLONE_NEWNS, uintptr(secret)); errno != 0 {
		return fmt.Errorf("enter the mounts of a command: %w", errno)
	}
	return nil
}

// forkIn starts a command in its mounts.
func (s domainStart) forkIn(home int, secret uint64) (out domainStarted) {
	if err := enterMounts(s.mounts.fd, secret); err != nil {
		return domainStarted{err: fmt.Errorf("%w: %w", errConfine, err)}
	}
	out.pid, out.err = s.fork()
	_ = enterMounts(home, secret) // so that those of the command end with it; the next start will tell
	return out
}

// mountSpace is a namespace of mounts.
type mountSpace struct {
	fd    int
	name  string // as /proc shows it
	rules string // the limits of its commands; see rulesKey
}

// mountApart makes the mounts of a command in a namespace of their own, in a thread that ends then.
func (p *plan) mountApart() (*mountSpace, error) {
	m, done := &mountSpace{fd: -1}, make(chan error, 1)
	onNewThread(func() { done <- m.fill(p) })
	if err := <-done; err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *mountSpace) close() {
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
	}
}

func (m *mountSpace) fill(p *plan) (err error) {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	const own = "/proc/thread-self/ns/mnt"
	if m.fd, err = unix.Open(own, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	if m.name, err = os.Readlink(own); err != nil {
		return err
	}
	if err := p.mount(); err != nil {
		return err
	}
	m.rules, err = p.rulesKey()
	return err
}

// rulesKey names what a thread is confined to: the files and folders that a command may write, as they
// are in its mounts, and its sockets. While Landlock has a rule for a file, no other gets its number.
func (p *plan) rulesKey() (string, error) {
	var all []string
	for _, path := range p.rules() {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err == unix.ENOENT {
			continue
		} else if err != nil {
			return "", &os.PathError{Op: "look at", Path: path, Err: err}
		}
		all = append(all, strconv.FormatUint(st.Dev, 36)+":"+strconv.FormatUint(st.Ino, 36))
	}
	for _, s := range p.Steps { // the number of a file system that is gone may be another's
		if s.Kind == stepOverlay {
			all = append(all, s.shared)
		}
	}
	slices.Sort(all)
	return fmt.Sprint(slices.Compact(all), p.Landlock, p.Families), nil
}

const limitWord = "__sandbox-limit"

// limited is how a command is started whose processes have limits. Those are of a process, not of a
// thread, so a process between us and the command sets them.
func (l Limits) limited(argv []string) []string {
	b, err := json.Marshal(l)
	if err != nil || l == (Limits{}) {
		return argv
	}
	return append([]string{Self(), limitWord, string(b)}, argv...)
}

// limit is the life of that process: it sets the limits and becomes the command.
func limit(args, env []string) int {
	var l Limits
	err := json.Unmarshal([]byte(args[0]), &l)
	if err == nil {
		err = l.set()
	}
	if err == nil {
		err = syscall.Exec(args[1], args[1:], env)
	}
	_, _ = fmt.Fprintf(os.Stderr, "start %s: %v\n", args[1], err)
	return 127
}
