//go:build unix

package sandbox

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// group is a tree of which only the process group is known: a process that leaves it is lost.
type group struct {
	process *os.Process
	grace   time.Duration

	course
	ask   func() // ends the group, once
	asked chan struct{}
}

func startGroup(c Command, s streams, grace time.Duration) (tree, error) {
	_, _ = s.out.Fd(), s.err.Fd() // which makes them such that block, as programs expect
	process, err := os.StartProcess(c.Path, append([]string{c.Path}, c.Args...), &os.ProcAttr{
		Dir: c.Dir, Env: c.environment(), Files: []*os.File{s.in, s.out, s.err}, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: s.in == s.out},
	})
	if err != nil {
		return nil, err
	}
	g := &group{process: process, grace: grace, course: newCourse(), asked: make(chan struct{})}
	g.ask = sync.OnceFunc(func() { close(g.asked) })
	go g.watch()
	return g, nil
}

// watch waits for the command and then for its group, which only looking again and again tells.
func (g *group) watch() {
	defer close(g.empty)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		state, err := g.process.Wait()
		if err != nil {
			g.how = status{code: -1, err: err}
		} else if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			g.how = status{code: -1, signal: unix.SignalName(ws.Signal())}
		} else {
			g.how = status{code: state.ExitCode()}
		}
		close(g.over)
	}()
	defer func() { <-ended }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	asked, over := g.asked, g.over
	var deadline time.Time
	for {
		select {
		case <-over:
			over = nil
		case <-asked:
			asked = nil
			deadline = time.Now().Add(g.grace)
			_ = g.signal(unix.SIGTERM) // the group may be gone
			tick.Reset(10 * time.Millisecond)
		case <-tick.C:
		}
		if !deadline.IsZero() && time.Now().After(deadline) {
			_ = g.signal(unix.SIGKILL)
		}
		if over == nil && len(g.left()) == 0 {
			return
		}
	}
}

func (g *group) signal(s syscall.Signal) error { return unix.Kill(-g.process.Pid, s) }

func (g *group) kill() { g.ask() }

func (g *group) letGo() {} // nothing holds it

// left is what is left of the group. Where the system does not list it, all is known by the
// number of its first process, also the dead who were not collected.
func (g *group) left() []int {
	if errors.Is(g.signal(0), unix.ESRCH) {
		return nil
	}
	if pids, ok := members(g.process.Pid); ok {
		return pids
	}
	return []int{g.process.Pid}
}

func (g *group) rest() []Process { return processes(g.left()) }

func tooLong(err error) bool { return errors.Is(err, unix.E2BIG) }
