package subagent

import (
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// Clock measures working time and calls a function after a limit. It stops while lathe waits for
// the user. It uses monotonic time, so changes of the wall clock have no effect. It is safe for
// use by many goroutines; nil measures nothing.
type Clock struct {
	mu    sync.Mutex // guards the fields below
	past  time.Duration
	since time.Time // zero while it is stopped
	held  int       // how many stopped it
	limit time.Duration
	timer *time.Timer // nil without a limit
	waits []lathe.Wait
}

// StartClock starts a clock; late is called once after the limit; 0 is no limit. Work that
// continues after the limit restarts the timer.
func StartClock(limit time.Duration, late func()) *Clock {
	c := &Clock{since: time.Now(), limit: limit}
	if limit > 0 {
		c.timer = time.AfterFunc(limit, sync.OnceFunc(late))
	}
	return c
}

// Pause stops the clock until goOn.
func (c *Clock) Pause() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held > 1 {
		return
	}
	c.past += time.Since(c.since)
	c.since = time.Time{}
	if c.timer != nil {
		c.timer.Stop()
	}
}

func (c *Clock) Resume() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held--; c.held > 0 {
		return
	}
	c.since = time.Now()
	if c.timer != nil {
		c.timer.Reset(max(c.limit-c.past, 0))
	}
}

// minWait is the shortest recorded wait: a program answers faster, a person does not.
const minWait = 500 * time.Millisecond

// AddWait records a wait for the user.
func (c *Clock) AddWait(w lathe.Wait) {
	if c == nil || time.Duration(w[1]-w[0])*time.Millisecond < minWait {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, w)
}

// Waits are the waits so far.
func (c *Clock) Waits() []lathe.Wait {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waits)
}

// Read returns how long it has run.
func (c *Clock) Read() time.Duration {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held > 0 {
		return c.past
	}
	return c.past + time.Since(c.since)
}

// End stops the clock for good.
func (c *Clock) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
}
