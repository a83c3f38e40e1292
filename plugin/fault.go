package plugin

import (
	"fmt"

	"github.com/lathe-agent/lathe"
)

// maxFaults is how many calls in a row a plugin may spoil before it is switched off. It counts a
// call that ran out of time, that ended with its process, or whose answer cannot be used; of the calls
// that one stuck or ended process spoils, one counts. An error that a hook throws does not count: it is how a
// plugin says no.
const maxFaults = 3

// fault counts a failed call and returns the error for its caller.
func (m *plugin) fault(doing, what string) error {
	m.mu.Lock()
	m.faults++
	off := m.faults >= maxFaults && m.state != Off
	if off {
		m.state = Off
		m.reason = fmt.Sprintf("switched off after %d failures in a row, the last: %s: %s", m.faults, doing, what)
	}
	reason := m.reason
	m.mu.Unlock()
	if off {
		m.hub.report(m.name, fmt.Sprintf("plugin %s %s; restart lathe to try it again", m.name, reason))
	} else {
		m.hub.opt.Log.Warn("a plugin failed", "plugin", m.name, "in", doing, "because", what)
	}
	return m.problem(doing, what)
}

// problem is the error of a call that failed because of the plugin, or of another one in its
// process.
func (m *plugin) problem(doing, what string) error {
	return lathe.Errorf(lathe.Unavailable, "plugin %s: %s: %s", m.name, doing, what)
}

// well ends a row of faults.
func (m *plugin) well() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = 0
}

// fail notes that a plugin cannot be loaded.
func (p *supervisor) fail(m *plugin, err error) {
	m.set(Failed, err.Error())
	p.hub.report(m.name, fmt.Sprintf("plugin %s could not be loaded: %s", m.name, err))
}

// reportFailure notes that a process could not be started, or was given up.
func (p *supervisor) reportFailure(err error, forGood bool) {
	reported := false
	for _, m := range p.plugins {
		state, _ := m.stateNow()
		switch {
		case state == Off || state == Failed:
			continue
		case forGood:
			m.set(Failed, err.Error())
		}
		if !reported || m.kind == kindProgram {
			reported = true
			p.hub.report(m.name, fmt.Sprintf("plugin %s does not run: %s", m.name, err))
		}
	}
}

// report reports a failure: in the log, and as an event without a session.
func (c *Hub) report(plugin, message string) {
	c.opt.Log.Error("plugin failed", "plugin", plugin, "message", message)
	c.opt.Publish(&lathe.SessionFailed{Error: &lathe.UnknownFault{Message: message}})
}
