package tui

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// The library still has the place that our ticker is put in: without it a program at rest ticks for ever.
func TestPace_Drives(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := newProgram(ctx, Options{})
	if !p.frameRate.attach(tea.NewProgram(p, tea.WithContext(ctx), tea.WithoutRenderer())) {
		t.Fatal("the terminal library has no ticker of that name: see frame_rate.go")
	}
	p.frameRate.stop()
}

// While something happens frames go out often, afterwards hardly ever, and at once again with the next.
func TestPace_Rests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c frameRate
		c.attach(&tea.Program{})
		defer c.ticker.Stop()
		defer c.stop()
		ticks := func(d time.Duration) (n int) {
			end := time.NewTimer(d)
			for {
				select {
				case <-c.ticker.C:
					n++
				case <-end.C:
					return n
				}
			}
		}
		c.wake()
		if n := ticks(idleAfter); n < 25 {
			t.Errorf("%d ticks at work, want some 30", n)
		}
		if n := ticks(10 * time.Second); n > 21 {
			t.Errorf("%d ticks in 10 s at rest", n)
		}
		c.wake()
		if n := ticks(20 * time.Millisecond); n < 2 {
			t.Errorf("%d ticks after waking", n)
		}
	})
}
