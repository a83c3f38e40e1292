package sandbox

import (
	"errors"
	"net"
	"sync"
	"time"
)

// ErrCommandPeer is the error of a connection that a command made, or may have made.
var ErrCommandPeer = errors.New("the client runs below a command that lathe started")

// PeerChecker distinguishes connections of the user's programs from those of commands, MCP
// servers and plugins. A process below a launcher, of this lathe or of another one that is not
// our ancestor, may not use our server. A command that the user typed and that nothing confines
// may (see [Command.UserTyped]).
//
// While no command runs, a check is a comparison. Else it finds the process that holds the
// other end. It refuses a local client whose process it cannot find, since a command can send a
// request and leave, or hide its socket.
type PeerChecker struct {
	Runner *Runner
	// Others reports whether other lathe processes may run commands; nil means that none do.
	Others func() bool

	mu    sync.Mutex // guards known
	known []int      // processes that were clients before, the newest first
}

// peerTime is how long after the end of a command a client may be one that it left: its request
// waits to be accepted for a part of that.
const peerTime = 30 * time.Second

// Check is nil where the user's own program, or a program of another machine or user, made the connection.
func (p *PeerChecker) Check(c net.Conn) error {
	if !p.Runner.ranCommands(peerTime) && (p.Others == nil || !p.Others()) {
		return nil
	}
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	return p.check(c)
}

// ranCommands reports whether a command runs, or ran so lately.
func (r *Runner) ranCommands(lately time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.live) > 0 || !r.last.IsZero() && time.Since(r.last) < lately
}

// remember puts a process first among those that are looked at first.
func (p *PeerChecker) remember(pid int) {
	const most = 16
	p.mu.Lock()
	defer p.mu.Unlock()
	list := append(make([]int, 0, most), pid)
	for _, k := range p.known {
		if k != pid && len(list) < most {
			list = append(list, k)
		}
	}
	p.known = list
}

func (p *PeerChecker) first() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}
