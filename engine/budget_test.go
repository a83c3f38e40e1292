package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/tool"
)

// A clock that is while a person is waited for fires after the rest of its time.
func TestClock_Holds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fired := make(chan time.Time, 1)
		begin := time.Now()
		c := subagent.StartClock(10*time.Second, func() { fired <- time.Now() })
		defer c.End()
		<-time.After(4 * time.Second)
		c.Pause()
		c.Pause()
		<-time.After(time.Hour)
		c.Resume()
		<-time.After(time.Hour)
		if got := c.Read(); got != 4*time.Second {
			t.Errorf("it has run for %s", got)
		}
		c.Resume()
		<-time.After(7 * time.Second)
		if got := (<-fired).Sub(begin); got != 2*time.Hour+10*time.Second {
			t.Errorf("it fired after %s", got)
		}
		if got := c.Read(); got != 11*time.Second {
			t.Errorf("it has run for %s", got)
		}
	})
}

func TestDeadlines_Of(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d     Deadlines
		agent bool
		want  time.Duration
	}{
		{Deadlines{}, false, toolDeadline},
		{Deadlines{}, true, subagentDeadline},
		{Deadlines{Tool: time.Second, Subagent: time.Minute}, false, time.Second},
		{Deadlines{Tool: time.Second, Subagent: time.Minute}, true, time.Minute},
		{Deadlines{Tool: -1, Subagent: -1}, false, 0},
		{Deadlines{Tool: -1, Subagent: -1}, true, 0},
	} {
		if got, _ := tt.d.limitFor(tool.Spec{Agent: tt.agent}); got != tt.want {
			t.Errorf("%+v, agent %v: %s, want %s", tt.d, tt.agent, got, tt.want)
		}
	}
}

func TestFallback_FallsBack(t *testing.T) {
	t.Parallel()
	for code, want := range map[lathe.Code]bool{
		lathe.Limited: true, lathe.Unavailable: true, lathe.NotFound: true,
		lathe.Unauthorized: false, lathe.Invalid: false, lathe.Overflow: false, lathe.Refused: false, lathe.Canceled: false, lathe.Denied: false,
	} {
		if got := (Fallback{}).covers(lathe.Errorf(code, "x")); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
	if !(Fallback{Unauthorized: true}).covers(lathe.Errorf(lathe.Unauthorized, "x")) {
		t.Error("a refused key does not fall back by setting")
	}
}
