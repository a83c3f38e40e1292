package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// hostName is what users read where the process of all JavaScript plugins is meant.
const hostName = "JavaScript host"

// How often a process is started again.
const (
	maxDeaths    = 6                      // in a row, before it is given up
	healthy      = time.Minute            // a life as long as this ends the row
	splitDeaths  = 2                      // in a row, before JavaScript plugins no longer share a process
	firstBackoff = 100 * time.Millisecond // before the second start; four times as long before each next
)

// supervisor is a place for a process: it has one, or will have one again, or was given up.
type supervisor struct {
	hub     *Hub
	name    string
	plugins []*plugin
	events  *queue

	mu       sync.Mutex
	process  *process      // nil while no process is ready
	starting chan struct{} // closed when the running start has ended; nil without one
	err      error         // of the last start
	tried    bool          // a start has ended
	gone     bool          // given up, or closed
	deaths   int           // in a row
	restarts int
	waitTo   time.Time // no start before
	stderr   string    // of the last process
	skipped  int       // of all processes before
}

func newSupervisor(c *Hub, name string, members ...*plugin) *supervisor {
	p := &supervisor{hub: c, name: name}
	p.events = newQueue(p)
	for _, m := range members {
		p.add(m)
	}
	return p
}

// add gives a member its place, before anyone uses the peer.
func (p *supervisor) add(m *plugin) {
	p.plugins = append(p.plugins, m)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.supervisor = p
}

// ready returns the process, started if need be: by one caller for all.
func (p *supervisor) ready(ctx context.Context) (*process, error) {
	p.mu.Lock()
	for l := p.process; l != nil; l = p.process {
		p.mu.Unlock()
		if l.conn.Err() == nil {
			return l, nil
		}
		select {
		case <-l.over: // then what comes of its end is decided
		case <-ctx.Done():
			return nil, fmt.Errorf("%s has just ended: %w", p.name, context.Cause(ctx))
		}
		p.mu.Lock()
	}
	if p.gone {
		defer p.mu.Unlock()
		return nil, p.err
	}
	if p.starting == nil {
		if err := p.hub.enter(); err != nil {
			p.mu.Unlock()
			return nil, err
		}
		p.starting = make(chan struct{})
		go p.start(p.starting)
	}
	starting := p.starting
	p.mu.Unlock()
	select {
	case <-starting:
	case <-ctx.Done():
		return nil, fmt.Errorf("%s is not ready yet: %w", p.name, context.Cause(ctx))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil && p.err == nil {
		return nil, fmt.Errorf("%s ended as soon as it was ready", p.name)
	}
	return p.process, p.err
}

// enter counts a goroutine that Close waits for.
func (c *Hub) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.work.Add(1)
	return nil
}

// start brings the process up, in its own goroutine.
func (p *supervisor) start(done chan struct{}) {
	defer p.hub.work.Done()
	ctx := p.hub.life
	p.mu.Lock()
	first, wait := !p.tried, time.Until(p.waitTo)
	p.mu.Unlock()
	var l *process
	err := pause(ctx, wait)
	if err == nil {
		l, err = p.bringUp(ctx)
	}
	p.mu.Lock()
	p.tried, p.process, p.err, p.starting = true, l, err, nil
	var giveUp bool
	if err != nil {
		p.deaths++
		p.waitTo = time.Now().Add(backoff(p.deaths))
		// A first start that fails will most likely fail again: a missing file, a syntax error.
		giveUp = first || p.deaths >= maxDeaths || errors.Is(err, errPointless)
		p.gone = p.gone || giveUp
	} else if !first {
		p.restarts++
	}
	p.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		p.reportFailure(err, giveUp)
	}
	close(done)
	if l != nil {
		p.hub.opt.Log.Info("plugins are ready", "process", p.name, "restart", !first)
		l.watch(p)
	}
}

// errPointless is the reason not to try again.
var errPointless = errors.New("no plugin left to run in it")

