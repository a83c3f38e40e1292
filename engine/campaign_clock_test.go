package engine_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// jump is where in a turn the clock on the wall jumps, and how long that turn takes.
type jump struct {
	name   string
	answer modeltest.Script
	at     time.Duration // after the prompt
	took   time.Duration // by the clock that cannot be set
	asks   bool
}

func jumps() []jump {
	done := modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
	pause := func(d time.Duration) modeltest.Answer {
		return modeltest.Answer{modeltest.Text{"Do"}, modeltest.Pause(d), modeltest.Text{"ne."}, modeltest.Finish("stop")}
	}
	retry := modeltest.Answer{modeltest.Status{Code: 429, Header: map[string]string{"Retry-After": "300"}}}
	waits := modeltest.Answer{modeltest.Call{Name: "wait", Args: `{"ms":240000}`}, modeltest.Finish("tool-calls")}
	writes := modeltest.Answer{modeltest.Call{Name: "write", Args: `{"path":"a.txt","content":"x"}`}, modeltest.Finish("tool-calls")}
	return []jump{
		{name: "a wait for the headers", answer: modeltest.Script{append(modeltest.Answer{modeltest.Pause(4 * time.Minute)}, done...)}, at: time.Minute, took: 4 * time.Minute},
		{name: "a stream", answer: modeltest.Script{pause(4 * time.Minute)}, at: time.Minute, took: 4 * time.Minute},
		{name: "a retry", answer: modeltest.Script{retry, done}, at: time.Minute, took: 5 * time.Minute},
		{name: "a tool", answer: modeltest.Script{waits, done}, at: time.Minute, took: 4 * time.Minute},
		{name: "an ask", answer: modeltest.Script{writes, done}, at: time.Minute, took: 2 * time.Minute, asks: true},
	}
}

// The clock on the wall jumps by hours in the middle of a turn, as it does when a laptop
// wakes up or is set: nothing is over at once, nothing waits for longer, and what comes
// after is in its order.
func TestCampaign_ClockJumps(t *testing.T) {
	t.Parallel()
	for _, j := range jumps() {
		for _, by := range []time.Duration{8 * time.Hour, -8 * time.Hour} {
			t.Run(fmt.Sprintf("%s/%s", j.name, by), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { j.run(t, by) })
			})
		}
	}
}

func (j *jump) run(t *testing.T, by time.Duration) {
	t.Helper()
	s := parseScript(t, "-- settings --\ndeadline tool=10m ask=10m\nbudget session time=30m\n-- rules --\nask edit *\n-- model --\n")
	s.model = j.answer
	var offset atomic.Int64
	p := beginPlayWith(t, s, modeltest.Anthropic, func(o *opening) {
		now := o.Now
		o.Now = func() lathe.Time { return now() + lathe.Time(offset.Load()) }
		o.IDs = lathe.NewIDsFrom(o.Now, randomness(1))
	})
	began := time.Now()
	end := make(chan lathe.Message, 1)
	go func() {
		m, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
		p.ok(err)
		end <- m
	}()
	<-time.After(j.at)
	synctest.Wait()
	before := p.shown.events()
	offset.Store(by.Milliseconds())
	if j.asks {
		<-time.After(j.at)
		if len(end) > 0 {
			t.Error("nobody answered, and it is over")
		}
		p.answerAll()
	}
	m := <-end
	if took := time.Since(began); wordsOf(m) != "Done." || took != j.took {
		t.Errorf("%q with %v after %s, not %s; before the jump:\n%s", wordsOf(m), m.Data.(*lathe.Assistant).Error, took, j.took, before)
	}
	p.continuesAfterJump()
}

// continuesAfterJump holds that the next prompt has its place after all others, and is answered
// at once.
func (p *playing) continuesAfterJump() {
	p.Helper()
	p.server.Add(modeltest.Answer{modeltest.Text{"Still here."}, modeltest.Finish("stop")})
	began := time.Now()
	m, err := p.Prompt(p.Context(), p.session, lathe.Prompt{Parts: text("and now?")})
	p.ok(err)
	if took := time.Since(began); took > time.Second || wordsOf(m) != "Still here." {
		p.Errorf("the next answer is %q after %s", wordsOf(m), took)
	}
	p.rest()
	p.check()
	all := p.all()
	for i := 1; i < len(all); i++ {
		if all[i].Created <= all[i-1].Created {
			p.Errorf("message %d is no later than the one before", i)
		}
	}
	if last := all[len(all)-1]; last.ID != m.ID || !strings.Contains(p.requests(), "and now?") {
		p.Errorf("the last message is not the last answer:\n%s", p.shown.history(all))
	}
}
