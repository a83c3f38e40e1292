package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// session is the namespace of processes that the commands of one session share.
type session struct {
	ready sync.Once
	err   error // that it cannot be had

	process *os.Process
	control *os.File
	gone    chan struct{} // closed when the first process has ended
	network *network      // nil is the one of its user

	// Guarded by the runner's mutex:

	uses      int         // commands that have processes
	idle      *time.Timer // since there are none
	idleSince time.Time   // when there were none last
	overlays  []Mount     // that its commands share
	dropped   []Mount     // that they share no more
}

// share gives overlays of a command the folders to work in of those that the session has already, so
// that they are the same mounts. If another session has written to the folder of one since, it is made
// again: the kernel does not look there for what it did not find before. Those that no command uses any
// more are dropped.
func (r *Runner) share(s *session, p Profile) (shared Profile, drop []Mount) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.Mounts = slices.Clone(p.Mounts)
	for i := range p.Mounts {
		m := &p.Mounts[i]
		if m.Type != OverlayMount {
			continue
		}
		at := slices.IndexFunc(s.overlays, func(o Mount) bool { return o.Source == m.Source && o.Target == m.Target && o.Upper == m.Upper })
		if at >= 0 && r.uppers[m.Upper] == s {
			m.Work = s.overlays[at].Work
			continue
		}
		if at >= 0 && s.uses == 1 { // we are the only command
			s.dropped, s.overlays = append(s.dropped, s.overlays[at]), slices.Delete(s.overlays, at, at+1)
		}
		m.Work += "-session"
		s.overlays, r.uppers[m.Upper] = slices.Insert(s.overlays, 0, *m), s // the newest is found first
	}
	drop, s.dropped = s.dropped, nil
	return p, drop
}

// clear removes the folders that the overlays of a session worked in.
func (r *Runner) clear(s *session) {
	r.mu.Lock()
	mounts := slices.Concat(s.overlays, s.dropped)
	maps.DeleteFunc(r.uppers, func(_ string, user *session) bool { return user == s })
	r.mu.Unlock()
	Profile{Mounts: mounts}.removeWork()
}

// shares reports whether a command can have the processes of its session in common.
func (r *Runner) shares(c Command) bool {
	return c.Profile.Confined() && c.Profile.Session != "" && c.Leftovers != DetachLeftovers && r.Kernel().Mounts && !r.noSessions.Load()
}

// warm starts the first process of a command's session while others prepare the command.
func (r *Runner) warm(c Command) {
	if r.launcher == "" || !r.shares(c) {
		return
	}
	r.work.Go(func() {
		_, done, _ := r.use(newSessionKey(c.Profile, r.ownNetwork(c.Profile))) // the next command reports the error
		done()
	})
}

// use returns a session that does not end before done is called.
func (r *Runner) use(id sessionKey) (s *session, done func(), err error) {
	r.mu.Lock()
	if s = r.sessions[id]; s != nil {
		select {
		case <-s.gone: // it was killed
			s = nil
		default:
		}
	}
	if s == nil {
		s = &session{gone: make(chan struct{})}
		r.sessions[id] = s
	}
	if s.uses++; s.uses == 1 && time.Since(s.idleSince) > idleOverlays {
		s.dropped, s.overlays = append(s.dropped, s.overlays...), nil
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	r.mu.Unlock()
	s.ready.Do(func() { s.err = s.start(r, id) })
	return s, sync.OnceFunc(func() { r.unuse(id, s) }), s.err
}

func (r *Runner) unuse(id sessionKey, s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.uses--; s.uses > 0 || r.sessions[id] != s {
		return
	}
	s.idleSince = time.Now()
	s.idle = time.AfterFunc(idleSession, func() {
		r.mu.Lock()
		unused := s.uses == 0 && r.sessions[id] == s
		if unused {
			delete(r.sessions, id)
		}
		r.mu.Unlock()
		if unused {
			s.end()
		}
	})
}

// start makes the namespace with its first process.
func (s *session) start(r *Runner, id sessionKey) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_ = unix.SetNonblock(pair[0], true)
	s.control = os.NewFile(uintptr(pair[0]), "session")
	theirs := os.NewFile(uintptr(pair[1]), "session")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return errors.Join(err, s.control.Close(), theirs.Close())
	}
	attr := &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{null, null, null, theirs},
		Sys: &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID}, // the end of its socket tells of our death
	}
	ownUsers(attr.Sys)
	argv := []string{"lathe", initWord}
	if id.own {
		if s.network, err = newNetwork(id.network(), r.never); err != nil {
			return errors.Join(err, s.control.Close(), theirs.Close(), null.Close())
		}
		argv, attr.Files = append(argv, initNetwork), append(attr.Files, s.network.theirs)
		attr.Sys.Cloneflags |= unix.CLONE_NEWNET
	}
	s.process, err = os.StartProcess(r.launcher, argv, attr)
	_, _ = theirs.Close(), null.Close()
	if err != nil {
		s.network.close()
		return errors.Join(err, s.control.Close())
	}
	go func() {
		_, _ = s.process.Wait() // how it ended says nothing
		s.network.close()
		r.clear(s)
		close(s.gone)
	}()
	buf := make([]byte, 1024)
	_ = s.control.SetReadDeadline(time.Now().Add(launchTime))
	n, err := s.control.Read(buf)
	if err == nil && string(buf[:n]) == "ready" {
		if err = s.network.begin(); err == nil {
			return nil
		}
	}
	_ = s.process.Kill()
	return errors.Join(fmt.Errorf("the first process of a session: %s", buf[:n]), err, s.control.Close())
}

// end ends all processes of it.
func (s *session) end() {
	s.ready.Do(func() { s.err = errClosed })
	if s.err != nil {
		return
	}
	_ = s.control.Close()
	select {
	case <-s.gone:
	case <-time.After(DefaultGrace + killTime):
		_ = s.process.Kill() // and the system all others
		<-s.gone
	}
}

// send starts a command in the session.
func (s *session) send(e initTask, files ...*os.File) error {
	fd, err := unix.MemfdCreate("errand", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "errand")
	defer func() { _ = f.Close() }()
	if err := json.NewEncoder(f).Encode(e); err != nil {
		return err
	}
	fds := []int{fd}
	for _, file := range files {
		fds = append(fds, int(file.Fd()))
	}
	raw, err := s.control.SyscallConn()
	if err != nil {
		return err
	}
	err2 := raw.Write(func(control uintptr) bool {
		err = unix.Sendmsg(int(control), []byte("run"), unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
		return err != unix.EAGAIN
	})
	return errors.Join(err, err2)
}