// bringUp starts the process until it stands. A plugin that takes the whole process with it while it is
// loaded is left out of the next attempt, so that the others get theirs.
func (p *supervisor) bringUp(ctx context.Context) (*process, error) {
	for {
		l, culprit, err := p.launch(ctx)
		if errors.Is(err, errAgain) && ctx.Err() == nil {
			continue
		}
		if err == nil || culprit == nil || ctx.Err() != nil {
			return l, err
		}
		p.fail(culprit, err)
		if !p.anyLeft() {
			return nil, fmt.Errorf("%w: %w", errPointless, err)
		}
	}
}

// anyLeft reports whether a member is worth a process.
func (p *supervisor) anyLeft() bool {
	return slices.ContainsFunc(p.plugins, func(m *plugin) bool { return !m.isOut() })
}

// noteEnd notes the end of a process that was ready, for whatever reason.
func (p *supervisor) noteEnd(l *process, why string) {
	p.mu.Lock()
	if p.process == l {
		p.process = nil
	}
	if time.Since(l.began) > healthy {
		p.deaths = 0
	}
	p.deaths++
	p.waitTo = time.Now().Add(backoff(p.deaths))
	p.stderr, p.skipped = l.svc.Stderr(), p.skipped+l.conn.Skipped()
	closed := p.gone
	split := !p.gone && p.name == hostName && p.deaths >= splitDeaths && len(p.plugins) > 1
	switch {
	case split: // before anyone can start the shared one again
		p.gone, p.err = true, errSplit
	case p.deaths >= maxDeaths && !p.gone:
		p.gone = true
		p.err = lathe.Errorf(lathe.Unavailable, "%s ended %d times and is not started again; fix it, then restart lathe", p.name, p.deaths)
	}
	err, gone := p.err, p.gone
	p.mu.Unlock()
	if closed {
		return
	}
	p.hub.report(p.name, fmt.Sprintf("%s ended: %s", p.name, why))
	switch {
	case split:
		p.split()
	case gone:
		p.reportFailure(err, true)
	}
}

func backoff(deaths int) time.Duration { return firstBackoff << (2 * (deaths - 1)) }

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// errSplit says that the members of a peer have other ones now.
var errSplit = errors.New("each plugin has a process of its own now")

// split gives each plugin of the JavaScript host its own host, once the shared one has ended so
// often that one unknown plugin must be the cause. From then on it only harms itself.
func (p *supervisor) split() {
	p.mu.Lock()
	restarts, stderr, skipped := p.restarts, p.stderr, p.skipped
	p.mu.Unlock()
	p.events.close()
	var own []*supervisor
	for _, m := range p.plugins {
		q := newSupervisor(p.hub, hostName+" of "+m.name)
		q.tried, q.restarts, q.stderr, q.skipped = true, restarts, stderr, skipped
		q.add(m) // from now on others see it
		own = append(own, q)
	}
	c := p.hub
	c.mu.Lock()
	others := slices.DeleteFunc(slices.Clone(c.peers), func(q *supervisor) bool { return q == p })
	c.peers = append(others, own...)
	closed := c.closed
	c.mu.Unlock()
	if closed { // while Close looked at those before
		for _, q := range own {
			q.dispose()
		}
	}
	c.opt.Log.Warn("the JavaScript host ended too often; each plugin has one of its own now")
}

// dispose tells the plugins that it is over.
func (p *supervisor) dispose() {
	p.mu.Lock()
	p.gone, p.err = true, errClosed
	l := p.process
	p.mu.Unlock()
	p.events.close()
	if l == nil {
		return
	}
	ctx, cancel := context.WithTimeout(p.hub.life, disposeTime)
	defer cancel()
	_, _ = l.conn.Call(ctx, "dispose", nil) // it ends anyway
}

// close ends the process; its watcher waits for the rest.
func (p *supervisor) close() {
	p.mu.Lock()
	l := p.process
	p.mu.Unlock()
	if l != nil {
		_ = l.conn.Close()
	}
}

// describe adds the state of the process to a status.
func (p *supervisor) describe(s *Status) {
	p.mu.Lock()
	s.Process, s.Restarts, s.Stderr, s.Skipped = p.name, p.restarts, p.stderr, p.skipped
	l := p.process
	p.mu.Unlock()
	s.Dropped = p.events.lost()
	if l != nil {
		s.Stderr = l.svc.Stderr()
		s.Skipped += l.conn.Skipped()
		s.Dropped += l.logs.droppedCount()
	}
}
