package tui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// How often the terminal library checks for a new frame: often while the screen changes, so that a key
// shows at once, and rarely while idle.
const (
	maxRate        = 120 // per second, the maximum of the library
	activeInterval = time.Second / maxRate
	idleInterval   = 500 * time.Millisecond // for a frame that a slow terminal delayed
	idleAfter      = 250 * time.Millisecond // without a change
)

// frameRate slows the frame ticker while idle. The library ticks forever, which alone uses nearly the
// idle CPU budget of the whole program; so it gets a ticker that we can slow down. The zero value does
// nothing.
type frameRate struct {
	ticker *time.Ticker // nil if the library has no such field

	mu     sync.Mutex // guards the fields below
	slow   bool
	paused bool // the terminal does not accept output
	sleep  *time.Timer
}

// attach gives the library our ticker. It has no option for that: its own field is set before it starts, and it
// resets the ticker in that field.
func (c *frameRate) attach(t *tea.Program) bool {
	f := reflect.ValueOf(t).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return false
	}
	c.ticker = time.NewTicker(activeInterval)
	reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(c.ticker))
	c.sleep = time.AfterFunc(idleAfter, c.slowDown)
	return true
}

// wake restores the full frame rate for a while. Call it after any change of the screen.
func (c *frameRate) wake() {
	if c.ticker == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		return
	}
	c.sleep.Reset(idleAfter)
	if c.slow {
		c.slow = false
		c.ticker.Reset(activeInterval)
	}
}

func (c *frameRate) slowDown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		return
	}
	c.slow = true
	c.ticker.Reset(idleInterval)
}

// pause stops frames until resume.
func (c *frameRate) pause() {
	if c.ticker == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused, c.slow = true, true
	c.ticker.Reset(time.Hour)
}

// resume ends pause and draws a frame.
func (c *frameRate) resume() {
	if c.ticker == nil {
		return
	}
	c.mu.Lock()
	c.paused = false
	c.mu.Unlock()
	c.wake()
}

// stop stops it.
func (c *frameRate) stop() {
	if c.ticker != nil {
		c.sleep.Stop()
	}
}
