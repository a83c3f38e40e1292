package engine

import (
	"context"
	"errors"
	"time"

	"github.com/lathe-agent/lathe"
)

const (
	// leaveTime is how long an idle actor may take to end.
	leaveTime = 2 * time.Second
	// restTime is how long a session that was reported idle may still look busy.
	restTime = 100 * time.Millisecond
	// leaveLook is how often runWhenIdle checks whether the actor has new work.
	leaveLook = 10 * time.Millisecond
)

// runWhenIdle is runExclusive that waits briefly for an actor that is about to leave, because a client
// may use a session as soon as it is reported idle.
func (all *actors) runWhenIdle(ctx context.Context, id lathe.SessionID, first func(context.Context, *runner) error) (*actor, error) {
	tick := time.NewTicker(leaveLook)
	defer tick.Stop()
	for began := time.Now(); ; {
		a, err := all.runExclusive(id, first)
		if lathe.CodeOf(err) != lathe.Conflict || time.Since(began) > leaveTime {
			return a, err
		}
		other := all.find(id)
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

// errDone ends the actor after its first function, without a turn.
var errDone = errors.New("done")

func nilIfDone(err error) error {
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}

// edit changes messages of an idle session without starting a turn. An actor that is still awake,
// because it waits for jobs or is about to leave, changes them itself.
func (all *actors) edit(ctx context.Context, id lathe.SessionID, f func(*runner) error) error {
	if all.find(id) == nil {
		return all.runIfIdle(ctx, id, f)
	}
	done := make(chan outcomeOf[struct{}], 1)
	a, err := all.runWhenIdle(ctx, id, func(_ context.Context, r *runner) error {
		done <- outcomeOf[struct{}]{err: f(r)}
		return errDone
	})
	if err == nil {
		_, err = outcomeFrom(ctx, a, done)
	}
	return err
}

// isAtWork reports whether a turn is running that has something to do.
func (a *actor) isAtWork() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cancel != nil && !a.rests
}

// runIfIdle runs f as the writer of an idle session; a busy session is a conflict.
func (all *actors) runIfIdle(ctx context.Context, id lathe.SessionID, f func(*runner) error) (err error) {
	r, err := all.newIdleRunner(ctx, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.release(ctx)) }() // or a panic leaves it busy for ever
	if err = f(r); err == nil && !r.unfinished {
		err = r.publishIdle(ctx)
	}
	return err
}

// whenIdle runs do as the runner of an idle session.
func whenIdle[T any](ctx context.Context, e *Engine, id lathe.SessionID, do func(context.Context, *runner) (T, error)) (T, error) {
	var none T
	if _, err := e.store.Session(ctx, id); err != nil {
		return none, err
	}
	done := make(chan outcomeOf[T], 1)
	a, err := e.actors.runWhenIdle(ctx, id, func(ctx context.Context, r *runner) error {
		v, err := do(ctx, r)
		done <- outcomeOf[T]{v, err}
		if isWrite(err) {
			return err
		}
		return nil // the caller gets the error; prompts that came meanwhile are still answered
	})
	if err != nil {
		return none, err
	}
	return outcomeFrom(ctx, a, done)
}

// outcomeFrom waits for what an actor was given to do first.
func outcomeFrom[T any](ctx context.Context, a *actor, done <-chan outcomeOf[T]) (none T, _ error) {
	select {
	case out := <-done:
		return out.value, out.err
	case <-a.gone: // it could not begin
		select {
		case out := <-done:
			return out.value, out.err
		default:
			return none, a.failure()
		}
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

type outcomeOf[T any] struct {
	value T
	err   error
}
