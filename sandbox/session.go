package sandbox

import (
	"strings"
	"time"
)

const (
	// idleSession is how long the first process of a session waits for another command after the last
	// process of the session has ended: about as long as a model takes between two.
	idleSession = 30 * time.Second
	// idleOverlays is after what time without processes its overlays are made again. The kernel does
	// not notice what others change below them.
	idleOverlays = 5 * time.Second
)

// EndSession ends all processes of a session, and waits until they are gone. The session can be used
// again afterwards.
func (r *Runner) EndSession(id string) {
	var all []*session
	r.mu.Lock()
	for key, s := range r.sessions {
		if key.id == id {
			all = append(all, s)
			delete(r.sessions, key)
		}
	}
	r.mu.Unlock()
	for _, s := range all {
		s.end()
	}
}

// endSessions ends all of them.
func (r *Runner) endSessions() {
	r.mu.Lock()
	all := r.sessions
	r.sessions = map[sessionKey]*session{}
	r.mu.Unlock()
	for _, s := range all {
		s.end()
	}
}

// sessionKey identifies a session: commands that reach other hosts share no network, and no
// processes.
type sessionKey struct {
	id    string
	own   bool   // it has its own network
	hosts string // one in each line
}

func newSessionKey(p Profile, own bool) sessionKey {
	if !own {
		return sessionKey{id: p.Session}
	}
	return sessionKey{p.Session, true, strings.Join(p.Network.Hosts, "\n")}
}

func (k sessionKey) network() Network {
	n := Network{Limited: k.own}
	if k.hosts != "" {
		n.Hosts = strings.Split(k.hosts, "\n")
	}
	return n
}
