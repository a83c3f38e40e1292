package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/budget"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/engine/telemetry"
	"github.com/lathe-agent/lathe/model"
)

// BudgetRef marks the fault of a turn that reached its budget.
const BudgetRef = budget.Ref

const (
	stepSlot, titleSlot = "step", "title"

	// A request that waits for what others have reserved looks again after these.
	reserveFirst, reserveLast = 20 * time.Millisecond, 500 * time.Millisecond
)

// ledger reserves what the requests of a step may cost, and counts what they did cost. Time is counted
// from start on, without the time in which a person is asked.
type ledger struct {
	batch     *batch
	limits    lathe.Budget
	telemetry *telemetry.Recorder
	today     func() string

	estimate budget.Estimate // of the last request
	reserved bool            // its possible cost is reserved
	output   int             // limit of its answer, in tokens
	timeLeft time.Duration   // working time left to the session; 0 is unlimited
	clock    *subagent.Clock
	counted  time.Duration // of the clock, in facts already
}

// reserve holds what a request may cost and commits facts with it. It waits while other
// requests hold what is left. An error says that nothing is left.
func (l *ledger) reserve(ctx context.Context, r model.Request, p model.Price, facts ...lathe.Fact) error {
	l.estimate = budget.New(r, p)
	want := l.estimate.Reserve(stepSlot, l.today(), l.limits)
	for wait := reserveFirst; ; wait = min(2*wait, reserveLast) {
		g, err := l.batch.log.reserve(ctx, want, facts...)
		switch {
		case err != nil:
			return err
		case g.Exceeded != nil:
			return budget.LimitError(l.batch.log.lease.Session, *g.Exceeded, g.Measure, want)
		case g.Allowed():
			l.reserved, l.output, l.timeLeft = true, l.estimate.MaxOutput(g.Max), g.Time
			return nil
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// spend counts what was used of the reservation, as soon as the answer is complete or will never be: a
// step that waits for tools holds nothing.
func (l *ledger) spend(f *fold.Fold, m *Model) {
	if !l.reserved {
		return
	}
	l.reserved = false
	tokens, cost := model.Count(f.Usage, m.Price)
	l.telemetry.Spend(m.Ref, tokens, cost)
	used := lathe.Spending{Cost: cost, Tokens: lathe.TokensUsed(tokens)}
	if used.Tokens == 0 && f.Opened { // cut off before it was counted
		used = l.estimate.Total(0)
		used.Steps = 0
	}
	if f.End != nil || f.ToolsStarted {
		used.Steps = 1
	}
	l.add(lathe.Spent{Slot: stepSlot, Used: used})
}

// spendTime counts how long the step took since the last time.
func (l *ledger) spendTime() {
	took := l.clock.Read() - l.counted
	l.counted += took
	if took >= time.Millisecond {
		l.add(lathe.Spent{Used: lathe.Spending{Time: took}})
	}
}

func (l *ledger) add(s lathe.Spent) {
	s.Session, s.Day = l.batch.log.lease.Session, l.today()
	l.batch.add(&s)
}

// start starts the clock. The context ends when the session may work no longer.
func (l *ledger) start(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	left := l.timeLeft
	l.clock = subagent.StartClock(left, func() {
		cancel(budget.NewError(fmt.Sprintf("This session has reached its time budget: this step could take %s. Raise budget.session.time in the config or give this session more with lathe run -s %s --max-time, then send the next prompt; nothing is lost.",
			left.Round(time.Second), l.batch.log.lease.Session)))
	})
	return ctx, func() {
		l.clock.End()
		cancel(nil)
	}
}

// sleep waits, unless the context ends before.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
