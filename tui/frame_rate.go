package tui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// How often the terminal library looks whether there is something to draw: often while something
// happens, so that a key shows soon, and hardly ever while nothing does.
const (
	maxRate        = 120 // a second, the most it takes
	activeInterval = time.Second / maxRate
	idleInterval   = 500 * time.Millisecond // for a frame that a slow terminal has kept waiting beyond the while
	idleAfter      = 250 * time.Millisecond // with nothing new
)

// frameRate is how often frames go out. The library ticks for ever, which alone is nearly the share of a processor
// that the whole program may use at rest; so it is given a ticker that we can slow down. The zero value does
// nothing.
type frameRate struct {
	ticker *time.Ticker // nil where the library has no place for it any more

	mu     sync.Mutex // guards what follows
	slow   bool
	paused bool // the terminal takes nothing
	sleep  *time.Timer
}

// attach gives the library our ticker. It has no option for that: its own field is set before it begins, and it
// resets the ticker that it finds.
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

// wake lets frames go out for a while. Whatever may change the screen calls it.
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

// pause lets no frame go out until release.
func (c *frameRate) pause() {
	if c.ticker == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused, c.slow = true, true
	c.ticker.Reset(time.Hour)
}

// resume ends hold, with a frame.
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
