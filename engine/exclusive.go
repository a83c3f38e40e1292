package engine

import (
	"context"
	"errors"
	"time"

	"github.com/lathe-agent/lathe"
)

const (
	// leaveTime is how long an actor that has nothing to do any more may take to leave.
	leaveTime = 2 * time.Second
	// restTime is how long one that was told to be at rest may still look busy.
	restTime = 100 * time.Millisecond
	// leaveLook is how often it is looked whether it has found something to do.
	leaveLook = 10 * time.Millisecond
)

// occupyAtRest is occupy that does not mistake an actor on its way out for one at work: who was
// told that a session rests may do something with it at once.
func (e *Engine) occupyAtRest(ctx context.Context, id lathe.SessionID, first func(context.Context, *runner) error) (*actor, error) {
	tick := time.NewTicker(leaveLook)
	defer tick.Stop()
	for began := time.Now(); ; {
		a, err := e.actors.runExclusive(id, first)
		if lathe.CodeOf(err) != lathe.Conflict || time.Since(began) > leaveTime {
			return a, err
		}
		other := e.actors.find(id)
		if other == nil {
			continue // it has just left
		}
		if other.isAtWork() && time.Since(began) > restTime {
			return nil, err
		}
		select {
		case <-other.gone:
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// errDone is what something says that was done first where no turn is to follow.
var errDone = errors.New("done")

func nilIfDone(err error) error {
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}

// edited changes messages of a session that nobody works on; no turn begins by that. One that is
// awake, because it waits for jobs or is about to leave, changes them itself.
func (e *Engine) edited(ctx context.Context, id lathe.SessionID, f func(*runner) error) error {
	if e.actors.find(id) == nil {
		return e.alone(ctx, id, f)
	}
	done := make(chan outcomeOf[struct{}], 1)
	a, err := e.occupyAtRest(ctx, id, func(_ context.Context, r *runner) error {
		done <- outcomeOf[struct{}]{err: f(r)}
		return errDone
	})
	if err == nil {
		_, err = outcomeFrom(ctx, a, done)
	}
	return err
}

// isAtWork reports whether a turn is under way.
func (a *actor) isAtWork() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cancel != nil
}
