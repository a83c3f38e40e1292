package sandbox

import "time"

// idleSession is how long the first process of a session waits for another command after the last
// process of the session has ended.
const idleSession = 5 * time.Second

// EndSession ends all processes of a session, and waits until they are gone. The session can be used
// again afterwards.
func (r *Runner) EndSession(id string) {
	r.mu.Lock()
	s := r.sessions[id]
	delete(r.sessions, id)
	r.mu.Unlock()
	if s != nil {
		s.end()
	}
}

// endSessions ends all of them.
func (r *Runner) endSessions() {
	r.mu.Lock()
	all := r.sessions
	r.sessions = map[string]*session{}
	r.mu.Unlock()
	for _, s := range all {
		s.end()
	}
}
