package engine

import (
	"context"
	"errors"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/tool"
)

const (
	// Healthy calls end long before these: a build of an hour is one.
	toolDeadline     = 2 * time.Hour
	subagentDeadline = 12 * time.Hour

	// maxRequests is how many requests to models are running at the same time. A session
	// that waits for a tool, the user or a child holds none, so sessions cannot deadlock.
	maxRequests = 64
)

// errLate is in the cause of a call that its deadline ended.
var errLate = errors.New("too late")

// limitFor returns the time limit of a tool call and the name of its setting.
func (d Deadlines) limitFor(s tool.Spec) (time.Duration, string) {
	limit, otherwise, setting := d.Tool, toolDeadline, "deadline.tool"
	if s.Agent {
		limit, otherwise, setting = d.Subagent, subagentDeadline, "deadline.subagent"
	}
	if limit == 0 {
		limit = otherwise
	}
	return max(limit, 0), setting
}

// runBounded runs a call under its deadline. A call that does not end then is abandoned, and its
// later result is dropped.
func (h *host) runBounded(ctx context.Context, t tool.Tool, c *tool.Call, repeated int) (tool.Result, error) {
	s := h.step
	limit, setting := s.settings.Deadlines.limitFor(t.Spec())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := make(chan struct{})
	tooLate := tool.Failf("%s was stopped: it ran for more than %s (setting %s). Its work so far may have taken effect; check before you repeat it.",
		t.Spec().Name, limit, setting)
	h.clock = subagent.StartClock(limit, func() {
		cancel(&lathe.Error{Code: lathe.Canceled, Message: tooLate.Error(), Err: errLate})
		close(late)
	})
	defer h.clock.End()
	h.gone = ctx.Done()
	defer s.engine.Forget(c.Session, c.ID)
	done := make(chan fold.Outcome, 1)
	s.engine.work.Go(func() {
		res, err := h.run(ctx, t, c, repeated)
		done <- fold.Outcome{Result: res, Err: err}
	})
	select {
	case out := <-done:
		return out.Result, out.Err
	case <-late:
	}
	s.engine.log.Warn("tool call exceeded its deadline", "session", s.session.ID, "tool", t.Spec().Name, "call", c.ID, "limit", limit)
	select {
	case out := <-done:
		var failure *tool.Failure
		if out.Err == nil || t.Spec().Agent && errors.As(out.Err, &failure) { // it reports its own result
			return out.Result, out.Err
		}
	case <-time.After(settleTools):
	}
	return tool.Result{}, tooLate
}
